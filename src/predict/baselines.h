// SPDX-License-Identifier: Apache-2.0
//
// The simple predictors that a trained model is compared with: the mean curve of the training jobs,
// a roofline drawn from the counters, and the curve of the most similar job. None of them gives
// bounds. Called by `learn`, `predict --check` and predict_evidence; nothing here fails.
#pragma once

#include "predict/examples.h"
#include "predict/mean_curve.h"
#include "predict/predictor.h"

namespace hypermile {

class MeanCurvePredictor final : public Predictor {
 public:
  explicit MeanCurvePredictor(MeanCurve mean) : mean_(std::move(mean)) {}
  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  MeanCurve mean_;
};

// Time is the larger of core time and memory time. Each of them is stretched by its clock, and
// starts from the use of the busiest pipe or of DRAM. Power follows the mean curve. A job without
// counters gets the mean curve.
class RooflinePredictor final : public Predictor {
 public:
  explicit RooflinePredictor(MeanCurve mean) : mean_(std::move(mean)) {}
  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  MeanCurve mean_;
};

// Uses the curve of the training job with the nearest features, each feature measured in units of
// its spread. The effects of several knobs are multiplied.
class NearestPredictor final : public Predictor {
 public:
  explicit NearestPredictor(std::vector<Example> examples);
  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  double distance(const Features& a, const Features& b) const;

  std::vector<Example> examples_;
  std::array<double, kFeatureCount> spread_ = {};  // 0 where the feature is not used
};

}  // namespace hypermile
