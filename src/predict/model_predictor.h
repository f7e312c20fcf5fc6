// SPDX-License-Identifier: Apache-2.0
//
// Asks a model. Each relation is evaluated at a few ratios of its clock and interpolated between
// them, which makes steps of trees into curves and keeps a whole grid under a millisecond; then a
// lower clock never takes less time than a higher one. Knobs multiply: the SM relation sees the
// memory clock and tells the ratio to the top SM clock at that memory clock.
#pragma once

#include "predict/model.h"

namespace hypermile {

// Of one estimate before calibration.
struct RawEstimate {
  double time = 1;
  double energy = 1;
  double time_doubt = 0;  // in units of the ratio; a 90 % bound is this times a scale
  double energy_doubt = 0;
};

// The raw estimates, in the order of `settings`. `member`: that one alone, else the mean of all.
std::vector<RawEstimate> raw_estimates(const Model& model, const Features& features,
                                       std::span<const RelativeSetting> settings,
                                       std::optional<std::size_t> member = {});

class ModelPredictor final : public Predictor {
 public:
  explicit ModelPredictor(Model model) : model_(std::move(model)) {}
  const Model& model() const { return model_; }

  std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                     std::span<const RelativeSetting> settings) const override;

 private:
  Model model_;
};

}  // namespace hypermile
