// SPDX-License-Identifier: Apache-2.0
#include "run/run_job.h"

#include <signal.h>
#include <unistd.h>

#include <optional>

#include "cli/stop_signals.h"
#include "inject/stale_rings.h"
#include "run/injection.h"
#include "run/job_cupti.h"
#include "run/job_watch.h"

namespace hypermile {
namespace {

// Under sudo the folder belongs to the job's user, as its rings will.
Result<RingFolder> make_ring_folder(const std::optional<JobUser>& user) {
  return user ? RingFolder::make_for(user->uid, user->gid) : RingFolder::make();
}

// Everything that makes the job visible to us; nullopt where nothing can, which is said.
std::optional<RingFolder> prepare(JobCommand& job, const OptionValues& options, JobReport& report) {
  remove_stale_rings();
  Result<RingFolder> folder = make_ring_folder(job.user);
  if (!folder) {
    report.say(folder.error().line() + "; the job runs unobserved");
    return std::nullopt;
  }
  Injection injection;
  injection.ring_folder = folder->path();
  if (options.given("nvtx-step")) injection.nvtx_step = options.text("nvtx-step");
  injection.cupti = find_job_cupti(job.arguments.front(), job.environment);
  const Result<std::string> library = find_injected_library();
  if (library) {
    injection.library = *library;
  } else {
    report.say(library.error().line() + "; only ticks can be heard");
  }
  for (const std::string& note : inject(injection, job.environment)) report.say(note);
  return std::move(folder).value();
}

Result<JobOutcome> start_and_watch(JobCommand& job, std::optional<RingFolder>& folder,
                                   const std::string& program, const ControlChoice& choice,
                                   ClockAccess access, const OptionValues& options,
                                   CommandContext& context, JobReport& report) {
  // From here on signals are the job's.
  job.signals = context.signals != nullptr ? context.signals->hand_over() : SignalState::current();
  const HeldSignals signals;
  const Instant begin = context.clock.now();
  const Result<pid_t> started = start_job(job);
  if (!started) {
    context.job_end = JobEnd{exit_code_of(started.error()), std::nullopt};
    return started.error();
  }
  JobWatch watch(*started, signals);
  report.show_page();
  JobOutcome outcome;
  if (folder) {
    const JobToWatch watched{*folder, job.environment, watch.ended(), program};
    outcome = watch_job(watched, choice, std::move(access), options, context, report);
  }
  const bool swept = choice.sweep != nullptr && choice.sweep->complete();
  if (choice.end_job && swept && !watch.ended().stop_requested()) ::kill(*started, SIGTERM);
  outcome.summary.command = job.arguments;
  outcome.summary.end = watch.wait();
  outcome.summary.duration = context.clock.now() - begin;
  context.job_end = outcome.summary.end;
  return outcome;
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

Result<JobOutcome> run_job(JobCommand job, const std::string& program, const ControlChoice& choice,
                           const OptionValues& options, CommandContext& context,
                           JobReport& report) {
  std::optional<RingFolder> folder = prepare(job, options, report);
  ClockAccess access;
  if (folder && !choice.observe) access = open_clock_access(somebody_can_answer());
  if (context.stop.stop_requested()) {
    return Error{ErrorCode::kUsage, "interrupted before the job was started"};
  }
  return start_and_watch(job, folder, program, choice, std::move(access), options, context, report);
}

}  // namespace hypermile
