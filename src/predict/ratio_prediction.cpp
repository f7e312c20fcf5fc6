// SPDX-License-Identifier: Apache-2.0
#include "predict/ratio_prediction.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace hypermile {
namespace {

// Fewer features, such as the power alone, distinguish cards but not jobs.
constexpr std::size_t kFewestFeatures = 3;
constexpr double kLeastPredicted = 0.01;

double log_of(double ratio) {
  return std::log(std::max(ratio, kLeastPredicted));
}

// The bounds are a 90 % interval, from the 5 % to the 95 % quantile.
double sd_of(const Bounded& bounds) {
  return (log_of(bounds.high) - log_of(bounds.low)) / 2 / normal_quantile(0.95);
}

}  // namespace

PredictRatios make_ratio_prediction(std::shared_ptr<const Predictor> predictor, std::string gpu,
                                    const PolicyContext& context, std::optional<Features> known) {
  return [predictor = std::move(predictor), gpu = std::move(gpu), settings = context.settings,
          defaults = context.default_values,
          known = std::move(known)](const Window& baseline) -> std::vector<PredictedRatio> {
    if ((!known && !baseline.features) || !baseline.power) return {};
    const Features& features = known ? *known : *baseline.features;
    if (features.known() < kFewestFeatures) return {};
    Setting here = defaults;
    if (!here.sm_clock) here.sm_clock = baseline.sm_clock;
    std::vector<RelativeSetting> asked;
    for (const Setting& setting : settings)
      asked.push_back(relative(setting, here, *baseline.power));
    std::vector<PredictedRatio> ratios;
    for (const RatioEstimate& estimate : predictor->predict(features, gpu, asked)) {
      ratios.push_back({log_of(estimate.time.value), sd_of(estimate.time),
                        log_of(estimate.energy.value), sd_of(estimate.energy)});
    }
    return ratios;
  };
}

}  // namespace hypermile
