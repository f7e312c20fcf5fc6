// SPDX-License-Identifier: Apache-2.0
//
// The first look at a phase of the job, at the default: how long an iteration takes and how much it
// scatters, from which Windows are planned, and what clocks the driver chooses by itself.
#pragma once

#include <optional>
#include <vector>

#include "control/step_plan.h"
#include "gpu/gpu.h"
#include "progress/boundary.h"

namespace hypermile {

class PhaseWatch {
 public:
  // In order; only those at the default.
  void add(const Boundary& boundary);
  void add(const Sample& sample);

  // Whether it was long enough: some seconds and some iterations, and, where the job pauses every
  // few seconds, some of its pauses.
  bool ready() const;
  StepPlan plan() const;
  // Clocks seen; the limit is the caller's to know.
  Setting default_values() const;

 private:
  struct Timed {
    double iteration = 0;
    Seconds time;
  };
  std::vector<double> intervals() const;
  std::vector<double> pauses() const;  // the iterations behind them

  std::vector<double> host_;  // seconds per iteration, one a Boundary
  std::vector<Timed> gpu_;    // Boundaries with a GPU time
  std::vector<Timed> gaps_;   // from one Boundary to the next, long ones
  std::optional<Instant> last_;
  double iteration_ = 0;
  Seconds watched_;
  double clock_sum_ = 0, clocks_ = 0;
  std::optional<Mhz> memory_clock_;
};

}  // namespace hypermile
