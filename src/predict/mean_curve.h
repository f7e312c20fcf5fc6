// SPDX-License-Identifier: Apache-2.0
//
// The mean curve of the training jobs: the prediction for a job without features, and the first
// baseline that a predictor must beat. Also interpolates one measured job along one knob, which
// NearestPredictor uses. All functions are pure.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "predict/examples.h"

namespace hypermile {

// Where curves are stored: the knob's share of its default, descending; a limit's share is taken of
// kLimitTop.
inline constexpr std::array<double, 12> kCurveKnots = {0.98, 0.95, 0.91, 0.87, 0.83, 0.78,
                                                       0.72, 0.66, 0.6,  0.5,  0.4,  0.3};
// Power varies, so a limit already acts a little above the mean power.
inline constexpr double kLimitTop = 1.15;

// Where `at` lies on the axis of a knob; 1 is the default.
double position(Knob knob, const RelativeSetting& at);

struct Ratios {
  double time = 1;
  double energy = 1;
};

// The job's own measurements along one knob, with the other knobs at their default: linear between
// neighbours, constant below the lowest. nullopt where the job did not move that knob.
std::optional<Ratios> interpolate_job(const Example& example, Knob knob, double ratio);

struct MeanCurve {
  struct Along {
    Knob knob = Knob::kSmClock;
    std::array<double, kCurveKnots.size()> time = {};
    std::array<double, kCurveKnots.size()> energy = {};
  };
  std::vector<Along> knobs;  // those that at least one job moved

  // The product of the knobs' ratios.
  Ratios at(const RelativeSetting& setting) const;
};

MeanCurve mean_curve(std::span<const Example> examples);

}  // namespace hypermile
