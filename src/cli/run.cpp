// SPDX-License-Identifier: Apache-2.0
//
// `hypermile run --observe -- CMD`: starts the job as the shell would, watches it from beside, and
// at its end says what an iteration took and cost. Changes nothing on any GPU. The job's exit code,
// signals, terminal and output are its own; whatever is missing on our side (library, driver, GPU)
// is said in one line and the job runs all the same.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/live_line.h"
#include "cli/run_gpus.h"
#include "cli/stop_signals.h"
#include "job/injection.h"
#include "job/job.h"
#include "job/job_cupti.h"
#include "job/job_watch.h"
#include "observe/session.h"
#include "record/environment.h"

namespace hypermile {
namespace {

Error usage(std::string message, std::string remedy) {
  return Error{ErrorCode::kUsage, std::move(message), std::move(remedy)};
}

class Run {
 public:
  Run(const CommandArguments& arguments, CommandContext& context)
      : options_(arguments.options), command_(arguments.positional), context_(context) {}

  Result<void> run() {
    RETURN_IF_ERROR(check());
    ASSIGN_OR_RETURN(const std::optional<JobUser> user, find_user());
    if (options_.given("log")) RETURN_IF_ERROR(open_log());
    JobCommand job;
    job.arguments = command_;
    job.user = user;
    job.environment = Environment::from(environ);
    if (user) become(*user, job.environment);
    std::optional<RingFolder> folder = prepare(user, job.environment);
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
    RunSummary summary = folder ? observe(*folder, watch, job.environment) : RunSummary();
    summary.command = command_;
    summary.end = watch.wait();
    summary.duration = context_.clock.now() - begin;
    context_.job_end = summary.end;
    return report(summary);
  }

 private:
  Result<void> check() const {
    if (command_.empty()) {
      return usage("no command was given",
                   "put it after --: hypermile run --observe -- python train.py");
    }
    if (!options_.flag("observe")) {
      return usage("run can only observe so far: it does not change clocks yet",
                   "add --observe: hypermile run --observe -- " + command_.front());
    }
    return {};
  }

  static Result<std::optional<JobUser>> find_user() {
    return invoking_user(::geteuid(), Environment::from(environ));
  }

  Result<void> open_log() {
    ASSIGN_OR_RETURN(auto sink, open_log_file(options_.text("log")));
    log_ = std::make_unique<EventLog>(std::move(sink), context_.clock);
    std::vector<std::string> typed = {"hypermile", "run", "--observe", "--"};
    typed.insert(typed.end(), command_.begin(), command_.end());
    append(describe_run(context_.clock, std::move(typed), {}));
    return {};
  }

  // Everything that makes the job visible to us; nullopt where nothing can, which is said.
  std::optional<RingFolder> prepare(const std::optional<JobUser>& user, Environment& environment) {
    Result<RingFolder> folder = make_ring_folder(user);
    if (!folder) {
      say(folder.error().line() + "; the job runs unobserved");
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
      say(library.error().line() + "; only ticks can be heard");
    }
    for (const std::string& note : inject(injection, environment)) say(note);
    return std::move(folder).value();
  }

  // Under sudo the folder belongs to the job's user, as its rings will.
  static Result<RingFolder> make_ring_folder(const std::optional<JobUser>& user) {
    return user ? RingFolder::make_for(user->uid, user->gid) : RingFolder::make();
  }

  RunSummary observe(RingFolder& folder, JobWatch& watch, const Environment& environment) {
    RunGpus gpus(options_, environment, context_.clock);
    LiveLine live(context_, options_.flag("quiet"), options_.flag("live"));
    SessionParts parts{.clock = context_.clock,
                       .folder = folder,
                       .open_gpu = gpus.opener(),
                       .visible_devices = gpus.visible_devices(),
                       .log = log_.get(),
                       .warn =
                           [this, &live](const std::string& line) {
                             live.clear();
                             say(line);
                           },
                       .show = live.wanted() ? live.shower() : nullptr};
    SessionOptions session_options;
    session_options.only_gpu = gpus.only();
    Session session(std::move(parts), session_options);
    session.run(watch.ended());
    live.clear();
    return session.summary();
  }

  Result<void> report(const RunSummary& summary) {
    append(RunEnd{summary.end.exit_code(), "the job ended", totals(summary)});
    const nlohmann::json document = to_json(summary);
    if (options_.given("summary")) {
      std::ofstream file(options_.text("summary"));
      file << document.dump(1) << "\n";
      if (!file.flush()) say(options_.text("summary") + ": cannot be written");
    }
    if (options_.flag("json")) {
      context_.out << document.dump() << std::endl;
    } else if (!options_.flag("quiet")) {
      context_.err << to_text(summary) << std::flush;
    }
    return {};
  }

  static std::map<std::string, double> totals(const RunSummary& summary) {
    std::map<std::string, double> totals = {{"seconds", summary.duration.value()}};
    for (const GpuReport& gpu : summary.gpus) {
      if (gpu.energy) totals["joules"] += gpu.energy->value();
    }
    if (!summary.processes.empty()) {
      for (const PhaseReport& phase : summary.processes.front().phases) {
        totals["iterations"] += phase.iterations;
      }
    }
    return totals;
  }

  void append(EventBody body) {
    if (!log_) return;
    if (const Result<void> written = log_->append(std::move(body)); !written) {
      say(written.error().line());
    }
  }

  void say(const std::string& line) { context_.err << "hypermile: " << line << std::endl; }

  const OptionValues& options_;
  const std::vector<std::string>& command_;
  CommandContext& context_;
  std::unique_ptr<EventLog> log_;
};

Result<void> run_run(const CommandArguments& arguments, CommandContext& context) {
  return Run(arguments, context).run();
}

}  // namespace

const Command kRunCommand = {
    "run",
    "run a job and watch it: time and joules per iteration, phases",
    "",
    "  hypermile run --observe -- python train.py       changes nothing; a summary on stderr at "
    "the end\n"
    "  hypermile run --observe --log run.jsonl --summary run.json -- python train.py\n"
    "  hypermile run --observe --nvtx-step step -- python train.py     iterations are NVTX ranges\n"
    "  hypermile run --observe --json --quiet -- ./train > log         the last line of log is "
    "JSON\n",
    run_run,
    /*runs_command=*/true,
};

}  // namespace hypermile
