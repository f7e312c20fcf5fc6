// SPDX-License-Identifier: Apache-2.0
//
// What a Controller hands back to the Session that feeds it. All are called on the Session's
// thread.
#pragma once

#include <functional>
#include <string>

#include "gpu/gpu.h"
#include "measure/window.h"
#include "progress/follow/process_progress.h"
#include "record/event.h"

namespace hypermile {

struct ControlDesk {
  // A window for the summary of the run and for the event log. An empty `gpu`: time only.
  std::function<void(const ProcessProgress& process, const GpuUuid& gpu, const Window& window)>
      take;
  // An event for the log.
  std::function<void(EventBody body)> write;
  // One line for a person; the same line is shown once.
  std::function<void(const std::string& line)> warn;
  // How closely the job is to be watched from now on.
  std::function<void(const Attention& attention)> attend;
};

}  // namespace hypermile
