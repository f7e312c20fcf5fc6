// SPDX-License-Identifier: Apache-2.0
//
// `hypermile sweep --out F.csv`: measures a grid of settings and writes the table that learn,
// predict and evaluate read (docs/guide/user.md). With a command after -- or with --pid it sweeps a
// living job under a lease; with --gpu sim:NAME or replay:FILE#… a simulated or replayed one, in
// virtual time. Each window is in F.csv.journal as soon as it is measured, so the same command
// continues a sweep that was interrupted.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/whole_file.h"
#include "cli/run_options.h"
#include "cli/sweep_bar.h"
#include "cli/sweep_layers.h"
#include "gpu/gpu_name.h"
#include "run/attach_job.h"
#include "run/run_job.h"
#include "trial/sweep_run.h"
#include "trial/sweeping/sweep_table.h"

namespace hypermile {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class Sweep {
 public:
  Sweep(const CommandArguments& arguments, CommandContext& context)
      : options_(arguments.options),
        command_(arguments.positional),
        context_(context),
        bar_(context, options_.flag("quiet")) {}

  Result<void> run() {
    if (!options_.given("out")) {
      return Error{ErrorCode::kUsage, "no file was named for the table",
                   "give one: hypermile sweep --out F.csv -- python train.py"};
    }
    RETURN_IF_ERROR(read_terms());
    ASSIGN_OR_RETURN(SweepJournal journal,
                     SweepJournal::open(*files_, options_.text("out") + ".journal"));
    RETURN_IF_ERROR(refuse_foreign_table(journal));
    SweepCourse course(terms_, journal, [this](const std::string& line) { say(line); });
    RETURN_IF_ERROR(course.check());
    if (!journal.entries().empty() && !course.complete()) {
      say(fmt::format("going on with {}: {} windows are measured already", journal.path(),
                      journal.entries().size()));
    }
    const Result<void> swept = course.complete() ? Result<void>() : sweep(course, journal);
    bar_.clear();
    // What was measured is written even where the sweep failed.
    const Result<void> written = write(journal);
    if (!swept) return swept.error();
    if (!written) return written.error();
    return conclude(SweepCourse(terms_, journal, {}));
  }

 private:
  Result<void> read_terms() {
    ASSIGN_OR_RETURN(terms_.grid, SweepGrid::parse(options_.text("grid")));
    if (options_.given("gpu")) {
      terms_.gpu = options_.text("gpu");
      ASSIGN_OR_RETURN(gpu_, parse_gpu_name(terms_.gpu));
    }
    terms_.warm_up = options_.duration("warm-up");
    terms_.settle = options_.duration("settle");
    if (options_.given("window")) terms_.window = options_.duration("window");
    terms_.seed = static_cast<std::uint64_t>(options_.integer("seed"));
    const bool living = !command_.empty() || options_.given("pid");
    if (!living && !in_virtual_time()) {
      return Error{ErrorCode::kUsage, "no job was given",
                   "put its command after --, name one that runs with --pid, or sweep a simulated "
                   "GPU with --gpu sim:NAME --workload W"};
    }
    if (living && in_virtual_time()) {
      return Error{ErrorCode::kUsage, fmt::format("{} cannot run a command", terms_.gpu),
                   "leave the command out, or name a GPU of this machine"};
    }
    if (options_.given("name")) {
      terms_.workload = options_.text("name");
    } else if (!command_.empty()) {
      terms_.workload = joined(command_);
    } else if (options_.given("pid")) {
      terms_.workload = "pid " + options_.text("pid");
    } else {
      terms_.workload = simulated() ? options_.text("workload") : terms_.gpu;
    }
    return {};
  }

  bool simulated() const { return gpu_ && std::holds_alternative<SimulatedGpu>(*gpu_); }
  bool replayed() const { return gpu_ && std::holds_alternative<ReplayedGpu>(*gpu_); }
  bool in_virtual_time() const { return simulated() || replayed(); }

  // A table without a journal was not made by sweep: it is somebody's data.
  Result<void> refuse_foreign_table(const SweepJournal& journal) const {
    const std::string& path = options_.text("out");
    std::error_code ignored;
    if (journal.header() || !std::filesystem::exists(path, ignored)) return {};
    return Error{ErrorCode::kUsage, fmt::format("{} exists already, without its journal", path),
                 "give --out another name, or move the file away"};
  }

  Result<void> sweep(SweepCourse& course, SweepJournal& journal) {
    if (simulated()) return sweep_simulated_gpu(journal);
    if (replayed()) return sweep_replayed_gpu(journal);
    return sweep_living(course);
  }

  SweepHearers hearers() {
    return {[this](const std::string& line) { say(line); },
            [this](const SweepProgress& progress) { bar_.show(progress); }};
  }

  Result<void> sweep_simulated_gpu(SweepJournal& journal) {
    SimulatedJob job;
    ASSIGN_OR_RETURN(job.sheet, load_gpu_sheet(std::get<SimulatedGpu>(*gpu_).model));
    const std::vector<std::string> keys = options_.list("workload");
    if (keys.size() != 1) {
      return Error{ErrorCode::kUsage, "a sweep measures one job",
                   "name one with --workload, and give each job a file of its own"};
    }
    ASSIGN_OR_RETURN(job.workload, load_workload(keys.front()));
    const double scale = options_.number("effects");
    job.effects = {.thermal_memory = scale,
                   .limiter_hunting = scale,
                   .two_level_times = scale,
                   .clock_stretching = scale};
    job.counters = options_.flag("counters");
    return sweep_simulated(job, terms_, journal, hearers(), context_.stop);
  }

  Result<void> sweep_replayed_gpu(SweepJournal& journal) {
    const auto& name = std::get<ReplayedGpu>(*gpu_);
    ASSIGN_OR_RETURN(const SweepReference reference, parse_sweep_reference(name.file));
    ASSIGN_OR_RETURN(const SweepFile file, read_sweep(reference.path));
    const CurveSet set = make_curves(file, {{}, reference.step});
    ASSIGN_OR_RETURN(const Curve* curve, find_curve(set.curves, name.curve));
    return sweep_replayed(*curve, terms_, journal, hearers(), context_.stop);
  }

  Result<void> sweep_living(SweepCourse& course) {
    RunRequest request;
    request.program = "hypermile sweep";
    request.gpu = text_if_given(options_, "gpu");
    request.nvtx_step = text_if_given(options_, "nvtx-step");
    request.control.controller = course.controller_options();
    request.control.counters = options_.flag("counters");
    request.control.sweep =
        SweepRequest{&course, [this](const SweepProgress& progress) { bar_.show(progress); },
                     options_.flag("end-job")};
    request.report = read_report_request(options_);
    request.report.show_run = false;
    request.report.say = [this](const std::string& line) { say(line); };
    ASSIGN_OR_RETURN(const JobOutcome outcome, watch_living(request));
    // A job that was measured to the end may end as it likes: our exit code is the sweep's.
    if (course.complete() || outcome.summary.end.exit_code() == 0) context_.job_end.reset();
    if (course.problem()) return *course.problem();
    if (outcome.control && outcome.control->summary.state == ControlState::kRefused) {
      return Error{ErrorCode::kPermission, "nothing was swept: " + outcome.control->summary.reason,
                   "'hypermile doctor' says how to get the right to change clocks"};
    }
    return {};
  }

  Result<JobOutcome> watch_living(RunRequest& request) {
    request.typed = {"hypermile", "sweep", "--out", options_.text("out")};
    if (options_.given("pid")) {
      request.typed.insert(request.typed.end(), {"--pid", options_.text("pid")});
      ASSIGN_OR_RETURN(const RunningJob job,
                       find_running_job(static_cast<pid_t>(options_.integer("pid"))));
      return attach_job(job, request, world_of(context_));
    }
    request.typed.emplace_back("--");
    request.typed.insert(request.typed.end(), command_.begin(), command_.end());
    ASSIGN_OR_RETURN(JobCommand job, describe_job(command_));
    FinishedRun result = run_job(std::move(job), request, world_of(context_));
    context_.job_end = result.end;
    return std::move(result.outcome);
  }

  Result<void> write(const SweepJournal& journal) {
    if (!journal.header()) return {};
    const std::string text = sweep_csv(*journal.header(), journal.entries());
    if (text.empty()) return {};
    return write_whole_file(options_.text("out"), text);
  }

  Result<void> conclude(const SweepCourse& course) {
    const SweepProgress progress = course.progress(Instant());
    if (options_.flag("json")) {
      const nlohmann::json document = {{"out", options_.text("out")},
                                       {"windows", progress.planned},
                                       {"measured", progress.done - progress.refused},
                                       {"left_out", progress.refused},
                                       {"complete", course.complete()}};
      context_.out << document.dump() << "\n";
    }
    if (!course.complete()) {
      return Error{ErrorCode::kNotReady,
                   fmt::format("{} of {} windows are measured", progress.done, progress.planned),
                   "the same command goes on from there"};
    }
    if (!options_.flag("json")) {
      context_.out << fmt::format(
          "{0}: {1} windows, {2} left out\n"
          "Next: 'hypermile evaluate {0}' judges policies on it;\n"
          "'hypermile learn' needs the sweeps of two jobs or more.\n",
          options_.text("out"), progress.planned, progress.refused);
    }
    return {};
  }

  void say(const std::string& line) { bar_.say(line); }

  const OptionValues& options_;
  const std::vector<std::string>& command_;
  CommandContext& context_;
  SweepBar bar_;
  SweepOptions terms_;
  std::optional<GpuName> gpu_;
  std::unique_ptr<Files> files_ = make_real_files();
};

Result<void> run_sweep(const CommandArguments& arguments, CommandContext& context) {
  if (arguments.options.flag("layers") && arguments.options.given("out")) {
    return sweep_layers(arguments, context);
  }
  return Sweep(arguments, context).run();
}

}  // namespace

const Command kSweepCommand = {
    "sweep",
    "measure a job over a grid of settings, for learn, predict and evaluate",
    "",
    "  hypermile sweep --out resnet.csv -- python train.py      sixteen SM clocks\n"
    "  hypermile sweep --out resnet.csv --grid sm=all,mem=all --end-job -- python train.py\n"
    "  hypermile sweep --out running.csv --pid 4242             a job that hypermile started\n"
    "  hypermile sweep --out sim.csv --gpu sim:h200 --workload gpt2    in virtual time\n"
    "  hypermile sweep --out copy.csv --gpu replay:sweep.csv#V100/gemm --grid sm=all\n",
    run_sweep,
    /*runs_command=*/true,
};

}  // namespace hypermile
