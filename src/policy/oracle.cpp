// SPDX-License-Identifier: Apache-2.0
//
// Goes straight to the Setting that a judge knows to be best: the most that any policy could save.
#include "policy/makers.h"

namespace hypermile {
namespace {

class OraclePolicy : public Policy {
 public:
  OraclePolicy(std::size_t best, double iterations) : best_(best), iterations_(iterations) {}

  Step next() override {
    Step step;
    step.setting = best_;
    step.iterations = iterations_;
    step.reason = "known to be best";
    return step;
  }
  void observe(const Window&) override {}

 private:
  std::size_t best_;
  double iterations_;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_oracle_policy(const PolicyContext& context) {
  if (!context.oracle || *context.oracle >= context.settings.size()) {
    return Error{ErrorCode::kUsage, "policy 'oracle' needs the truth, which only a replay has",
                 "use it with `hypermile evaluate`"};
  }
  return std::unique_ptr<Policy>(
      std::make_unique<OraclePolicy>(*context.oracle, context.window_iterations));
}

}  // namespace hypermile
