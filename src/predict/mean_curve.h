// SPDX-License-Identifier: Apache-2.0
//
// The mean curve of the training jobs: what holds for a job of which nothing is known, and the
// first thing that a predictor must beat. Also the interpolation of one measured job along one
// knob, which nearest neighbour uses alone.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "predict/examples.h"

namespace hypermile {

// Ratios of a knob at which curves are kept, descending; of a limit, in units of kLimitTop.
inline constexpr std::array<double, 12> kCurveKnots = {0.98, 0.95, 0.91, 0.87, 0.83, 0.78,
                                                       0.72, 0.66, 0.6,  0.5,  0.4,  0.3};
// A limit acts a little above the mean power already: power is not steady.
inline constexpr double kLimitTop = 1.15;

// Where `at` stands on the axis of a knob: 1 is the default.
double position(Knob knob, const RelativeSetting& at);

struct Ratios {
  double time = 1;
  double energy = 1;
};

// The job's own measurements along one knob, the others at their default; straight between
// neighbours, as the lowest below all. nullopt where it did not move that knob.
std::optional<Ratios> interpolate_job(const Example& example, Knob knob, double ratio);

struct MeanCurve {
  struct Along {
    Knob knob = Knob::kSmClock;
    std::array<double, kCurveKnots.size()> time = {};
    std::array<double, kCurveKnots.size()> energy = {};
  };
  std::vector<Along> knobs;  // those that any job moved

  // Knobs multiply.
  Ratios at(const RelativeSetting& setting) const;
};

MeanCurve mean_curve(std::span<const Example> examples);

}  // namespace hypermile
