// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/plan_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace hypermile {
namespace {

constexpr std::array kOrder = {PlanArm::kDefault, PlanArm::kUniform, PlanArm::kPlan,
                               PlanArm::kPlan,    PlanArm::kUniform, PlanArm::kDefault};
constexpr std::size_t kHalf = kOrder.size() / 2;
constexpr std::size_t kDropAfter = 10;  // iterations of the plan that may show that it loses
// Beyond the bound on time, or above the default's energy. Ten iterations of a loop that scatters
// by 3 % have a mean within 2 % with 95 % probability.
constexpr double kClearly = 0.02;

ArmRatio summarize_ratios(const std::vector<double>& ratios) {
  const auto count = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (const double ratio : ratios) sum += ratio;
  const double mean = sum / count;
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  return {mean, student_half_width95(count - 1) * error};
}

std::string percent(const ArmRatio& ratio) {
  return fmt::format("{:+.1f} ± {:.1f} %", 100 * (ratio.mean - 1), 100 * ratio.half95);
}

}  // namespace

std::string_view to_string(PlanArm arm) {
  switch (arm) {
    case PlanArm::kDefault:
      return "default";
    case PlanArm::kUniform:
      return "uniform";
    case PlanArm::kPlan:
      return "plan";
  }
  return "default";
}

PlanTrial::PlanTrial(const PlanTrialOptions& options) : options_(options) {
  options_.rounds = std::max<std::size_t>(options_.rounds, 1);
}

std::size_t PlanTrial::all_blocks() const {
  return options_.rounds * kOrder.size();
}

PlanArm PlanTrial::arm() const {
  if (verdict_) return verdict_->kept;
  return settled_ ? kOrder[blocks_.size() % kOrder.size()] : PlanArm::kDefault;
}

void PlanTrial::iteration(Instant at) {
  if (verdict_) return;
  if (!settled_) {
    if (++learned_ > options_.after_iterations) settled_ = at + options_.settle;
    return;
  }
  if (!begin_) {
    if (at >= *settled_) begin_block(at);
    return;
  }
  ++iterations_;
  if (arm() == PlanArm::kPlan && iterations_ >= kDropAfter) drop_if_losing(at);
  if (verdict_) return;
  if (iterations_ >= options_.block_iterations && at - *begin_ >= options_.block) end_block(at);
}

void PlanTrial::add(const Sample& sample) {
  if (begin_) meter_.add(sample);
}

void PlanTrial::begin_block(Instant at) {
  begin_ = at;
  iterations_ = 0;
  meter_ = EnergyMeter();
}

void PlanTrial::end_block(Instant at) {
  const auto power = meter_.mean_power();
  if (!power) {
    verdict_ = PlanVerdict{};
    verdict_->reason = "the GPU reports neither energy nor power, so the plan cannot be judged";
    begin_.reset();
    return;
  }
  const double time = (at - *begin_).value() / static_cast<double>(iterations_);
  const PlanArm before = arm();
  if (before == PlanArm::kPlan) drop_if_losing(at);
  if (verdict_) return;
  blocks_.push_back({time, power->power.value() * time});
  begin_.reset();
  if (blocks_.size() == all_blocks()) return judge();
  settled_ = arm() == before ? at : at + options_.settle;
}

void PlanTrial::drop_if_losing(Instant at) {
  const Block& normal = blocks_.front();  // every round begins with the default
  const double time = (at - *begin_).value() / static_cast<double>(iterations_) / normal.time_s;
  const auto power = meter_.mean_power();
  const double energy = power ? power->power.value() * time * normal.time_s / normal.energy_j : 0;
  const bool slow = time > 1 + options_.max_slowdown + kClearly;
  if (!slow && energy <= 1 + kClearly) return;
  PlanVerdict v;
  const auto arm = static_cast<std::size_t>(PlanArm::kPlan);
  v.time_s = {normal.time_s, 0, 0};
  v.energy_j = {normal.energy_j, 0, 0};
  v.time_s[arm] = time * normal.time_s;
  v.energy_j[arm] = energy * normal.energy_j;
  v.plan_time = {time, kClearly};
  if (power) v.plan_energy = {energy, kClearly};
  v.reason =
      fmt::format("default is kept: {} iterations of the plan took {:+.1f} % {} of the default",
                  iterations_, 100 * ((slow ? time : energy) - 1), slow ? "time" : "energy");
  verdict_ = std::move(v);
  begin_.reset();
}

// Each half of a round has one block of every arm. These blocks are close in time and form pairs.
std::vector<double> PlanTrial::ratios(double Block::*of, PlanArm arm, PlanArm to) const {
  std::vector<double> values;
  for (std::size_t half = 0; half * kHalf < blocks_.size(); ++half) {
    double above = 0, below = 1;
    for (std::size_t i = half * kHalf; i < (half + 1) * kHalf; ++i) {
      const PlanArm its = kOrder[i % kOrder.size()];
      if (its == arm) above = blocks_[i].*of;
      if (its == to) below = blocks_[i].*of;
    }
    values.push_back(above / below);
  }
  return values;
}

void PlanTrial::judge() {
  PlanVerdict v;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto arm = static_cast<std::size_t>(kOrder[i % kOrder.size()]);
    const double share = static_cast<double>(kPlanArms) / static_cast<double>(blocks_.size());
    v.time_s[arm] += share * blocks_[i].time_s;
    v.energy_j[arm] += share * blocks_[i].energy_j;
  }
  const auto ratio = [this](double Block::*of, PlanArm arm, PlanArm to) {
    return summarize_ratios(ratios(of, arm, to));
  };
  v.plan_energy = ratio(&Block::energy_j, PlanArm::kPlan, PlanArm::kDefault);
  v.uniform_energy = ratio(&Block::energy_j, PlanArm::kUniform, PlanArm::kDefault);
  v.plan_to_uniform = ratio(&Block::energy_j, PlanArm::kPlan, PlanArm::kUniform);
  v.plan_time = ratio(&Block::time_s, PlanArm::kPlan, PlanArm::kDefault);
  v.uniform_time = ratio(&Block::time_s, PlanArm::kUniform, PlanArm::kDefault);
  const double most = 1 + options_.max_slowdown;
  const bool uniform_pays = v.uniform_energy.below_one() && v.uniform_time.mean <= most;
  const bool plan_pays = v.plan_energy.below_one() && v.plan_time.mean <= most;
  const bool plan_is_better = v.plan_to_uniform.below_one() || v.uniform_time.mean > most;
  if (plan_pays && plan_is_better) {
    v.kept = PlanArm::kPlan;
  } else if (uniform_pays) {
    v.kept = PlanArm::kUniform;
  }
  v.reason = fmt::format(
      "{} is kept: against the default, energy {} (plan) and {} (uniform), time {} and {}; energy "
      "of "
      "the plan against uniform {}",
      to_string(v.kept), percent(v.plan_energy), percent(v.uniform_energy), percent(v.plan_time),
      percent(v.uniform_time), percent(v.plan_to_uniform));
  verdict_ = std::move(v);
}

}  // namespace hypermile
