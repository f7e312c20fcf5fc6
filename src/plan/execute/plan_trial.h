// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a plan pays on its job. After some iterations at the default, the default, the
// best single setting (uniform) and the plan take turns in the order d u p p u d, so that slow
// drift cancels. Each turn is a block of whole iterations whose time and energy are measured. A
// plan that clearly loses in its first iterations is dropped at once. Pure; PlanExecution calls it
// on its own thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "measure/energy_meter.h"

namespace hypermile {

enum class PlanArm { kDefault, kUniform, kPlan };
std::string_view to_string(PlanArm arm);  // "default", "uniform", "plan"
inline constexpr std::size_t kPlanArms = 3;

struct PlanTrialOptions {
  std::size_t after_iterations = 20;   // at the default, to learn how long segments last
  std::size_t rounds = 3;              // of d u p p u d; at least 1
  Seconds block = Seconds(5);          // shortest duration of a block
  std::size_t block_iterations = 5;    // fewest iterations of a block
  Seconds settle = milliseconds(500);  // not measured after a change of arm
  double max_slowdown = 0.05;
};

// The ratio of one arm to another, over pairs of neighbouring blocks.
struct ArmRatio {
  double mean = 1;
  double half95 = 0;  // half the width of the 95 % interval
  bool below_one() const { return mean + half95 < 1; }
};

struct PlanVerdict {
  PlanArm kept = PlanArm::kDefault;
  std::string reason;
  // Means per iteration, by arm.
  std::array<double, kPlanArms> time_s = {}, energy_j = {};
  ArmRatio plan_energy, uniform_energy;  // relative to the default
  ArmRatio plan_to_uniform;              // ratio of energies
  ArmRatio plan_time, uniform_time;      // relative to the default
};

class PlanTrial {
 public:
  explicit PlanTrial(const PlanTrialOptions& options);

  // The arm that shall run now; after over(), the arm that the verdict keeps.
  PlanArm arm() const;
  bool over() const { return verdict_.has_value(); }
  const std::optional<PlanVerdict>& verdict() const { return verdict_; }
  // Whether a block is being measured, so that samples are needed.
  bool measuring() const { return begin_.has_value(); }
  // The number of blocks measured so far, and in total.
  std::size_t blocks() const { return blocks_.size(); }
  std::size_t all_blocks() const;

  // Reports that an iteration begins at `at`.
  void iteration(Instant at);
  void add(const Sample& sample);

 private:
  struct Block {
    double time_s = 0;
    double energy_j = 0;
  };

  void begin_block(Instant at);
  void end_block(Instant at);
  void judge();
  // Drops the plan where its first `iterations_` until `at` took clearly more time than the bound
  // allows, or clearly more energy than the default.
  void drop_if_losing(Instant at);
  std::vector<double> ratios(double Block::*of, PlanArm arm, PlanArm to) const;

  PlanTrialOptions options_;
  std::size_t learned_ = 0;
  std::optional<Instant> settled_;  // when the next block may begin
  std::optional<Instant> begin_;    // the beginning of the block being measured
  std::size_t iterations_ = 0;      // in the block being measured
  EnergyMeter meter_;
  std::vector<Block> blocks_;
  std::optional<PlanVerdict> verdict_;
};

}  // namespace hypermile
