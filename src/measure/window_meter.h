// SPDX-License-Identifier: Apache-2.0
//
// Makes one Window: from the instant a Setting has settled, through the Samples taken meanwhile, to
// the instant it is closed. Says why a Window is unusable rather than guess.
#pragma once

#include "measure/energy_meter.h"
#include "measure/window.h"

namespace hypermile {

class WindowMeter {
 public:
  // `iteration` is how far the job has come.
  WindowMeter(Setting setting, Instant begin, double iteration);

  void add(const Sample& sample);

  // Unusable if the job made no iteration or power is not known.
  Window close(Instant end, double iteration) const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
    std::optional<Mhz> mhz() const {
      return count > 0 ? std::optional(Mhz(sum / count)) : std::nullopt;
    }
  };

  Setting setting_;
  Instant begin_;
  double first_iteration_;
  EnergyMeter energy_;
  Mean sm_clock_;
  Mean memory_clock_;
  int reasons_read_ = 0;
  int throttled_ = 0;
};

}  // namespace hypermile
