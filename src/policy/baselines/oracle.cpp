// SPDX-License-Identifier: Apache-2.0
//
// Goes straight to the Setting that a judge knows to be best: the most that any policy could save.
#include "policy/baselines/hold_setting.h"
#include "policy/makers.h"

namespace hypermile {

Result<std::unique_ptr<Policy>> make_oracle_policy(const PolicyContext& context) {
  if (!context.oracle || *context.oracle >= context.settings.size()) {
    return Error{ErrorCode::kUsage, "policy 'oracle' needs the truth, which only a replay has",
                 "use it with `hypermile evaluate`"};
  }
  return std::unique_ptr<Policy>(std::make_unique<HoldSetting>(
      *context.oracle, context.window_iterations, "known to be best"));
}

}  // namespace hypermile
