// SPDX-License-Identifier: Apache-2.0
#include "run/run_job.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "inject/stale_rings.h"
#include "run/find_cupti.h"
#include "run/injection.h"
#include "run/job_watch.h"
#include "run/watched_run.h"

namespace hypermile {
namespace {

// Under sudo the folder belongs to the job's user, as its rings will.
Result<RingFolder> make_ring_folder(const std::optional<JobUser>& user) {
  return user ? RingFolder::make_for(user->uid, user->gid) : RingFolder::make();
}

// A search through home folders may meet a file server that does not answer, so it has a thread of
// its own, which is left behind then. The injected library looks for CUPTI itself.
std::optional<std::string> find_cupti_in_time(const JobCommand& job) {
  constexpr auto kPatience = std::chrono::milliseconds(300);
  std::packaged_task<std::optional<std::string>()> search(
      [program = job.arguments.front(), environment = job.environment] {
        return find_job_cupti(program, environment);
      });
  std::future<std::optional<std::string>> found = search.get_future();
  std::thread(std::move(search)).detach();
  if (found.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
  return found.get();
}

// Puts everything into the job's environment that makes it visible to us. nullopt, with one line
// that says why, where the job cannot be seen at all.
std::optional<RingFolder> prepare(JobCommand& job, const RunRequest& request, JobReport& report) {
  remove_stale_rings();
  Result<RingFolder> folder = make_ring_folder(job.user);
  if (!folder) {
    report.say(folder.error().line() + "; the job runs unobserved");
    return std::nullopt;
  }
  Injection injection;
  injection.ring_folder = folder->path();
  injection.nvtx_step = request.nvtx_step;
  injection.cupti = find_cupti_in_time(job);
  const Result<std::string> library = find_injected_library();
  if (library) {
    injection.library = *library;
  } else {
    report.say(library.error().line() + "; only ticks can be heard");
  }
  for (const std::string& note : inject(injection, job.environment)) report.say(note);
  return std::move(folder).value();
}

FinishedRun start_and_watch(JobCommand& job, std::optional<RingFolder>& folder, ClockAccess access,
                            const RunRequest& request, const RunWorld& world, WatchedRun& run) {
  // From here on signals are the job's.
  job.signals = world.signals != nullptr ? world.signals->hand_over() : SignalState::current();
  HeldSignals signals;
  const Instant begin = world.clock.now();
  const Result<pid_t> started = start_job(job);
  if (!started) {
    return {started.error(), JobEnd{exit_code_of(started.error()), std::nullopt}};
  }
  JobWatch watch(*started, signals);
  run.report().show_page();
  JobOutcome outcome;
  if (folder) outcome = run.watch({*folder, job.environment, watch.ended()}, std::move(access));
  const bool end_job = request.control.sweep && request.control.sweep->end_job;
  if (end_job && run.sweep_complete() && !watch.ended().stop_requested()) {
    ::kill(*started, SIGTERM);
  }
  outcome.summary.command = job.arguments;
  outcome.summary.end = watch.wait();
  outcome.summary.duration = world.clock.now() - begin;
  run.report().finish(outcome, run.sweep_complete() ? "the sweep is complete" : "the job ended");
  return {outcome, outcome.summary.end};
}

}  // namespace

Result<JobCommand> describe_job(const std::vector<std::string>& command) {
  ASSIGN_OR_RETURN(const std::optional<JobUser> user,
                   invoking_user(::geteuid(), Environment::from(environ)));
  JobCommand job;
  job.arguments = command;
  job.user = user;
  job.environment = Environment::from(environ);
  if (user) become(*user, job.environment);
  return job;
}

FinishedRun run_job(JobCommand job, const RunRequest& request, const RunWorld& world) {
  WatchedRun run(request, world);
  const Result<void> begun = run.report().begin(/*shared_terminal=*/true);
  if (!begun) return {begun.error()};
  std::optional<RingFolder> folder = prepare(job, request, run.report());
  // A password may have to be typed, which must be over before the job has the terminal.
  ClockAccess access;
  if (folder && !request.control.observe) access = open_clock_access(somebody_can_answer());
  if (world.stop.stop_requested()) {
    return {Error{ErrorCode::kUsage, "interrupted before the job was started"}};
  }
  return start_and_watch(job, folder, std::move(access), request, world, run);
}

}  // namespace hypermile
