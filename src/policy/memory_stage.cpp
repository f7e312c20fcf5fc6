// SPDX-License-Identifier: Apache-2.0
#include "policy/memory_stage.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kDeep = 0.5;
// Share of what the job may still lose that one probe may cost at worst.
constexpr double kRiskShare = 0.6;
constexpr double kWorthwhileSaving = 0.01;

// The Setting of this memory clock that leaves everything else most open.
std::optional<std::size_t> top_of(std::span<const Setting> settings, Mhz memory,
                                  const DefaultState& found) {
  const Slice slice = make_slice(settings, memory, found);
  if (slice.points.size() < 2) return std::nullopt;
  return slice.points[1].setting;
}

}  // namespace

MemoryStage::MemoryStage(std::span<const Setting> settings, const Setting& default_values,
                         const DefaultState& found)
    : default_has_slice_(make_slice(settings, std::nullopt, found).points.size() > 1) {
  double highest = default_values.memory_clock.value_or(Mhz(0)).value();
  for (const Setting& s : settings) {
    highest = std::max(highest, s.memory_clock.value_or(Mhz(0)).value());
  }
  for (const std::optional<Mhz>& memory : memory_states(settings)) {
    if (!memory || !(*memory > Mhz(0))) continue;
    const auto top = top_of(settings, *memory, found);
    if (!top) continue;
    const double ratio = memory->value() / highest;
    states_.push_back({*memory, Probe{*top, ratio, ratio < kDeep}, std::nullopt});
  }
}

std::optional<MemoryStage::Probe> MemoryStage::next(double slack, double least) {
  if (at_ >= states_.size()) return std::nullopt;
  const Probe& probe = states_[at_].probe;
  // At worst all of the time is memory's.
  const double loss = least * (1 / probe.clock_ratio - 1);
  if (loss > kRiskShare * slack) at_ = states_.size();
  return at_ < states_.size() ? std::optional(probe) : std::nullopt;
}

void MemoryStage::observe(double log_time, double log_power, double error,
                          const Objective& objective, Watts default_power) {
  State& state = states_[at_++];
  const auto bound = effective_bound(objective);
  if (bound && log_time > std::log1p(*bound) + error) {
    at_ = states_.size();  // lower ones are slower still
    return;
  }
  state.score = score(objective, std::exp(log_time), std::exp(log_power), default_power);
}

void MemoryStage::skip() {
  ++at_;
}

std::vector<std::optional<Mhz>> MemoryStage::ranking() const {
  std::vector<const State*> good;
  for (const State& state : states_) {
    if (state.score && *state.score < 1 - kWorthwhileSaving) good.push_back(&state);
  }
  std::ranges::stable_sort(good,
                           [](const State* a, const State* b) { return a->score < b->score; });
  std::vector<std::optional<Mhz>> order;
  for (const State* state : good) order.emplace_back(state->clock);
  order.emplace_back(std::nullopt);
  // Where every Setting locks the memory clock, the highest one stands for the default's own.
  if (!states_.empty() && !default_has_slice_ &&
      std::ranges::find(order, std::optional(states_.front().clock)) == order.end()) {
    order.emplace_back(states_.front().clock);
  }
  return order;
}

}  // namespace hypermile
