// SPDX-License-Identifier: Apache-2.0
//
// What could be saved on a job that nobody may slow down: for each job that the prior holds
// plausible, the best Setting within the bound, as a perfect search would find it, and the spread
// of that over all of them. An expectation from other jobs' measured curves; nothing of it was
// measured on this one, and whoever shows it must say so.
#pragma once

#include <optional>

#include "measure/window.h"
#include "policy/policy.h"

namespace hypermile {

struct Expectation {
  // Saved by the objective's measure, as a share of the default's: a tenth of plausible jobs would
  // save less than `low`, a tenth more than `high`.
  double low = 0, median = 0, high = 0;
  double slowdown = 0;  // median of the best Settings
  Setting setting;      // the one in the middle of the best ones
};

// `at_default` is a Window of the job at the driver's default. nullopt where there is no choice of
// Settings, or the default's clock and power are not known.
std::optional<Expectation> expect_saving(const PolicyContext& context, const Window& at_default);

}  // namespace hypermile
