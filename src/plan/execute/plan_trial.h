// SPDX-License-Identifier: Apache-2.0
//
// Whether a plan pays on the job it was made for: after some iterations at the default, the
// default, the best single Setting and the plan take turns (d u p p u d, so that slow drift
// cancels), each for a block of whole iterations whose time and energy are measured. Pure;
// PlanExecution feeds it.
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
  std::size_t rounds = 3;              // each d u p p u d; at least 1
  Seconds block = Seconds(5);          // at least so long,
  std::size_t block_iterations = 5;    // and so many iterations
  Seconds settle = milliseconds(500);  // after a change of arm, not measured
  double max_slowdown = 0.05;
};

// A ratio to another arm, over the pairs of blocks that stood next to each other.
struct ArmRatio {
  double mean = 1;
  double half95 = 0;  // half of the 95 % interval
  bool below_one() const { return mean + half95 < 1; }
};

struct PlanVerdict {
  PlanArm kept = PlanArm::kDefault;
  std::string reason;
  // Means per iteration, by arm.
  std::array<double, kPlanArms> time_s = {}, energy_j = {};
  ArmRatio plan_energy, uniform_energy;  // to the default
  ArmRatio plan_to_uniform;              // energy
  ArmRatio plan_time, uniform_time;      // to the default
};

class PlanTrial {
 public:
  explicit PlanTrial(const PlanTrialOptions& options);

  // What is to run now; once over() what the verdict keeps.
  PlanArm arm() const;
  bool over() const { return verdict_.has_value(); }
  const std::optional<PlanVerdict>& verdict() const { return verdict_; }
  // Whether sensors matter now.
  bool measuring() const { return begin_.has_value(); }
  // Blocks measured, of all that there will be.
  std::size_t blocks() const { return blocks_.size(); }
  std::size_t all_blocks() const;

  // An iteration begins at `at`.
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
  std::vector<double> ratios(double Block::*of, PlanArm arm, PlanArm to) const;

  PlanTrialOptions options_;
  std::size_t learned_ = 0;
  std::optional<Instant> settled_;  // when the block may begin
  std::optional<Instant> begin_;    // of the block that is measured
  std::size_t iterations_ = 0;      // in it
  EnergyMeter meter_;
  std::vector<Block> blocks_;
  std::optional<PlanVerdict> verdict_;
};

}  // namespace hypermile
