// SPDX-License-Identifier: Apache-2.0
//
// Decides at which memory clock to search. Memory comes first: at the highest SM clock it steps
// down through the memory clocks, one window each, and stops at the first that is plainly too slow.
// A memory-bound job can run several times slower at a deep memory clock, so a probe is made only
// where even that would not endanger the promise for the whole job.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/setting.h"
#include "policy/objective.h"
#include "policy/slice.h"

namespace hypermile {

class MemoryStage {
 public:
  MemoryStage(std::span<const Setting> settings, const Setting& default_values,
              const DefaultState& found);

  struct Probe {
    std::size_t setting = 0;
    double clock_ratio = 1;  // of the memory clock to the default's
    bool deep = false;       // under half the default's: watch it from the second iteration on
  };
  // The next memory clock to try; nullopt when the stage is over. `slack` is what the job may still
  // lose, in iterations; `least` the iterations that a probe runs before it can be cut short.
  std::optional<Probe> next(double slack, double least);

  // What became of it, relative to the default; `error` is the standard error of ln time.
  void observe(double log_time, double log_power, double error, const Objective& objective,
               Watts default_power);
  // The window was worth nothing: that memory clock is left out.
  void skip();

  // Memory clocks worth searching, the most promising first; the default's own (nullopt) is the
  // last.
  std::vector<std::optional<Mhz>> ranking() const;

 private:
  struct State {
    Mhz clock;
    Probe probe;
    std::optional<double> score;  // set when feasible
  };
  bool default_has_slice_;  // some Setting leaves the memory clock alone
  std::vector<State> states_;
  std::size_t at_ = 0;
};

}  // namespace hypermile
