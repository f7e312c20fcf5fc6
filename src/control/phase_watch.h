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
  // An instant on the host's axis, or the GPU's, and the iterations until then.
  struct Point {
    double iteration = 0;
    Seconds time;
    std::optional<double> blocks;  // launched since the Point before
  };
  // From one Point to the next.
  struct Gap {
    double iterations = 0;
    Seconds time;
    std::optional<double> blocks;
    bool pause = false;
  };
  bool on_gpu() const;
  Seconds shortest_pause() const;
  static double pause_iterations(const std::vector<Point>& points);
  double pause_iterations() const;
  std::vector<Gap> gaps() const;
  static IterationSizes sizes_of(const std::vector<Gap>& gaps);

  std::vector<Point> host_, gpu_;
  double iteration_ = 0;
  std::optional<double> untimed_blocks_;  // since the last Point on the GPU's axis
  bool ticks_ = false;                    // Boundaries are exact
  double clock_sum_ = 0, clocks_ = 0;
  std::optional<Mhz> memory_clock_;
};

}  // namespace hypermile
