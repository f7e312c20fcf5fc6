// SPDX-License-Identifier: Apache-2.0
//
// Makes one Window from an interval with known ends: the caller gives the start, the Samples and
// the end. Used by `monitor` and by trials of phase plans, on their thread. Nothing fails: an
// unusable Window gives its reason.
#pragma once

#include "measure/energy_meter.h"
#include "measure/window.h"

namespace hypermile {

class WindowMeter {
 public:
  // `iteration` is the number of iterations that the job has done.
  WindowMeter(Setting setting, Instant begin, double iteration);

  void add(const Sample& sample);

  // The Window is unusable if the job made no iteration or power is unknown.
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
