// SPDX-License-Identifier: Apache-2.0
//
// Watches one job from beside it: takes what its processes wrote, samples the GPUs they use, makes
// Windows, writes the event log. One loop on the caller's thread, time from an injected Clock;
// nothing it does can reach the job, and whatever fails becomes a note.
//
//   Session session(parts);
//   session.run(job.ended());
//   print(to_text(session.summary()));
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/run_summary.h"
#include "measure/gpu_watch.h"
#include "measure/window_maker.h"
#include "progress/follow/job_progress.h"
#include "record/event_log.h"

namespace hypermile {

class Controller;

struct SessionOptions {
  ProgressDelays delays = {};
  WindowLengths windows = {};
  SamplerOptions sampler = {};
  Seconds step = milliseconds(20);  // a ring holds 130 ms of the busiest launching
  // All of the job is on this GPU, whatever its processes say.
  std::optional<DeviceName> only_gpu = {};
  // Watched whatever the processes of the job say, or where none says anything.
  std::vector<DeviceName> also_watch = {};
};

struct SessionParts {
  Clock& clock;
  RingFolder& folder;
  OpenGpu open_gpu;
  // CUDA_VISIBLE_DEVICES of a process.
  std::function<std::optional<std::string>(std::int64_t pid)> visible_devices;
  EventLog* log = nullptr;                       // may be null
  std::function<void(const std::string&)> warn;  // one line for a person, at once
  std::function<void()> each_second = {};        // for who shows how far it has come; may be empty
  // Requested where a person ended the watching of a job that goes on.
  std::stop_token interrupted = {};
  // Makes the windows in the Session's place, because it knows when settings changed; may be null.
  Controller* controller = nullptr;
};

class Session final : private ProgressSink {
 public:
  // What `parts` refers to must outlive it.
  explicit Session(SessionParts parts, const SessionOptions& options = {});
  ~Session() override;

  // Until `ended` is requested, then takes what is left.
  void run(const std::stop_token& ended);
  // One round; returns when the next is due.
  Instant step();
  // The job has ended: takes what is left and closes every Window.
  void finish();

  // While a decision is prepared: nothing of the job is to be missed. Otherwise launch-bound jobs
  // are watched now and then only, once their pattern is known, so that they lose nothing.
  void attend(const Attention& attention) { progress_.attend(attention); }

  RunSummary summary() const;
  // Those met so far, opened or not.
  std::vector<const GpuWatch*> gpus() const;

 private:
  struct Pair {
    const ProcessProgress* process = nullptr;
    GpuWatch* gpu = nullptr;  // null: time only
    std::unique_ptr<WindowMaker> maker;
  };

  // What was last logged of a process.
  struct Told {
    std::string status;
    std::size_t devices = 0;
    std::string reason;
  };

  struct Throttling {
    std::optional<Instant> seen;  // last
    bool told = false;
  };

  void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh) override;
  void changed(const ProcessProgress& process, const ProgressChange& change) override;
  void settled(const ProcessProgress& process) override;
  void forgotten(const ProcessProgress& process) override;

  void take(const ProcessProgress& process, const GpuUuid& gpu, const Window& window);
  void write(EventBody body);

  void follow_processes();
  void watch_gpu(const DeviceName& name);
  void poll_gpus(Instant now);
  void pass_on(GpuWatch& gpu, const SamplerReading& reading);
  void tell_findings(GpuWatch& gpu);
  void tell_calls(GpuWatch& gpu);
  void look_for_strangers(Instant now);
  std::vector<DeviceName> devices_of(const ProcessProgress& process) const;
  std::vector<GpuWatch*> gpus_of(const ProcessProgress& process);
  WindowMaker& maker(const ProcessProgress& process, GpuWatch* gpu);
  void tell_of(const ProcessProgress& process);
  void complain(const std::string& line);

  SessionParts parts_;
  SessionOptions options_;
  JobProgress progress_;
  RunFigures figures_;
  std::map<DeviceName, std::unique_ptr<GpuWatch>> gpus_;
  std::vector<Pair> pairs_;
  std::map<const ProcessProgress*, Told> told_;
  std::set<const GpuWatch*> introduced_;
  std::map<const GpuWatch*, Instant> logged_;  // last Sample in the log
  std::map<const GpuWatch*, Instant> calls_logged_;
  std::map<const GpuWatch*, Joules> energy_;  // read since the last logged sample
  std::map<const GpuWatch*, Throttling> throttled_;
  std::set<std::string> complained_;
  std::optional<Instant> followed_, strangers_looked_, shown_;
};

}  // namespace hypermile
