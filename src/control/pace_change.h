// SPDX-License-Identifier: Apache-2.0
//
// Tells when a quantity that should stay what it is has changed for good: a two-sided CUSUM over
// the logarithms of Windows' values against their own past, with forgetting on both sides, so that
// neither a bad Window nor the slow drift of a warming room counts as a change.
#pragma once

#include <optional>

namespace hypermile {

class ChangeTest {
 public:
  // Changes smaller than `allowance` (relative) never count; one twice as large is proven after
  // about five Windows.
  explicit ChangeTest(double allowance) : allowance_(allowance) {}

  struct Change {
    double before = 0;
    double after = 0;
  };
  // One more value, positive; a change once it is proven. Begin anew with reset() then.
  std::optional<Change> add(double value);
  void reset() { *this = ChangeTest(allowance_); }

 private:
  double allowance_;
  int values_ = 0;
  double reference_ = 0;                    // logarithm
  double previous_ = 0;                     // the same of the last value
  double variance_ = 0;                     // of one value, from neighbours' differences
  double up_ = 0, down_ = 0;                // sums of what exceeds the allowance
  double recent_up_ = 0, recent_down_ = 0;  // mean of the values since the sum left zero
  int since_up_ = 0, since_down_ = 0;
};

}  // namespace hypermile
