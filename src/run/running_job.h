// SPDX-License-Identifier: Apache-2.0
//
// A job that somebody else started, found by the number of one of its processes: what it was
// started with, where it leaves its rings, and when it ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "run/environment_variables.h"

namespace hypermile {

struct RunningJob {
  pid_t pid = 0;
  std::string name;         // of that process
  Environment environment;  // as it was started; what it sets itself nobody outside can see
  // HYPERMILE_RING_DIR of the process or of one that it started; absent: it carries nothing of
  // ours.
  std::optional<std::string> ring_folder;
};

// Of a process as it was started; nullopt where it is gone or somebody else's.
std::optional<Environment> environment_of(pid_t pid);

// kNotFound where there is no such process; kPermission where it is somebody else's.
Result<RunningJob> find_running_job(pid_t pid);

// The process and everything it has started that still runs, itself first.
std::vector<pid_t> with_descendants(pid_t pid);

// Tells when a process that is no child of ours has ended. A thread of its own waits for it.
class ProcessEnd {
 public:
  // kNotFound when it is gone already.
  static Result<ProcessEnd> watch(pid_t pid, std::stop_source ended);
  ~ProcessEnd();
  ProcessEnd(ProcessEnd&&) = default;
  ProcessEnd& operator=(ProcessEnd&&) = delete;
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

 private:
  ProcessEnd(Descriptor wake, std::thread thread);

  Descriptor wake_;  // an eventfd that ends the thread
  std::thread thread_;
};

}  // namespace hypermile
