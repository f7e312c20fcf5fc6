// SPDX-License-Identifier: Apache-2.0
//
// A curve is one GPU under one job: the default point and the other measured Settings, each with
// true time and power per iteration. `replay:` GPUs run on curves, and `evaluate` judges policies
// on them. Only parsing and finding can fail.
//
// Rules, shared by judge and policies: rows with equal identity form one curve; several rows of one
// Setting are averaged; rows marked is_default are the default, whatever their locks; a knob at the
// default's own value is left out of the Setting. A curve keeps only Settings at or below the
// default's clocks and limit, where those are known, and at or above 0.4 of its SM clock (of the
// highest SM clock in the curve where the default's is unknown).
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
  std::size_t rows = 1;  // number of rows averaged; 0 if interpolated
};

struct Curve {
  JobKey key;
  // [0] is the default, whose Setting is empty. The others are in descending order of memory clock,
  // SM clock, limit; absent knobs come first.
  std::vector<CurvePoint> points;
  // Knob values in the default's rows; for SM the clock seen, where it was not locked.
  Setting default_values;

  const CurvePoint& default_point() const { return points.front(); }
};

// Counts what was averaged or left out while making curves, for reports.
struct CurveQuirks {
  std::size_t repeats_averaged = 0;   // rows beyond the first of a Setting
  std::size_t defaults_averaged = 0;  // default rows beyond the first of a curve
  std::size_t above_default = 0;      // points dropped: above the default's clocks or limit
  std::size_t below_floor = 0;        // points dropped: under 0.4 of the SM clock
  std::size_t other_knobs = 0;        // rows dropped: they change a knob that was not selected
  std::size_t curves_without_default = 0;
  std::size_t curves_without_choice = 0;  // only the default is left
};

struct CurveOptions {
  // Empty: all knobs. Otherwise only rows in which every other knob has the default's value are
  // kept.
  std::vector<Knob> knobs;
  // Interpolate linearly between measured SM clocks, in steps of so many MHz down from the
  // default's.
  std::optional<Mhz> step;
};

struct CurveSet {
  std::vector<Curve> curves;  // in order of first appearance
  CurveQuirks quirks;
};

CurveSet make_curves(const SweepFile& file, const CurveOptions& options);

// "F.csv" or "F.csv@15MHz", split into path and step.
struct SweepReference {
  std::string path;
  std::optional<Mhz> step;
};
Result<SweepReference> parse_sweep_reference(std::string_view text);

// The curve named `gpu/workload[/phase][/variant]`; workloads may contain slashes. kUsage with the
// most similar names, or with the choices when several match.
Result<const Curve*> find_curve(std::span<const Curve> curves, std::string_view name);

// The point with this Setting, where knobs at the default's value count as absent; nullptr if none.
const CurvePoint* find_point(const Curve& curve, const Setting& setting);

}  // namespace hypermile
