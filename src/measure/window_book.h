// SPDX-License-Identifier: Apache-2.0
//
// What the Windows of a run have shown, by process, phase and GPU: means with intervals, how many
// Windows could be used, and why the others could not. Constant memory per phase.
//
// No decision may rest on a Window in which the card was held back or idle or its power
// unknown, but what an iteration took it still tells, so it counts here; one that mixes phases or
// strangers does not. The best kind counts alone: Windows on the GPU's own time, else on the
// host's, which runs ahead of it, else those in which the job paused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/identifiers.h"
#include "measure/window.h"
#include "measure/window_mean.h"

namespace hypermile {

class ProcessProgress;

struct PhaseWindows {
  const ProcessProgress* process = nullptr;
  std::uint32_t phase = 0;
  GpuUuid gpu;  // empty: time only

  WindowMean time;                      // seconds per iteration
  WindowMean energy;                    // joules per iteration
  WindowMean disagreement;              // of energy counter and integrated power
  WindowMean power;                     // watts
  WindowMean sm_clock;                  // MHz
  int windows = 0;                      // all
  int gpu_timed = 0;                    // of those that count
  std::map<std::string, int> unusable;  // reasons, counted or not

  int worth = 0;  // of the best Windows so far: only they count
  void forget_means();
};

class WindowBook {
 public:
  void add(const ProcessProgress& process, const GpuUuid& gpu, const Window& window);

  const std::vector<PhaseWindows>& entries() const { return entries_; }

 private:
  PhaseWindows& entry(const ProcessProgress& process, std::uint32_t phase, const GpuUuid& gpu);

  std::vector<PhaseWindows> entries_;
};

}  // namespace hypermile
