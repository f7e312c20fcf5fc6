// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_joint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/simulate_output.h"
#include "policy/objective.h"
#include "record/event_log.h"
#include "trial/joint_run.h"

namespace hypermile {
namespace {

constexpr long long kMostJointGpus = 64;

struct JointRun {
  const JointJob& job;
  const JointOutcome& outcome;
  const JointOutcome& base;
};

std::vector<std::string> texts(const std::vector<Setting>& settings) {
  std::vector<std::string> result;
  for (const Setting& setting : settings) result.push_back(to_string(setting));
  return result;
}

nlohmann::json run_json(const JointRun& run) {
  const JointChange whole = change(run.outcome.job, run.base.job);
  const JointChange late = change(run.outcome.late, run.base.late);
  const std::optional<double> bound = effective_bound(run.job.job.objective);
  nlohmann::json j = {{"gpu", run.job.job.sheet.key},
                      {"gpus", run.job.gpus},
                      {"workload", run.job.job.workload.key},
                      {"policy", run.outcome.policy},
                      {"seed", run.job.job.seed},
                      {"run", run.job.run},
                      {"slack", run.job.slack},
                      {"imbalance", run.job.imbalance},
                      {"recalled", run.outcome.recalled},
                      {"saved_pct", 100 * whole.saved},
                      {"slowdown_pct", 100 * whole.slowdown},
                      {"late_saved_pct", 100 * late.saved},
                      {"late_slowdown_pct", 100 * late.slowdown},
                      {"violated", bound && whole.slowdown > *bound},
                      {"windows", run.outcome.control.windows},
                      {"unusable_windows", run.outcome.control.unusable},
                      {"setting_changes", run.outcome.control.setting_changes},
                      {"drifts", run.outcome.control.drifts},
                      {"restored", run.outcome.control.restored}};
  if (const PhaseControl* training = run.outcome.training()) {
    j["kept"] = training->shares.empty() ? to_string(training->kept) : to_string(training->shares);
    j["kept_each"] = texts(training->kept_each);
    j["held"] = training->held;
    j["probes"] = training->probes;
    if (training->settled_after) j["settled_after_s"] = training->settled_after->value();
  }
  return j;
}

std::string run_line(const JointRun& run) {
  const JointChange whole = change(run.outcome.job, run.base.job);
  const JointChange late = change(run.outcome.late, run.base.late);
  const PhaseControl* training = run.outcome.training();
  std::string kept = "-";
  if (training != nullptr) {
    kept = training->kept_each.empty()
               ? (training->shares.empty() ? to_string(training->kept)
                                           : to_string(training->shares, 2))
               : fmt::format("{}", fmt::join(texts(training->kept_each), ", "));
  }
  return fmt::format("{:<16} {:<12} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}  {}\n",
                     run.job.job.workload.key, run.outcome.policy, 100 * whole.saved,
                     100 * whole.slowdown, 100 * late.saved, 100 * late.slowdown, kept);
}

// The cache that --cache names, and the file system that it lives on.
struct OpenCache {
  std::unique_ptr<Files> files;
  std::unique_ptr<JobCache> cache;
};
Result<OpenCache> open_cache(const OptionValues& values, CommandContext& context) {
  OpenCache open;
  std::string path = values.text("cache");
  if (path == "no") return open;
  if (path == "default") {
    ASSIGN_OR_RETURN(path, default_cache_file());
  }
  open.files = make_real_files();
  open.cache = std::make_unique<JobCache>(*open.files, path);
  if (!open.cache->note().empty()) context.err << open.cache->note() << "\n";
  return open;
}

Result<JointOutcome> play(const JointJob& job, const std::string& policy,
                          const OptionValues& values, CommandContext& context) {
  std::unique_ptr<LineSink> sink;
  if (values.given("log")) {
    ASSIGN_OR_RETURN(sink, open_log_file(values.text("log")));
  }
  return play_joint(job, policy, std::move(sink), context.stop);
}

}  // namespace

Result<void> simulate_joint(std::span<const SimulatedJob> jobs,
                            std::span<const std::string> policies, const OptionValues& values,
                            CommandContext& context) {
  const long long gpus = values.integer("gpus");
  const long long repeat = values.given("repeat") ? values.integer("repeat") : 1;
  const double imbalance = values.number("imbalance");
  if (gpus < 1 || gpus > kMostJointGpus || imbalance >= 1) {
    return Error{ErrorCode::kUsage, "this job cannot be simulated",
                 fmt::format("give --gpus 1 to {} and an --imbalance below 100%", kMostJointGpus)};
  }
  ASSIGN_OR_RETURN(const OpenCache open, open_cache(values, context));
  nlohmann::json runs = nlohmann::json::array();
  std::size_t cut_off = 0;
  std::string table =
      fmt::format("{:<16} {:<12} {:>9} {:>9} {:>9} {:>9}  {}\n", "workload", "policy", "saved %",
                  "slower %", "late sv %", "late sl %", "kept");
  for (const SimulatedJob& each : jobs) {
    for (long long run = 0; run < std::max(1LL, repeat); ++run) {
      JointJob job{each,    static_cast<std::size_t>(gpus), imbalance, false,
                   nullptr, static_cast<std::uint64_t>(run)};
      ASSIGN_OR_RETURN(const JointOutcome base, play(job, "default", values, context));
      job.slack = !values.flag("no-slack");
      job.cache = open.cache.get();
      for (const std::string& policy : policies) {
        JointOutcome outcome;
        if (!context.stop.stop_requested()) {
          ASSIGN_OR_RETURN(outcome, play(job, policy, values, context));
        }
        if (base.interrupted || outcome.interrupted || outcome.policy.empty()) {
          ++cut_off;
          continue;
        }
        runs.push_back(run_json({job, outcome, base}));
        table += run_line({job, outcome, base});
      }
    }
  }
  if (values.flag("json")) {
    context.out << nlohmann::json{{"runs", runs}}.dump() << "\n";
  } else if (!runs.empty()) {
    context.out << fmt::format(
                       "{} GPUs of one job; late: its last third. Simulated, not measured.\n\n",
                       gpus)
                << table;
  }
  if (cut_off > 0) end_interrupted(cut_off, context);
  return {};
}

}  // namespace hypermile
