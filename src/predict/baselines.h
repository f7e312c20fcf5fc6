// SPDX-License-Identifier: Apache-2.0
//
// What predictors are compared with, as Predictors of their own (without bounds): the mean curve of
// the training jobs, a roofline drawn from the counters, and the curve of the most similar job.
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

// Time is the larger of core and memory time, each stretched by its clock, as the busiest pipe and
// DRAM's use say; power follows the mean curve. A job without counters gets the mean curve.
class RooflinePredictor final : public Predictor {
 public:
  explicit RooflinePredictor(MeanCurve mean) : mean_(std::move(mean)) {}
  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  MeanCurve mean_;
};

// The training job whose features are nearest, each in units of its spread; knobs multiply.
class NearestPredictor final : public Predictor {
 public:
  explicit NearestPredictor(std::vector<Example> examples);
  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  double distance(const Features& a, const Features& b) const;

  std::vector<Example> examples_;
  std::array<double, kFeatureCount> spread_ = {};  // 0: not known or all alike
};

}  // namespace hypermile
