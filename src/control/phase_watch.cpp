// SPDX-License-Identifier: Apache-2.0
#include "control/phase_watch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hypermile {
namespace {

constexpr Seconds kWatch = Seconds(3);
constexpr std::size_t kIntervals = 9;
// Of long iterations fewer must do.
constexpr Seconds kLongWatch = Seconds(30);
constexpr std::size_t kFewIntervals = 4;
// A gap between two iterations is a pause as rank_meter.cpp has it.
constexpr double kPause = 4;
constexpr Seconds kShortestPause = milliseconds(300);
constexpr std::size_t kPauses = 4;
constexpr Seconds kPauseWatch = Seconds(20);
constexpr double kClocks = 25;
constexpr double kPausesInWindow = 3.3;
constexpr Seconds kLongestWindow = Seconds(30);
constexpr std::size_t kMost = 16384;  // an endless first look needs no endless memory

}  // namespace

void PhaseWatch::add(const Boundary& boundary) {
  iteration_ += boundary.iterations;
  if (last_ && boundary.time > *last_ && host_.size() < kMost) {
    const Seconds passed = boundary.time - *last_;
    if (boundary.iterations > 0) host_.push_back(passed.value() / boundary.iterations);
    if (passed > kShortestPause) gaps_.push_back({iteration_, passed});
    watched_ += passed;
  }
  last_ = boundary.time;
  if (boundary.gpu_time && gpu_.size() < kMost) gpu_.push_back({iteration_, *boundary.gpu_time});
}

void PhaseWatch::add(const Sample& sample) {
  if (sample.sm_clock) {
    clock_sum_ += sample.sm_clock->value();
    clocks_ += 1;
  }
  if (sample.memory_clock) memory_clock_ = sample.memory_clock;
}

std::vector<double> PhaseWatch::pauses() const {
  if (host_.empty()) return {};
  std::vector<double> sorted = host_;
  std::ranges::sort(sorted);
  const double typical = sorted[sorted.size() / 2];
  std::vector<double> behind;
  for (const Timed& gap : gaps_) {
    if (gap.time.value() > kPause * typical) behind.push_back(gap.iteration);
  }
  return behind;
}

bool PhaseWatch::ready() const {
  if (host_.size() < kIntervals) return host_.size() >= kFewIntervals && watched_ >= kLongWatch;
  // Another phase may have been watched in passing: then no sensors were.
  if (watched_ < kWatch || (clocks_ < kClocks && watched_ < kPauseWatch)) return false;
  const std::size_t seen = pauses().size();
  return seen == 0 || seen >= kPauses || watched_ >= kPauseWatch;
}

// The GPU's own times where there are enough of them: a host runs ahead, and its intervals scatter
// for no reason of the job's. They stand some iterations apart, over which scatter averages out;
// that is undone.
std::vector<double> PhaseWatch::intervals() const {
  std::vector<double> each;
  double iterations = 0;
  for (std::size_t i = 1; i < gpu_.size(); ++i) {
    const double passed = gpu_[i].iteration - gpu_[i - 1].iteration;
    const double took = (gpu_[i].time - gpu_[i - 1].time).value();
    if (passed <= 0 || took <= 0) continue;
    each.push_back(took / passed);
    iterations += passed;
  }
  if (each.size() < kIntervals) return host_;
  const double apart = std::sqrt(iterations / static_cast<double>(each.size()));
  std::vector<double> sorted = each;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  for (double& one : each) one = std::max(median * 0.05, median + (one - median) * apart);
  return each;
}

// Where the job pauses every few seconds a Window holds several of the pauses, so that they belong
// to it: what they cost at a lower clock is then measured with the rest.
StepPlan PhaseWatch::plan() const {
  StepPlan plan = plan_steps(intervals());
  const std::vector<double> behind = pauses();
  if (behind.size() < kPauses) return plan;
  const double apart = (behind.back() - behind.front()) / static_cast<double>(behind.size() - 1);
  const double wanted = kPausesInWindow * apart;
  const Seconds each = watched_ / std::max(1.0, iteration_);
  if (wanted * each <= kLongestWindow) {
    plan.window_iterations = std::max(plan.window_iterations, std::ceil(wanted));
  }
  return plan;
}

Setting PhaseWatch::default_values() const {
  Setting values;
  if (clocks_ > 0) values.sm_clock = Mhz(clock_sum_ / clocks_);
  values.memory_clock = memory_clock_;
  return values;
}

}  // namespace hypermile
