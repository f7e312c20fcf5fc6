// SPDX-License-Identifier: Apache-2.0
#include "plan/lagrange_dp.h"

#include <algorithm>
#include <limits>

namespace hypermile {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

}  // namespace

struct LagrangeDp::TwoCheapest {
  double first = kInfinite, second = kInfinite;
  std::uint32_t first_choice = kNobody, second_choice = kNobody;

  void offer(double value, std::uint32_t choice) {
    if (value < first) {
      second = first;
      second_choice = first_choice;
      first = value;
      first_choice = choice;
    } else if (value < second) {
      second = value;
      second_choice = choice;
    }
  }
};

LagrangeDp::~LagrangeDp() = default;

LagrangeDp::LagrangeDp(const PlanProblem& problem) : problem_(problem) {
  for (const std::uint32_t gear : problem.gear) {
    gears_ = std::max<std::size_t>(gears_, gear + 1);
  }
  weight_.resize(problem.costs.size());
  cost_sum_.resize(problem.choices);
  time_sum_.resize(problem.choices);
  by_sm_.resize(problem.choices);
  by_memory_.resize(problem.choices);
  const std::size_t boundaries = 2 * problem.stages + 1;
  entry_.resize(boundaries * problem.choices);
  time_at_.resize(boundaries * problem.choices);
  origin_.resize(boundaries * problem.choices);
}

std::optional<Assignment> LagrangeDp::solve(double multiplier) {
  weigh(multiplier);
  const std::optional<Start> start = find_start();
  if (!start) return std::nullopt;
  return solve_from(*start);
}

void LagrangeDp::weigh(double multiplier) {
  multiplier_ = multiplier;
  for (std::size_t i = 0; i < weight_.size(); ++i) {
    weight_[i] = problem_.costs[i].energy_j + multiplier * problem_.costs[i].time_s;
  }
}

void LagrangeDp::sweep(const Start& start, std::size_t length, bool with_choice) {
  const std::size_t k = problem_.choices;
  std::ranges::fill(cost_sum_, 0.0);
  std::ranges::fill(time_sum_, 0.0);
  const Oldest none{kInfinite, 0, 0};
  std::ranges::fill(by_sm_, none);
  std::ranges::fill(by_memory_, none);
  for (std::size_t c = 0; c < k; ++c) {
    entry_[c] = !with_choice || c == start.choice ? 0 : kInfinite;
    time_at_[c] = 0;
    origin_[c] = {kNobody, 0};
  }
  for (std::size_t boundary = 1; boundary <= length; ++boundary) {
    const std::size_t stage = (start.stage + boundary - 1) % problem_.stages;
    const double* weight = weight_.data() + stage * k;
    const StageCost* cost = problem_.costs.data() + stage * k;
    double* time_at = time_at_.data() + boundary * k;
    for (std::size_t c = 0; c < k; ++c) {
      cost_sum_[c] += weight[c];
      time_sum_[c] += cost[c].time_s;
      time_at[c] = time_sum_[c];
    }
    advance(boundary);
    enter(boundary);
  }
}

// Takes the entries after which enough time has passed at this boundary for another change.
void LagrangeDp::advance(std::size_t boundary) {
  const std::size_t k = problem_.choices;
  const auto take = [&](Oldest& oldest, std::size_t c, double spacing) {
    const double latest = time_sum_[c] - spacing * (1 - 1e-12);
    while (oldest.next < boundary && time_at_[oldest.next * k + c] <= latest) {
      const double value = entry_[oldest.next * k + c];
      if (value < oldest.value) {
        oldest.value = value;
        oldest.entered = oldest.next;
      }
      ++oldest.next;
    }
  };
  for (std::size_t c = 0; c < k; ++c) {
    take(by_sm_[c], c, problem_.sm.spacing_s);
    take(by_memory_[c], c, problem_.memory.spacing_s);
  }
}

void LagrangeDp::enter(std::size_t boundary) {
  const std::size_t k = problem_.choices;
  same_.assign(gears_, {});
  other_.assign(gears_, {});
  for (std::uint32_t c = 0; c < k; ++c) {
    same_[problem_.gear[c]].offer(by_sm_[c].value + cost_sum_[c], c);
    other_[problem_.gear[c]].offer(by_memory_[c].value + cost_sum_[c], c);
  }
  // The cheapest gear to leave, and the second cheapest, so that no choice has to look at all
  // gears.
  TwoCheapest gears;
  for (std::uint32_t g = 0; g < gears_; ++g) gears.offer(other_[g].first, g);
  const double sm_price = problem_.sm.lost_j + multiplier_ * problem_.sm.lost_s;
  const double memory_price = problem_.memory.lost_j + multiplier_ * problem_.memory.lost_s;
  double* entry = entry_.data() + boundary * k;
  Origin* origin = origin_.data() + boundary * k;
  for (std::uint32_t c = 0; c < k; ++c) {
    const std::uint32_t gear = problem_.gear[c];
    const bool self = same_[gear].first_choice == c;
    double best = (self ? same_[gear].second : same_[gear].first) + sm_price;
    std::uint32_t from = self ? same_[gear].second_choice : same_[gear].first_choice;
    const bool own = gears.first_choice == gear;
    const double elsewhere = (own ? gears.second : gears.first) + memory_price;
    const bool memory = elsewhere < best;
    if (memory) {
      best = elsewhere;
      from = other_[own ? gears.second_choice : gears.first_choice].first_choice;
    }
    entry[c] = best - cost_sum_[c];
    if (from == kNobody) continue;
    origin[c] = {from, memory ? by_memory_[from].entered : by_sm_[from].entered};
  }
}

std::optional<LagrangeDp::Start> LagrangeDp::find_start() {
  const std::size_t k = problem_.choices;
  const std::size_t length = 2 * problem_.stages;
  sweep({}, length, false);
  // The cheapest way through, whatever the length of its last segment.
  double best = kInfinite;
  std::uint32_t choice = 0, entered = 0;
  for (std::uint32_t boundary = 0; boundary < length; ++boundary) {
    for (std::uint32_t c = 0; c < k; ++c) {
      const double value = entry_[boundary * k + c] + cost_sum_[c];
      if (value >= best) continue;
      best = value;
      choice = c;
      entered = boundary;
    }
  }
  // The change nearest to the middle, where neither end has an influence.
  std::optional<Start> start;
  std::size_t nearest = length;
  while (entered > 0) {
    const std::size_t away =
        entered > problem_.stages ? entered - problem_.stages : problem_.stages - entered;
    if (away < nearest) {
      nearest = away;
      start = Start{entered < problem_.stages ? entered : entered - problem_.stages, choice};
    }
    const Origin origin = origin_[entered * k + choice];
    choice = origin.choice;
    entered = origin.entered;
  }
  return start;
}

std::optional<Assignment> LagrangeDp::solve_from(const Start& start) {
  const std::size_t k = problem_.choices;
  const auto n = static_cast<std::uint32_t>(problem_.stages);
  sweep(start, n, true);
  if (entry_[n * k + start.choice] == kInfinite) return std::nullopt;
  Assignment assignment(n, start.choice);
  std::uint32_t choice = start.choice, until = n;
  while (until > 0) {
    const Origin origin = origin_[until * k + choice];
    if (origin.choice == kNobody) return std::nullopt;
    for (std::uint32_t i = origin.entered; i < until; ++i) {
      assignment[(start.stage + i) % n] = origin.choice;
    }
    choice = origin.choice;
    until = origin.entered;
  }
  return assignment;
}

}  // namespace hypermile
