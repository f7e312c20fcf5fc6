// SPDX-License-Identifier: Apache-2.0
//
// A job that somebody else started, found by the number (pid) of one of its processes: what it was
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
  Environment environment;  // as it was started; later changes cannot be seen from outside
  // HYPERMILE_RING_DIR of the process or of one that it started; absent: the job carries neither
  // our library nor ticks.
  std::optional<std::string> ring_folder;
};

// The environment that a process was started with; nullopt where the process has ended or belongs
// to another user.
std::optional<Environment> environment_of(pid_t pid);

// kNotFound where there is no such process; kPermission where it belongs to another user.
Result<RunningJob> find_running_job(pid_t pid);

// The process, first, and all its descendants that still run.
std::vector<pid_t> with_descendants(pid_t pid);

// Notices when a process that is not our child has ended; a separate thread waits for it.
class ProcessEnd {
 public:
  // Requests `ended` when the process ends. kNotFound where it has ended already.
  static Result<ProcessEnd> watch(pid_t pid, std::stop_source ended);
  ~ProcessEnd();
  ProcessEnd(ProcessEnd&&) = default;
  ProcessEnd& operator=(ProcessEnd&&) = delete;
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

 private:
  ProcessEnd(Descriptor wake, std::thread thread);

  Descriptor wake_;  // an eventfd; writing to it ends the thread
  std::thread thread_;
};

}  // namespace hypermile
