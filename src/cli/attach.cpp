// SPDX-License-Identifier: Apache-2.0
//
// `hypermile attach`: what run does, for a job that already runs, from outside. Clocks are moved
// only where the job carries our library or ticks, because nothing else tells how fast it goes;
// otherwise its GPU is watched and it is said why. Ends with the job or with Ctrl-C, and gives the
// GPUs back; the job itself is never touched.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/command.h"
#include "run/dry_run.h"
#include "run/gpu_access.h"
#include "run/job_report.h"
#include "run/running_job.h"
#include "run/watch_job.h"

namespace hypermile {
namespace {

constexpr const char* kStartItSo =
    "start it under 'hypermile run --observe', or give it ticks (docs/reference/c-api.md)";

// The processes that NVML sees on the GPU which --gpu names.
Result<std::vector<pid_t>> processes_on(const std::string& gpu, Clock& clock) {
  ASSIGN_OR_RETURN(const OpenedGpu opened, open_named_gpu(gpu, clock, 1));
  ASSIGN_OR_RETURN(const auto seen, opened.gpu->processes());
  std::vector<pid_t> pids;
  for (const GpuProcess& process : seen) pids.push_back(static_cast<pid_t>(process.pid));
  return pids;
}

// The first that carries something of ours, else the first that can be looked at.
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

// Whether the job writes to the terminal that our stderr is; where that cannot be told, it may.
bool shares_terminal(pid_t pid) {
  struct stat ours {};
  if (::fstat(STDERR_FILENO, &ours) != 0) return true;
  return std::ranges::any_of(std::array{1, 2}, [&](int number) {
    struct stat theirs {};
    if (::stat(fmt::format("/proc/{}/fd/{}", pid, number).c_str(), &theirs) != 0) return true;
    return S_ISCHR(theirs.st_mode) && theirs.st_rdev == ours.st_rdev;
  });
}

class Attach {
 public:
  Attach(const CommandArguments& arguments, CommandContext& context)
      : options_(arguments.options), context_(context), report_(options_, context) {}

  Result<void> run() {
    ASSIGN_OR_RETURN(ControlChoice choice, read_control_choice(options_));
    ASSIGN_OR_RETURN(RunningJob job, find());
    if (options_.given("rings")) job.ring_folder = options_.text("rings");
    std::stop_source ended;
    const std::stop_callback interrupted(context_.stop, [&ended] { ended.request_stop(); });
    ASSIGN_OR_RETURN(const ProcessEnd end, ProcessEnd::watch(job.pid, ended));
    if (options_.flag("dry-run")) {
      return print_dry_run({}, choice, options_, job.environment, context_);
    }
    RETURN_IF_ERROR(report_.begin({"hypermile", "attach", "--pid", std::to_string(job.pid)}, choice,
                                  shares_terminal(job.pid)));
    report_.show_page();
    ASSIGN_OR_RETURN(RingFolder folder, open_folder(job, choice));
    ClockAccess access;
    if (!choice.observe) access = open_clock_access(somebody_can_answer());
    const Instant begin = context_.clock.now();
    JobToWatch watched{folder, job.environment, ended.get_token(), "hypermile attach"};
    // Rings that are there tell by themselves which GPUs the job uses.
    if (sensors_only_) watched.gpus = {first_gpu(job)};
    JobOutcome outcome = watch_job(watched, choice, std::move(access), options_, context_, report_);
    outcome.summary.duration = context_.clock.now() - begin;
    outcome.summary.attached = fmt::format("process {} ({})", job.pid, job.name);
    report_.finish(outcome, context_.stop.stop_requested() ? "interrupted" : "the job ended");
    return {};
  }

 private:
  Result<RunningJob> find() {
    if (options_.given("pid")) return find_running_job(static_cast<pid_t>(options_.integer("pid")));
    if (options_.given("gpu")) return find_job_on(options_.text("gpu"), context_.clock);
    return Error{ErrorCode::kUsage, "which job?",
                 "name one of its processes: hypermile attach --pid N, or its GPU: --gpu G"};
  }

  // Where the job leaves its rings; an empty folder of our own where it leaves none, and then
  // nothing but sensors can be watched.
  Result<RingFolder> open_folder(const RunningJob& job, ControlChoice& choice) {
    if (job.ring_folder) {
      Result<RingFolder> folder = RingFolder::open(*job.ring_folder);
      if (folder) return folder;
      report_.say(folder.error().line());
    }
    report_.say(
        fmt::format("process {} ({}) carries neither hypermile's library nor ticks, so nobody "
                    "can tell how fast it goes: its GPU is watched and left alone; {}",
                    job.pid, job.name, kStartItSo));
    sensors_only_ = true;
    choice.observe = true;
    return RingFolder::make();
  }

  static DeviceName first_gpu(const RunningJob& job) {
    return {job.environment.get("CUDA_VISIBLE_DEVICES"), 0};
  }

  const OptionValues& options_;
  CommandContext& context_;
  JobReport report_;
  bool sensors_only_ = false;
};

Result<void> run_attach(const CommandArguments& arguments, CommandContext& context) {
  return Attach(arguments, context).run();
}

}  // namespace

const Command kAttachCommand = {
    "attach",
    "do for a job that already runs what run does",
    "",
    "  hypermile attach --pid 4242                      until the job ends, or Ctrl-C\n"
    "  hypermile attach --gpu 0 --max-slowdown 2%       whatever job is on that GPU\n"
    "  hypermile attach --pid 4242 --observe            changes nothing\n",
    run_attach,
};

}  // namespace hypermile
