// SPDX-License-Identifier: Apache-2.0
#include "control/joint_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/window_refusal.h"

namespace hypermile {
namespace {

// Errors are standard ones; beyond so many of them two times differ.
constexpr double kSurely = 3;
// Windows of one job cover the same iterations, up to an iteration at either end.
constexpr double kLeastOverlap = 0.5;

// One Window for each GPU: of several processes on it, the one that knows its power best.
std::vector<const RankWindow*> one_each(std::span<const RankWindow> ranks) {
  std::vector<const RankWindow*> chosen;
  const auto worth = [](const Window& window) {
    return window.power ? window.power_error.value_or(1) : 2.0;
  };
  for (const RankWindow& rank : ranks) {
    const auto same = std::ranges::find(chosen, rank.gpu, &RankWindow::gpu);
    if (same == chosen.end()) {
      chosen.push_back(&rank);
    } else if (worth(rank.window) < worth((*same)->window)) {
      *same = &rank;
    }
  }
  return chosen;
}

// A sum over GPUs with the errors added; nothing where a part is not known.
struct Sum {
  double value = 0;
  double error = 0;
  bool known = true;
  bool error_known = true;

  void add(std::optional<double> part, std::optional<double> relative_error) {
    known = known && part.has_value();
    error_known = error_known && relative_error.has_value();
    value += part.value_or(0);
    error += part.value_or(0) * relative_error.value_or(0);
  }
  std::optional<double> sum() const { return known ? std::optional(value) : std::nullopt; }
  std::optional<double> relative_error() const {
    if (!known || !error_known || value <= 0) return std::nullopt;
    return error / value;
  }
};

template <class Unit>
std::optional<double> number(const std::optional<Unit>& value) {
  return value ? std::optional(value->value()) : std::nullopt;
}

template <class Unit>
void keep_lower(std::optional<Unit>& lowest, const std::optional<Unit>& value) {
  if (value && (!lowest || *value < *lowest)) lowest = value;
}

const RankWindow& slowest_of(std::span<const RankWindow> ranks) {
  return *std::ranges::max_element(ranks, {}, [](const RankWindow& rank) {
    return number(rank.window.time_per_iteration).value_or(0);
  });
}

// Of several reasons heat is told last: the figures of the other ranks are then true.
Objection not_usable(std::span<const RankWindow> ranks) {
  if (ranks.empty()) return {"no rank was measured"};
  Objection heat;
  for (const RankWindow& rank : ranks) {
    const Window& window = rank.window;
    if (window.unusable.empty()) {
      if (!window.time_per_iteration) return {"a rank's time per iteration is not known"};
      continue;
    }
    Objection against = {ranks.size() == 1
                             ? window.unusable
                             : fmt::format("{}: {}", rank.gpu.text(), window.unusable),
                         window.refusal};
    if (!window.held_back()) return against;
    if (heat.text.empty()) heat = std::move(against);
  }
  return heat;
}

std::string not_together(std::span<const RankWindow> ranks) {
  Instant last_begin = ranks.front().window.begin;
  Instant first_end = last_begin + ranks.front().window.duration;
  Seconds longest(0);
  for (const RankWindow& rank : ranks) {
    last_begin = std::max(last_begin, rank.window.begin);
    first_end = std::min(first_end, rank.window.begin + rank.window.duration);
    longest = std::max(longest, rank.window.duration);
  }
  if (first_end - last_begin >= longest * kLeastOverlap) return "";
  return "the ranks were not measured over the same time";
}

std::string not_one_job(std::span<const RankWindow> ranks) {
  const RankWindow& slowest = slowest_of(ranks);
  const double time = slowest.window.time_per_iteration->value();
  for (const RankWindow& rank : ranks) {
    const double other = rank.window.time_per_iteration->value();
    const double error =
        std::hypot(slowest.window.time_error.value_or(0), rank.window.time_error.value_or(0));
    if (time - other <= time * std::max(kRanksAgreeWithin, kSurely * error)) continue;
    return fmt::format(
        "not one job: an iteration takes {:.1f} ms on {} and {:.1f} ms on {}, and ranks of one job "
        "wait for each other",
        time * 1e3, slowest.gpu.text(), other * 1e3, rank.gpu.text());
  }
  return "";
}

void add_energy(Window& joint, std::span<const RankWindow> ranks) {
  Sum power, energy, each, disagreement;
  for (const RankWindow* gpu : one_each(ranks)) {
    const Window& window = gpu->window;
    power.add(number(window.power), window.power_error);
    energy.add(number(window.energy), 0);
    each.add(number(window.energy_per_iteration), window.energy_error);
    disagreement.add(number(window.power), window.energy_disagreement);
  }
  if (const auto sum = power.sum()) joint.power = Watts(*sum);
  if (const auto sum = energy.sum()) joint.energy = Joules(*sum);
  if (const auto sum = each.sum()) joint.energy_per_iteration = Joules(*sum);
  joint.power_error = power.relative_error();
  joint.energy_error = each.relative_error();
  joint.energy_disagreement = disagreement.relative_error();
}

}  // namespace

Window join_windows(const Setting& setting, std::span<const RankWindow> ranks) {
  Window joint;
  joint.setting = setting;
  Objection against = not_usable(ranks);
  joint.unusable = std::move(against.text);
  joint.refusal = against.kind;
  if (ranks.empty()) return joint;
  const Window& pace = slowest_of(ranks).window;
  joint.begin = pace.begin;
  joint.duration = pace.duration;
  joint.first_iteration = pace.first_iteration;
  joint.iterations = pace.iterations;
  joint.pattern = ranks.front().window.pattern;
  joint.time_per_iteration = pace.time_per_iteration;
  joint.gpu_timed = true;
  bool errors_known = true;
  for (const RankWindow& rank : ranks) {
    const Window& window = rank.window;
    keep_lower(joint.sm_clock, window.sm_clock);
    keep_lower(joint.memory_clock, window.memory_clock);
    joint.throttled_share = std::max(joint.throttled_share, window.throttled_share);
    joint.aborted = joint.aborted || window.aborted;
    joint.gpu_timed = joint.gpu_timed && window.gpu_timed;
    errors_known = errors_known && window.time_error;
    joint.time_error = std::max(joint.time_error.value_or(0), window.time_error.value_or(0));
  }
  if (!errors_known) joint.time_error.reset();
  add_energy(joint, ranks);
  if (joint.unusable.empty()) joint.unusable = not_together(ranks);
  // A Window that was cut short on one rank tells little of its pace, and is not asked for it.
  if (joint.unusable.empty() && !joint.aborted) joint.unusable = not_one_job(ranks);
  return joint;
}

}  // namespace hypermile
