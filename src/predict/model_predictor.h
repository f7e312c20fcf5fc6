// SPDX-License-Identifier: Apache-2.0
//
// Asks a model. Each relation is evaluated at a few ratios of its clock and interpolated between
// them, which makes steps of trees into curves and keeps a whole grid under a millisecond; then a
// lower clock never takes less time than a higher one. Knobs multiply: the SM relation sees the
// memory clock and tells the ratio to the top SM clock at that memory clock.
#pragma once

#include "predict/model.h"

namespace hypermile {

// Of one estimate before calibration. A doubt is in units of the ratio; a 90 % bound is a doubt
// times a scale.
struct RawEstimate {
  double time = 1;
  double energy = 1;
  double time_doubt = 0;
  double energy_doubt = 0;
};

struct MemberRange {
  std::size_t first = 0;
  std::size_t count = 1;
};

struct Asking {
  std::optional<MemberRange> members;  // these alone; else those that have seen all jobs
  // To the cards of the training, for a job on another one: doubts grow with them.
  std::optional<KnobDistances> distances;
};

// The raw estimates, in the order of `settings`.
std::vector<RawEstimate> raw_estimates(const Model& model, const Features& features,
                                       std::span<const RelativeSetting> settings,
                                       const Asking& asking = {});

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
