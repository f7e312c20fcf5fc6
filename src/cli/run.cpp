// SPDX-License-Identifier: Apache-2.0
//
// `hypermile run -- CMD`: starts the job as the shell would, watches it from beside, moves its GPUs
// to the Setting of least energy within the slowdown allowed, and at its end says what an iteration
// took and cost. With --observe it changes nothing. The job's exit code, signals, terminal and
// output are its own; whatever is missing on our side (library, driver, GPU, rights) is said in one
// line and the job runs all the same.
#include <unistd.h>

#include "cli/command.h"
#include "cli/dry_run.h"
#include "cli/job_report.h"
#include "cli/stop_signals.h"
#include "cli/watch_job.h"
#include "job/injection.h"
#include "job/job.h"
#include "job/job_cupti.h"
#include "job/job_watch.h"

namespace hypermile {
namespace {

class Run {
 public:
  Run(const CommandArguments& arguments, CommandContext& context)
      : options_(arguments.options),
        command_(arguments.positional),
        context_(context),
        report_(options_, context) {}

  Result<void> run() {
    if (command_.empty()) {
      return Error{ErrorCode::kUsage, "no command was given",
                   "put it after --: hypermile run -- python train.py"};
    }
    ASSIGN_OR_RETURN(const ControlChoice choice, read_control_choice(options_));
    ASSIGN_OR_RETURN(const std::optional<JobUser> user, find_user());
    JobCommand job;
    job.arguments = command_;
    job.user = user;
    job.environment = Environment::from(environ);
    if (user) become(*user, job.environment);
    if (options_.flag("dry-run")) {
      return print_dry_run({command_, user ? user->name : ""}, choice, options_, job.environment,
                           context_);
    }
    RETURN_IF_ERROR(report_.open_log(typed(), choice));
    std::optional<RingFolder> folder = prepare(user, job.environment);
    ClockAccess access;
    if (folder && !choice.observe) access = open_clock_access(somebody_can_answer());
    if (context_.stop.stop_requested()) {
      return Error{ErrorCode::kUsage, "interrupted before the job was started"};
    }
    return start_and_watch(job, folder, choice, std::move(access));
  }

 private:
  static Result<std::optional<JobUser>> find_user() {
    return invoking_user(::geteuid(), Environment::from(environ));
  }

  std::vector<std::string> typed() const {
    std::vector<std::string> words = {"hypermile", "run"};
    if (options_.flag("observe")) words.emplace_back("--observe");
    words.emplace_back("--");
    words.insert(words.end(), command_.begin(), command_.end());
    return words;
  }

  Result<void> start_and_watch(JobCommand& job, std::optional<RingFolder>& folder,
                               const ControlChoice& choice, ClockAccess access) {
    // From here on signals are the job's.
    job.signals =
        context_.signals != nullptr ? context_.signals->hand_over() : SignalState::current();
    const HeldSignals signals;
    const Instant begin = context_.clock.now();
    const Result<pid_t> started = start_job(job);
    if (!started) {
      context_.job_end = JobEnd{exit_code_of(started.error()), std::nullopt};
      return started.error();
    }
    JobWatch watch(*started, signals);
    report_.show_page();
    JobOutcome outcome;
    if (folder) {
      const JobToWatch watched{*folder, job.environment, watch.ended(), "hypermile run"};
      outcome = watch_job(watched, choice, std::move(access), options_, context_, report_);
    }
    outcome.summary.command = command_;
    outcome.summary.end = watch.wait();
    outcome.summary.duration = context_.clock.now() - begin;
    context_.job_end = outcome.summary.end;
    report_.finish(outcome, "the job ended");
    return {};
  }

  // Everything that makes the job visible to us; nullopt where nothing can, which is said.
  std::optional<RingFolder> prepare(const std::optional<JobUser>& user, Environment& environment) {
    Result<RingFolder> folder = make_ring_folder(user);
    if (!folder) {
      report_.say(folder.error().line() + "; the job runs unobserved");
      return std::nullopt;
    }
    Injection injection;
    injection.ring_folder = folder->path();
    if (options_.given("nvtx-step")) injection.nvtx_step = options_.text("nvtx-step");
    injection.cupti = find_job_cupti(command_.front(), environment);
    const Result<std::string> library = find_injected_library();
    if (library) {
      injection.library = *library;
    } else {
      report_.say(library.error().line() + "; only ticks can be heard");
    }
    for (const std::string& note : inject(injection, environment)) report_.say(note);
    return std::move(folder).value();
  }

  // Under sudo the folder belongs to the job's user, as its rings will.
  static Result<RingFolder> make_ring_folder(const std::optional<JobUser>& user) {
    return user ? RingFolder::make_for(user->uid, user->gid) : RingFolder::make();
  }

  const OptionValues& options_;
  const std::vector<std::string>& command_;
  CommandContext& context_;
  JobReport report_;
};

Result<void> run_run(const CommandArguments& arguments, CommandContext& context) {
  return Run(arguments, context).run();
}

}  // namespace

const Command kRunCommand = {
    "run",
    "run a job at the clocks that cost it least energy within a slowdown you choose",
    "",
    "  hypermile run -- python train.py                 at most 5 % slower; a summary at the end\n"
    "  hypermile run --max-slowdown 2% --log run.jsonl -- python train.py\n"
    "  hypermile run --report run.html -- python train.py     a page with plots at the end\n"
    "  hypermile run --serve -- python train.py         watch it at http://127.0.0.1:9487/\n"
    "  hypermile run --dry-run -- python train.py       what would be done, with which rights\n"
    "  hypermile run --cache default -- python train.py     begin where the last run ended\n"
    "  hypermile run --observe -- python train.py       changes nothing\n"
    "  hypermile run --observe --nvtx-step step -- python train.py     iterations are NVTX ranges\n"
    "  hypermile run --json --quiet -- ./train > log    the last line of log is JSON\n",
    run_run,
    /*runs_command=*/true,
};

}  // namespace hypermile
