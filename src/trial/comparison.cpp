// SPDX-License-Identifier: Apache-2.0
#include "trial/comparison.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace hypermile {
namespace {

constexpr const char* kDefault = "default";

class TextSink final : public LineSink {
 public:
  explicit TextSink(std::string& text) : text_(text) {}
  Result<void> write(std::string_view text) override {
    text_ += text;
    return {};
  }
  Result<void> sync() override { return {}; }

 private:
  std::string& text_;
};

// The log of one run, as text and as events.
struct PlayedRun {
  std::string text;
  std::vector<Event> events;
};

Result<PlayedRun> play_logged(const SimulatedJob& job, const Curve& truth,
                              const std::string& policy, const ComparisonOptions& options,
                              const std::stop_token& stop) {
  PlayedRun run;
  RETURN_IF_ERROR(
      play(job, truth, policy, std::make_unique<TextSink>(run.text), options.listener, stop));
  ASSIGN_OR_RETURN(run.events, parse_events(run.text));
  return run;
}

Result<Comparison> compare_one(const SimulatedJob& job, std::span<const std::string> policies,
                               const ComparisonOptions& options, const std::stop_token& stop) {
  const Curve truth = truth_of(job);
  Comparison comparison;
  ASSIGN_OR_RETURN(const PlayedRun base, play_logged(job, truth, kDefault, options, stop));
  if (options.keep_log) comparison.log = base.text;
  for (const std::string& policy : policies) {
    PlayedRun run;
    if (policy != kDefault) {
      ASSIGN_OR_RETURN(run, play_logged(job, truth, policy, options, stop));
    }
    const PlayedRun& shown = policy == kDefault ? base : run;
    ASSIGN_OR_RETURN(SimulatedOutcome outcome, report_run(shown.events, base.events));
    comparison.outcomes.push_back(std::move(outcome));
    if (options.keep_log) comparison.log += run.text;
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
    if (!slots[i]) break;  // stopped before it began
    if (!*slots[i]) return slots[i]->error().in(jobs[i].workload.key);
    Comparison& one = **slots[i];
    std::ranges::move(one.outcomes, std::back_inserter(all.outcomes));
    all.log += one.log;
  }
  return all;
}

}  // namespace hypermile
