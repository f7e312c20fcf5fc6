// SPDX-License-Identifier: Apache-2.0
//
// One Setting from the first iteration to the last, and no question asked: what `fixed` and
// `oracle` do once they know which. Cannot fail.
#pragma once

#include <string>
#include <utility>

#include "policy/policy.h"

namespace hypermile {

class HoldSetting final : public Policy {
 public:
  HoldSetting(std::size_t setting, double iterations, std::string reason) {
    step_.setting = setting;
    step_.iterations = iterations;
    step_.reason = std::move(reason);
  }

  Step next() override { return step_; }
  void observe(const Window&) override {}

 private:
  Step step_;
};

}  // namespace hypermile
