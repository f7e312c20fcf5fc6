// SPDX-License-Identifier: Apache-2.0
#include "plan/strategies.h"

#include <algorithm>
#include <array>

namespace hypermile {
namespace {

Assignment keep_default(const StrategyInput& input) {
  return Assignment(input.stages.size(), 0);
}

Assignment uniform(const StrategyInput& input) {
  const auto best = static_cast<std::uint32_t>(best_uniform(input.problem));
  return Assignment(input.stages.size(), best);
}

// For each stage, the choice of least energy whose time is at most `bound` times the default's.
Assignment least_energy(const StrategyInput& input, double bound) {
  Assignment assignment(input.stages.size(), 0);
  for (std::size_t i = 0; i < input.stages.size(); ++i) {
    const double limit = bound * input.table.at(i, 0).time_s;
    for (std::uint32_t c = 1; c < input.table.choices.size(); ++c) {
      const StageCost& cost = input.table.at(i, c);
      if (cost.time_s > limit) continue;
      if (cost.energy_j < input.table.at(i, assignment[i]).energy_j) assignment[i] = c;
    }
  }
  return assignment;
}

Assignment exhaustive(const StrategyInput& input) {
  return least_energy(input, 1e30);
}

Assignment exhaustive_bounded(const StrategyInput& input) {
  return least_energy(input, 1 + input.max_slowdown);
}

// The SM clock above which the SMs can use the whole memory bandwidth.
Mhz bandwidth_knee(const Rates& rates) {
  return rates.bandwidth_points == 0 ? Mhz(0) : rates.bandwidth_at[rates.bandwidth_points - 1].sm;
}

std::uint32_t choice_at(const CostTable& table, Mhz memory, Mhz sm_at_least) {
  std::uint32_t best = 0;
  for (std::uint32_t c = 0; c < table.choices.size(); ++c) {
    const Choice& choice = table.choices[c];
    if (choice.memory != memory || choice.sm < sm_at_least) continue;
    if (table.choices[best].memory != memory || choice.sm < table.choices[best].sm) best = c;
  }
  return best;
}

// The choice at this memory clock that leaves the SM clock to the driver.
std::uint32_t open_choice(const CostTable& table, Mhz memory) {
  for (std::uint32_t c = 0; c < table.choices.size(); ++c) {
    if (table.choices[c].memory == memory && !table.choices[c].setting.sm_clock) return c;
  }
  return 0;
}

// Whether memory at this clock would slow a compute-bound stage down: the traffic of its kernels,
// the framework's included, takes more than half as long as their operations.
bool binds(const StrategyInput& input, const PlanStage& stage, const Choice& choice) {
  double bytes = 0;
  for (const Kernel& kernel : stage.kernels) bytes += kernel.bytes;
  const double needed = ridge(input.sheet, input.precision, choice.sm, choice.memory);
  return stage.flops < 2 * needed * bytes;
}

// Decides by arithmetic intensity alone, and looks at neither time nor energy.
Assignment intensity(const StrategyInput& input) {
  const Mhz knee = bandwidth_knee(input.sheet.constants.rates);
  const Choice& normal = input.table.choices.front();
  const std::uint32_t lower_sm = choice_at(input.table, normal.memory, knee);
  Assignment assignment;
  for (const PlanStage& stage : input.stages) {
    if (memory_bound(input.sheet, stage, input.precision, normal)) {
      assignment.push_back(lower_sm);
      continue;
    }
    std::uint32_t lowest = 0;
    for (const Choice& choice : input.table.choices) {
      if (choice.setting.sm_clock || choice.memory >= input.table.choices[lowest].memory) continue;
      if (binds(input, stage, choice)) continue;
      lowest = open_choice(input.table, choice.memory);
    }
    assignment.push_back(lowest);
  }
  return assignment;
}

// The parts of an iteration that get a setting each. What is computed again for the backward pass
// belongs to it.
constexpr std::size_t kPhases = 4;
constexpr std::size_t kFew = 16;
std::size_t phase_of(const PlanStage& stage) {
  switch (stage.phase) {
    case PlanPhase::kForward:
      return 0;
    case PlanPhase::kBackward:
    case PlanPhase::kRecompute:
      return 1;
    case PlanPhase::kOptimizer:
      return 2;
    case PlanPhase::kCommunication:
      return 3;
  }
  return 0;
}

struct PhaseOption {
  StageCost cost;
  std::uint32_t choice = 0;
};

// The choices of a phase that no other choice beats in time and energy.
std::vector<PhaseOption> phase_options(const StrategyInput& input, std::size_t phase) {
  std::vector<PhaseOption> all(input.table.choices.size());
  for (std::uint32_t c = 0; c < all.size(); ++c) {
    all[c].choice = c;
    for (std::size_t i = 0; i < input.stages.size(); ++i) {
      if (phase_of(input.stages[i]) != phase) continue;
      all[c].cost.time_s += input.table.at(i, c).time_s;
      all[c].cost.energy_j += input.table.at(i, c).energy_j;
    }
  }
  std::ranges::stable_sort(all, {}, [](const PhaseOption& o) { return o.cost.time_s; });
  std::vector<PhaseOption> kept;
  for (const PhaseOption& option : all) {
    if (kept.empty() || option.cost.energy_j < kept.back().cost.energy_j) kept.push_back(option);
  }
  return kept;
}

// Looks for one choice each for forward, backward, optimizer and communication, where changes are
// not too close together.
class PhaseSearch {
 public:
  explicit PhaseSearch(const StrategyInput& input) : input_(input), best_(uniform(input)) {
    least_ = evaluate(input.problem, best_)->energy_j;
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
      options_[phase] = phase_options(input, phase);
    }
    // With communication there is one more phase, and so many more combinations.
    if (options_[3].size() > 1) {
      thin_out(options_[2]);
      thin_out(options_[3]);
    }
  }

  Assignment find() {
    for (const PhaseOption& f : options_[0]) {
      for (const PhaseOption& b : options_[1]) {
        // The optimizer is short, so it may also share the choice of the backward pass, and so may
        // the communication between them.
        if (f.cost.energy_j + b.cost.energy_j >= least_ ||
            f.cost.time_s + b.cost.time_s > input_.problem.time_limit_s) {
          continue;
        }
        offer({f.choice, b.choice, b.choice, b.choice});
        for (const PhaseOption& o : options_[2]) {
          for (const PhaseOption& c : options_[3]) {
            const double energy =
                f.cost.energy_j + b.cost.energy_j + o.cost.energy_j + c.cost.energy_j;
            const double time = f.cost.time_s + b.cost.time_s + o.cost.time_s + c.cost.time_s;
            if (energy < least_ && time <= input_.problem.time_limit_s) {
              offer({f.choice, b.choice, o.choice, c.choice});
            }
          }
        }
      }
    }
    return std::move(best_);
  }

 private:
  // Optimizer and communication are short, so a few of their choices are enough.
  static void thin_out(std::vector<PhaseOption>& options) {
    if (options.size() <= kFew) return;
    std::vector<PhaseOption> kept;
    for (std::size_t i = 0; i < kFew; ++i) {
      kept.push_back(options[i * (options.size() - 1) / (kFew - 1)]);
    }
    options = std::move(kept);
  }

  void offer(const std::array<std::uint32_t, kPhases>& chosen) {
    Assignment assignment;
    for (const PlanStage& stage : input_.stages) assignment.push_back(chosen[phase_of(stage)]);
    const auto totals = evaluate(input_.problem, assignment);
    if (!totals || totals->time_s > input_.problem.time_limit_s || totals->energy_j >= least_) {
      return;
    }
    least_ = totals->energy_j;
    best_ = std::move(assignment);
  }

  const StrategyInput& input_;
  std::array<std::vector<PhaseOption>, kPhases> options_;
  Assignment best_;
  double least_ = 0;
};

Assignment by_phase(const StrategyInput& input) {
  return PhaseSearch(input).find();
}

// The planner's assignment, or the phases' where that needs less energy.
Assignment switch_aware(const StrategyInput& input) {
  Plan plan = make_plan(input.problem);
  Assignment phases = by_phase(input);
  const bool better = evaluate(input.problem, phases)->energy_j < plan.totals.energy_j;
  return better ? std::move(phases) : std::move(plan.choice);
}

struct Strategy {
  std::string_view name;
  Assignment (*choose)(const StrategyInput& input);
};
constexpr std::array kStrategies = {
    Strategy{"default", keep_default},     Strategy{"intensity", intensity},
    Strategy{"exhaustive", exhaustive},    Strategy{"exhaustive-bounded", exhaustive_bounded},
    Strategy{"uniform", uniform},          Strategy{"phase", by_phase},
    Strategy{"switch-aware", switch_aware}};
constexpr auto kNames = [] {
  std::array<std::string_view, kStrategies.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kStrategies[i].name;
  return names;
}();

}  // namespace

std::span<const std::string_view> strategy_names() {
  return kNames;
}

bool memory_bound(const GpuSheet& sheet, const PlanStage& stage, Precision precision,
                  const Choice& choice) {
  const bool matrix = std::ranges::any_of(stage.kernels, [](const Kernel& k) {
    return k.kind == KernelKind::kConv || k.kind == KernelKind::kLinear;
  });
  const Precision unit = matrix ? precision : Precision::kFp32;
  return stage.intensity() < ridge(sheet, unit, choice.sm, choice.memory);
}

StrategyResult run_strategy(std::string_view name, const StrategyInput& input) {
  const auto found = std::ranges::find(kStrategies, name, &Strategy::name);
  StrategyResult result;
  result.name = name;
  result.wanted = found->choose(input);
  judge(result, input.problem);
  return result;
}

void judge(StrategyResult& result, const PlanProblem& problem) {
  result.totals = execute(problem, result.wanted);
  const PlanTotals normal = uniform_totals(problem, 0);
  result.saved = 1 - result.totals.energy_j / normal.energy_j;
  result.slowdown = result.totals.time_s / normal.time_s - 1;
}

}  // namespace hypermile
