// SPDX-License-Identifier: Apache-2.0
//
// A curve is one GPU under one job: the default point and the Settings measured beside it, each
// with true time and power per iteration. It is what `replay:` drives and what `evaluate` judges
// on.
//
// Rules (the judge and the judged share them): rows that agree in identity are one curve; several
// rows of one Setting are averaged; rows marked is_default are the default, whatever they were
// locked to; a knob whose value is the default's own is left out of the Setting; only Settings at
// or below the default's clocks and limit, where those are known, and at or above 0.4 of its SM
// clock (of the highest SM clock in the curve where the default's is unknown).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/setting.h"
#include "sweep/sweep_file.h"

namespace hypermile {

struct CurvePoint {
  Setting setting;
  Seconds time;
  Watts power;
  std::optional<Mhz> sm_seen;
  std::size_t rows = 1;  // averaged into this point; 0 if interpolated
};

struct Curve {
  JobKey key;
  // [0] is the default: its Setting is empty. The rest are in descending order of memory clock, SM
  // clock, limit; absent knobs first.
  std::vector<CurvePoint> points;
  // What the default's rows say of the knobs; for SM the clock seen, where it was not locked.
  Setting default_values;

  const CurvePoint& default_point() const { return points.front(); }
};

// What was left out on the way from rows to curves, for reports.
struct CurveQuirks {
  std::size_t repeats_averaged = 0;   // rows beyond the first of a Setting
  std::size_t defaults_averaged = 0;  // default rows beyond the first of a curve
  std::size_t above_default = 0;      // points dropped: above the default's clocks or limit
  std::size_t below_floor = 0;        // points dropped: under 0.4 of the SM clock
  std::size_t other_knobs = 0;        // rows dropped: a knob that was not asked for is moved
  std::size_t curves_without_default = 0;
  std::size_t curves_without_choice = 0;  // only the default is left
};

struct CurveOptions {
  // Empty: every knob. Else rows are kept only if all other knobs have the default's value.
  std::vector<Knob> knobs;
  // Interpolate linearly between measured SM clocks, every so many MHz down from the default's.
  std::optional<Mhz> step;
};

struct CurveSet {
  std::vector<Curve> curves;  // in order of first appearance
  CurveQuirks quirks;
};

CurveSet make_curves(const SweepFile& file, const CurveOptions& options);

// "F.csv" or "F.csv@15MHz" into path and step.
struct SweepReference {
  std::string path;
  std::optional<Mhz> step;
};
Result<SweepReference> parse_sweep_reference(std::string_view text);

// The curve that `gpu/workload[/phase][/variant]` names; workloads may themselves hold slashes.
// kUsage with the nearest names, or with the choices when several match.
Result<const Curve*> find_curve(std::span<const Curve> curves, std::string_view name);

// The point whose Setting is `setting`, knobs equal to the default's counted as absent; nullptr if
// none.
const CurvePoint* find_point(const Curve& curve, const Setting& setting);

}  // namespace hypermile
