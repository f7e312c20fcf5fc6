// SPDX-License-Identifier: Apache-2.0
//
// `hypermile simulate`: simulated training jobs on a simulated GPU under any policies, in virtual
// time. Prints what the event log of the runs says. --gpus hands over to simulate_joint.h;
// --realtime and --status, which use the NVML stand-in, to simulate_realtime.h.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/judging_options.h"
#include "cli/simulate_joint.h"
#include "cli/simulate_output.h"
#include "cli/simulate_realtime.h"
#include "gpu/gpu_name.h"
#include "run/phase_prediction.h"
#include "trial/comparison.h"

namespace hypermile {
namespace {

constexpr const char* kUsualGpu = "sim:rtx3080ti";

Result<GpuSheet> read_simulated_sheet(const OptionValues& values) {
  const std::string text = values.given("gpu") ? values.text("gpu") : kUsualGpu;
  ASSIGN_OR_RETURN(const GpuName name, parse_gpu_name(text));
  const auto* simulated = std::get_if<SimulatedGpu>(&name);
  if (simulated == nullptr) {
    return Error{ErrorCode::kUsage, fmt::format("--gpu: '{}' is no simulated GPU", text),
                 fmt::format("give sim:NAME, for example {}", kUsualGpu)};
  }
  return load_gpu_sheet(simulated->model);
}

// Every effect that no policy models, at `scale`: 1 is as on real cards, 0 is off.
Effects scaled_effects(double scale) {
  return {.thermal_memory = scale,
          .limiter_hunting = scale,
          .two_level_times = scale,
          .clock_stretching = scale};
}

Result<ProgressKind> read_progress(const OptionValues& values) {
  const std::string text = values.text("progress");
  if (text == "ticks") return ProgressKind::kTicks;
  if (text == "launches") return ProgressKind::kLaunches;
  return Error{ErrorCode::kUsage, fmt::format("--progress: '{}' is no way to see progress", text),
               "give ticks or launches"};
}

Result<SimulatedJob> make_job(const SimulatedJob& common, const std::string& key,
                              const OptionValues& values) {
  SimulatedJob job = common;
  ASSIGN_OR_RETURN(job.workload, load_workload(key));
  job.iterations = values.given("iterations")
                       ? static_cast<std::uint64_t>(values.integer("iterations"))
                       : job.workload.iterations;
  if (job.iterations > 0) return job;
  return Error{ErrorCode::kUsage, fmt::format("{} has no length of its own", key),
               "give it one with --iterations"};
}

Result<std::vector<SimulatedJob>> read_jobs(const OptionValues& values, const Clock& clock) {
  SimulatedJob common;
  ASSIGN_OR_RETURN(common.sheet, read_simulated_sheet(values));
  ASSIGN_OR_RETURN(common.objective, read_objective(values));
  ASSIGN_OR_RETURN(common.progress, read_progress(values));
  common.guard = values.flag("guard");
  common.steady = values.flag("steady");
  ASSIGN_OR_RETURN(const std::vector<Knob> knobs, read_knobs(values));
  if (!knobs.empty()) common.knobs = knobs;
  common.seed = static_cast<std::uint64_t>(values.integer("seed"));
  common.effects = scaled_effects(values.number("effects"));
  common.counters = values.flag("counters");
  if (values.given("model")) {
    ASSIGN_OR_RETURN(common.predict, predict_by_model(values.text("model")));
  }
  common.unix_time = clock.unix_time();
  std::vector<SimulatedJob> jobs;
  for (const std::string& name : values.list("workload")) {
    for (const std::string& key : workloads_named(name)) {
      ASSIGN_OR_RETURN(SimulatedJob job, make_job(common, key, values));
      jobs.push_back(std::move(job));
    }
  }
  if (!jobs.empty()) return jobs;
  return Error{ErrorCode::kNotFound, "there are no workload files",
               "set HYPERMILE_DATA to the folder that holds hypermile's data"};
}

Result<void> keep_log(const OptionValues& values, const std::string& log) {
  ASSIGN_OR_RETURN(const auto sink, open_log_file(values.text("log")));
  return sink->write(log);
}

void show(const SimulatedJob& job, std::span<const SimulatedOutcome> outcomes,
          CommandContext& context) {
  context.out << fmt::format(
      "{} on a simulated {},\n{} iterations, seed {}\n"
      "Simulated, not measured; the figures come from the runs' event log.\n\n{}",
      job.workload.title, job.sheet.name, job.iterations, job.seed, job_table(outcomes));
}

Result<void> run_simulate(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& values = arguments.options;
  if (wants_stand_in(values)) return use_stand_in(values, context);
  ASSIGN_OR_RETURN(const std::vector<SimulatedJob> jobs, read_jobs(values, context.clock));
  std::vector<std::string> policies = read_policies(values);
  if (values.given("gpus")) return simulate_joint(jobs, policies, values, context);
  // A person compares the other policies with the default.
  if (!values.flag("json") && std::ranges::find(policies, "default") == policies.end()) {
    policies.insert(policies.begin(), "default");
  }
  // A log that cannot be written is reported before the work, not after it.
  if (values.given("log")) RETURN_IF_ERROR(keep_log(values, ""));
  ComparisonOptions options;
  options.keep_log = values.given("log");
  ASSIGN_OR_RETURN(const Comparison comparison, compare(jobs, policies, options, context.stop));
  if (options.keep_log) RETURN_IF_ERROR(keep_log(values, comparison.log));
  if (values.flag("json")) {
    context.out << comparison_json(comparison.outcomes).dump() << "\n";
  } else if (comparison.outcomes.empty()) {
    // interrupted before anything was complete
  } else if (jobs.size() == 1) {
    show(jobs.front(), comparison.outcomes, context);
  } else {
    context.out << "Simulated, not measured.\n\n" << suite_table(comparison.outcomes);
  }
  if (comparison.cut_off > 0) end_interrupted(comparison.cut_off, context);
  return {};
}

}  // namespace

const Command kSimulateCommand = {
    "simulate",
    "run simulated training jobs on a simulated GPU under any policies, in virtual time",
    "",
    "  hypermile simulate --gpu sim:rtx3080ti --workload resnet50 --policy hypermile,gpoeo,oracle\n"
    "  hypermile simulate --gpu sim:h200 --workload bert_base --max-slowdown 2% --log run.jsonl\n"
    "  hypermile simulate --workload all --policy hypermile --effects 2 --json\n"
    "  hypermile simulate --workload paper --policy gpoeo-published,gpoeo --model model.json\n"
    "  hypermile simulate --workload field --progress launches    jobs as they were met in the "
    "field\n"
    "  hypermile simulate --gpus 4 --imbalance 10% --workload gpt2      one job on four cards\n"
    "  hypermile simulate --realtime --seconds 30s --gpu 0    a job on the NVML stand-in\n"
    "  hypermile simulate --realtime --ranks 4 --seconds 30s  a job on four of its GPUs\n"
    "  hypermile simulate --status --json                    what the stand-in is set to\n",
    run_simulate,
};

}  // namespace hypermile
