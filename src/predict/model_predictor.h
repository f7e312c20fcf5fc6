// SPDX-License-Identifier: Apache-2.0
//
// Evaluates a model. Each relation is evaluated at twelve values of its knob and interpolated
// between them: that turns the steps of trees into curves, keeps a whole grid under a millisecond,
// and makes time never fall as a clock is lowered. The effects of the knobs are multiplied; the SM
// relation sees the memory clock and gives the ratio to the top SM clock at that memory clock. Pure
// functions, safe from any thread.
#pragma once

#include "predict/model.h"

namespace hypermile {

// An estimate before calibration. Doubts are in units of the ratio; half a 90 % interval is doubt ×
// scale.
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
  std::optional<MemberRange> members;  // the members to use; without it, Relation::whole
  // The distances to the training cards, set for a job on another card. Doubts grow with them.
  std::optional<KnobDistances> distances;
};

// One estimate for each of `settings`, in their order.
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
