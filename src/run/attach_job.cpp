// SPDX-License-Identifier: Apache-2.0
#include "run/attach_job.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "run/gpu_access.h"
#include "run/watched_run.h"

namespace hypermile {
namespace {

// The processes that NVML sees on a GPU.
Result<std::vector<pid_t>> processes_on(const std::string& gpu, Clock& clock) {
  ASSIGN_OR_RETURN(const OpenedGpu opened, open_named_gpu(gpu, clock, 1));
  ASSIGN_OR_RETURN(const auto seen, opened.gpu->processes());
  std::vector<pid_t> pids;
  for (const GpuProcess& process : seen) pids.push_back(static_cast<pid_t>(process.pid));
  return pids;
}

// Whether the job writes to the terminal that our stderr is; true where that cannot be found out.
bool shares_terminal(pid_t pid) {
  struct stat ours {};
  if (::fstat(STDERR_FILENO, &ours) != 0) return true;
  return std::ranges::any_of(std::array{1, 2}, [&](int number) {
    struct stat theirs {};
    if (::stat(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), &theirs) != 0) return true;
    return S_ISCHR(theirs.st_mode) && theirs.st_rdev == ours.st_rdev;
  });
}

// Where the job leaves its rings, and whether there are any.
struct JobRings {
  RingFolder folder;               // an empty folder of our own where `sensors_only`
  std::vector<std::string> notes;  // lines for a person
  bool sensors_only = false;       // the job leaves no rings
};

std::string carries_nothing(const RunningJob& job) {
  return fmt::format("process {} ({}) carries neither hypermile's library nor ticks", job.pid,
                     job.name);
}

// `required`: fails where the job's rings cannot be read.
Result<JobRings> open_rings(const RunningJob& job, bool required) {
  std::vector<std::string> notes;
  if (job.ring_folder) {
    Result<RingFolder> folder = RingFolder::open(*job.ring_folder);
    if (folder) return JobRings{std::move(*folder), {}};
    if (required) return folder.error();
    notes.push_back(folder.error().line());
  }
  if (required) {
    return Error{ErrorCode::kNotReady, carries_nothing(job) + ", so its iterations cannot be timed",
                 "start the job under 'hypermile sweep --out F.csv -- CMD'"};
  }
  notes.push_back(carries_nothing(job) +
                  ", so nobody can tell how fast it goes: its GPU is watched and left alone; start "
                  "it under 'hypermile run --observe', or give it ticks (docs/reference/c-api.md)");
  ASSIGN_OR_RETURN(RingFolder folder, RingFolder::make());
  return JobRings{std::move(folder), std::move(notes), true};
}

DeviceName first_gpu(const RunningJob& job) {
  return {job.environment.get("CUDA_VISIBLE_DEVICES"), 0};
}

}  // namespace

Result<RunningJob> find_job_on(const std::string& gpu, Clock& clock) {
  ASSIGN_OR_RETURN(const std::vector<pid_t> pids, processes_on(gpu, clock));
  Result<RunningJob> best = Error{ErrorCode::kNotFound, fmt::format("no process uses GPU {}", gpu),
                                  "name the job with --pid"};
  for (const pid_t pid : pids) {
    Result<RunningJob> job = find_running_job(pid);
    if (job && job->ring_folder) return job;
    if (!best) best = std::move(job);
  }
  return best;
}

Result<JobOutcome> attach_job(const RunningJob& job, const RunRequest& wanted,
                              const RunWorld& world) {
  std::stop_source ended;
  const std::stop_callback interrupted(world.stop, [&ended] { ended.request_stop(); });
  ASSIGN_OR_RETURN(const ProcessEnd end, ProcessEnd::watch(job.pid, ended));
  ASSIGN_OR_RETURN(JobRings rings, open_rings(job, wanted.control.sweep.has_value()));
  RunRequest request = wanted;
  if (rings.sensors_only) request.control.observe = true;
  WatchedRun run(request, world);
  RETURN_IF_ERROR(run.report().begin(shares_terminal(job.pid)));
  run.report().show_page();
  for (const std::string& note : rings.notes) run.report().say(note);
  ClockAccess access;
  if (!request.control.observe) access = open_clock_access(somebody_can_answer());
  const Instant begin = world.clock.now();
  JobToWatch watched{rings.folder, job.environment, ended.get_token()};
  watched.interrupted = world.stop;
  // Rings name the GPUs that the job uses; without them its first one is taken.
  if (rings.sensors_only) watched.gpus = {first_gpu(job)};
  JobOutcome outcome = run.watch(watched, std::move(access));
  outcome.summary.duration = world.clock.now() - begin;
  outcome.summary.attached = fmt::format("process {} ({})", job.pid, job.name);
  run.report().finish(outcome, run.sweep_complete()          ? "the sweep is complete"
                               : world.stop.stop_requested() ? "interrupted"
                                                             : "the job ended");
  return outcome;
}

}  // namespace hypermile
