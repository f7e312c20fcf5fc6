// SPDX-License-Identifier: Apache-2.0
//
// `hypermile demo`: the guided tour on a machine without a GPU. The suite's ResNet50 trains three
// times on a simulated RTX 3080 Ti in virtual time: at the default, under GPOEO's search and under
// our policy. The Controller that drives real cards carries out both policies, and sees only the
// job's launches. The table and the report (--report) come from the event log of these runs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/simulate_output.h"
#include "record/figures_text.h"
#include "record/report_page.h"
#include "trial/comparison.h"

namespace hypermile {
namespace {

constexpr const char* kGpu = "rtx3080ti";
constexpr const char* kWorkload = "resnet50";
const std::vector<std::string> kPolicies = {"default", "gpoeo", "hypermile"};
// How long a person sees each live line on a terminal.
constexpr Seconds kProbePace = milliseconds(60);  // a probe
constexpr Seconds kHoldPace = milliseconds(4);    // any other window

Result<SimulatedJob> make_job(const OptionValues& values, const Clock& clock) {
  SimulatedJob job;
  ASSIGN_OR_RETURN(job.sheet, load_gpu_sheet(kGpu));
  ASSIGN_OR_RETURN(job.workload, load_workload(kWorkload));
  job.iterations = job.workload.iterations;
  job.seed = static_cast<std::uint64_t>(values.integer("seed"));
  job.unix_time = clock.unix_time();
  job.progress = ProgressKind::kLaunches;
  return job;
}

// Fits a terminal of 80 columns: a line that wraps cannot be renewed in place.
std::string live_text(const LiveWindow& live) {
  const Window& window = live.window;
  return fmt::format("{:<9} {:>3.0f} % {} {:<24.24} {:6.1f} ms {:6.1f} W {:6.1f} J", live.policy,
                     100 * live.progress, live.exploring ? "probing" : "holding",
                     to_string(window.setting), window.time_per_iteration->value() * 1e3,
                     window.power->value(), (*window.power * *window.time_per_iteration).value());
}

// A line that shows each window while the jobs run; only on a terminal.
WindowListener live_line(CommandContext& context) {
  if (!context.terminal) return {};
  return [&context](const LiveWindow& live) {
    const Window& window = live.window;
    if (!window.usable()) return;
    context.err << "\r\033[K" << live_text(live) << std::flush;
    context.clock.sleep_for(live.exploring ? kProbePace : kHoldPace, context.stop);
  };
}

std::string closing_words(const SimulatedOutcome& ours) {
  return fmt::format(
      "\nThe whole job, search included, against the run left alone: {}\n"
      "({:.0f} kJ instead of {:.0f} kJ), {}; you allowed {:g} %.\n"
      "Simulated, not measured on this machine.\n"
      "Next: 'hypermile doctor' shows what this machine has, 'hypermile simulate\n"
      "--help' how to try other jobs, GPUs and bounds.\n",
      energy_text(*ours.job.energy_change), *ours.job.joules / 1e3, *ours.job.default_joules / 1e3,
      time_text(*ours.job.time_change), 100 * ours.bound.value_or(0));
}

Result<void> write_demo_report(const std::string& log, const OptionValues& values) {
  if (!values.given("report")) return {};
  LogTail tail("demo");
  tail.add(log);
  return write_report(tail, values.text("report"));
}

Result<void> run_demo(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& values = arguments.options;
  const bool json = values.flag("json");
  ASSIGN_OR_RETURN(const SimulatedJob job, make_job(values, context.clock));
  std::unique_ptr<LineSink> sink;
  if (values.given("log")) {
    ASSIGN_OR_RETURN(sink, open_log_file(values.text("log")));
  }
  if (!json) {
    context.out << fmt::format(
        "{} on a simulated\n{}, three times over: left alone, searched as GPOEO\n"
        "does from 86 % of the clock on, and by hypermile.\n\n",
        job.workload.title, job.sheet.name);
    context.out.flush();
  }
  ComparisonOptions options;
  options.keep_log = sink != nullptr || values.given("report");
  options.listener = live_line(context);
  ASSIGN_OR_RETURN(const Comparison comparison,
                   compare(std::span(&job, 1), kPolicies, options, context.stop));
  if (context.terminal) context.err << "\r\033[K" << std::flush;
  if (sink) RETURN_IF_ERROR(sink->write(comparison.log));
  if (comparison.cut_off > 0) {
    end_interrupted(comparison.cut_off, context);
    return {};
  }
  Result<void> reported = write_demo_report(comparison.log, values);
  if (!reported && reported.error().code == ErrorCode::kUnsupported) {
    context.err << "hypermile: no report: " << reported.error().line() << "\n";
    reported = {};
  }
  if (json) {
    context.out << comparison_json(comparison.outcomes).dump() << "\n";
    return reported;
  }
  context.out << job_table(comparison.outcomes) << closing_words(comparison.outcomes.back());
  if (std::filesystem::exists(values.text("report"))) {
    context.out << "Report, with plots and every decision: " << values.text("report") << "\n";
  }
  return reported;
}

}  // namespace

const Command kDemoCommand = {
    "demo",
    "the guided tour: a simulated GPU being driven, in seconds, no GPU needed",
    "",
    "  hypermile demo\n"
    "  hypermile demo --log demo.jsonl      keep the event log\n"
    "  hypermile demo --report demo.html    a page with plots of what happened\n"
    "  hypermile demo --json | python3 -m json.tool\n",
    run_demo,
};

}  // namespace hypermile
