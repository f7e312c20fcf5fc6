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
constexpr std::size_t kMost = 4096;  // an endless first look needs no endless memory

}  // namespace

void PhaseWatch::add(const Boundary& boundary, bool fresh) {
  if (fresh) {
    last_.reset();
    gpu_.clear();
  }
  iteration_ += boundary.iterations;
  if (last_ && boundary.iterations > 0 && boundary.time > *last_ && host_.size() < kMost) {
    const Seconds passed = boundary.time - *last_;
    host_.push_back(passed.value() / boundary.iterations);
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

bool PhaseWatch::ready() const {
  if (host_.size() >= kIntervals) return watched_ >= kWatch;
  return host_.size() >= kFewIntervals && watched_ >= kLongWatch;
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

StepPlan PhaseWatch::plan() const {
  return plan_steps(intervals());
}

Setting PhaseWatch::default_values() const {
  Setting values;
  if (clocks_ > 0) values.sm_clock = Mhz(clock_sum_ / clocks_);
  values.memory_clock = memory_clock_;
  return values;
}

}  // namespace hypermile
