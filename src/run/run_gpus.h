// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the GPU that a process of the job means by a CUDA device number. Each is opened
// on a thread of its own: a sleeping driver takes seconds to answer, and the job's launches must be
// read meanwhile.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "measure/gpu_watch.h"
#include "run/environment_variables.h"

namespace hypermile {

class RunGpus {
 public:
  // `named`: the only GPU to open, as typed; absent: those that the job's processes name.
  // `environment` is the job's. `clock` must outlive what is opened.
  RunGpus(std::optional<std::string> named, const Environment& environment, Clock& clock);

  OpenGpu opener() const;
  // CUDA_VISIBLE_DEVICES of a process; launchers give each of their workers another value.
  std::function<std::optional<std::string>(std::int64_t pid)> visible_devices() const;
  // The GPU that was named, if one was.
  std::optional<DeviceName> only() const;

 private:
  std::optional<std::string> named_;
  std::optional<std::string> visible_;  // CUDA_VISIBLE_DEVICES of the job as it was started
  std::optional<std::string> order_;    // CUDA_DEVICE_ORDER
  Clock* clock_;
};

}  // namespace hypermile
