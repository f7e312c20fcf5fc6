// SPDX-License-Identifier: Apache-2.0
//
// The controller of MF-GPOEO: from the slowdown just measured to the relative change of the
// ceiling. Gains and schedule are the authors'; mf_gpoeo.cpp says what was corrected.
#pragma once

#include <optional>

namespace hypermile {

class PidGain {
 public:
  explicit PidGain(double target) : target_(target) {}

  // Positive: go down by this share. `slowdown` was measured at `height` (1 is the default's
  // value).
  double delta(double slowdown, double height);
  // Whether the last error lay in the dead band, 1 % of the target.
  bool settled() const;

 private:
  double schedule(double slowdown, double height);

  double target_;
  double error_ = 0;
  double sum_ = 0;
  double boost_ = 1;
  struct Last {
    double slowdown;
    double height;
    double error;
  };
  std::optional<Last> last_;
};

}  // namespace hypermile
