// SPDX-License-Identifier: Apache-2.0
//
// Which GPU a process of the job means by CUDA's number for it, and opening that one: on a thread
// of its own, because a driver that sleeps takes seconds to answer and the launches must be read
// meanwhile.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/options.h"
#include "measure/gpu_watch.h"
#include "run/environment.h"

namespace hypermile {

class RunGpus {
 public:
  // `options` of run; `environment` is the job's. `clock` must outlive what is opened.
  RunGpus(const OptionValues& options, const Environment& environment, Clock& clock);

  OpenGpu opener() const;
  // CUDA_VISIBLE_DEVICES of a process: launchers give each of their workers another.
  std::function<std::optional<std::string>(std::int64_t pid)> visible_devices() const;
  // The one that --gpu names.
  std::optional<DeviceName> only() const;

 private:
  std::optional<std::string> named_;    // --gpu
  std::optional<std::string> visible_;  // of the job as it was started
  std::optional<std::string> order_;
  Clock* clock_;
};

}  // namespace hypermile
