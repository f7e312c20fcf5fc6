// SPDX-License-Identifier: Apache-2.0
#include "trial/comparison.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace hypermile {
namespace {

constexpr const char* kDefault = "default";

// One run as its event log has it.
struct LoggedRun {
  std::string text;  // only where the log is kept
  std::vector<Event> events;
  bool interrupted = false;
};

Result<LoggedRun> play_logged(const SimulatedJob& job, const Curve& truth,
                              const std::string& policy, const ComparisonOptions& options,
                              const std::stop_token& stop) {
  LoggedRun run;
  const auto hear = [&](const Event& event) {
    if (options.keep_log) run.text += to_json_line(event) + '\n';
    run.events.push_back(event);
  };
  ASSIGN_OR_RETURN(const PlayedRun played,
                   play(job, truth, policy, {.event = hear, .window = options.listener}, stop));
  run.interrupted = played.interrupted;
  return run;
}

Result<Comparison> compare_one(const SimulatedJob& job, std::span<const std::string> policies,
                               const ComparisonOptions& options, const std::stop_token& stop) {
  const Curve truth = truth_of(job);
  Comparison comparison;
  ASSIGN_OR_RETURN(const LoggedRun base, play_logged(job, truth, kDefault, options, stop));
  comparison.log = base.text;
  for (const std::string& policy : policies) {
    LoggedRun run;
    if (policy != kDefault && !stop.stop_requested()) {
      ASSIGN_OR_RETURN(run, play_logged(job, truth, policy, options, stop));
      comparison.log += run.text;
    }
    const LoggedRun& shown = policy == kDefault ? base : run;
    if (base.interrupted || shown.interrupted || shown.events.empty()) {
      ++comparison.cut_off;
      continue;
    }
    ASSIGN_OR_RETURN(SimulatedOutcome outcome, report_run(shown.events, base.events));
    comparison.outcomes.push_back(std::move(outcome));
  }
  return comparison;
}

}  // namespace

Result<Comparison> compare(std::span<const SimulatedJob> jobs,
                           std::span<const std::string> policies, const ComparisonOptions& options,
                           std::stop_token stop) {
  std::vector<std::optional<Result<Comparison>>> slots(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size() && !stop.stop_requested(); i = next++) {
      slots[i] = compare_one(jobs[i], policies, options, stop);
    }
  };
  const unsigned cores =
      options.threads > 0 ? options.threads : std::thread::hardware_concurrency();
  if (cores <= 1 || jobs.size() <= 1) {
    work();
  } else {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < cores; ++t) pool.emplace_back(work);
  }
  Comparison all;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!slots[i]) {
      all.cut_off += policies.size();
      continue;
    }
    if (!*slots[i]) return slots[i]->error().in(jobs[i].workload.key);
    Comparison& one = **slots[i];
    std::ranges::move(one.outcomes, std::back_inserter(all.outcomes));
    all.log += one.log;
    all.cut_off += one.cut_off;
  }
  return all;
}

}  // namespace hypermile
