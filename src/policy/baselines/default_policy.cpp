// SPDX-License-Identifier: Apache-2.0
//
// Leaves the GPU at its driver's default. Every other policy is compared with this one.
#include "policy/makers.h"

namespace hypermile {
namespace {

class DefaultPolicy : public Policy {
 public:
  explicit DefaultPolicy(double iterations) : iterations_(iterations) {}

  Step next() override {
    Step step;
    step.iterations = iterations_;
    step.reason = "the driver's default";
    return step;
  }
  void observe(const Window&) override {}

 private:
  double iterations_;
};

}  // namespace

std::unique_ptr<Policy> make_default_policy(const PolicyContext& context) {
  return std::make_unique<DefaultPolicy>(context.window_iterations);
}

}  // namespace hypermile
