// SPDX-License-Identifier: Apache-2.0
//
// Whether clocks that were given back are really free; see GpuKeeper::read_back().
#include <fmt/format.h>

#include "lease/gpu_keeper.h"

namespace hypermile {
namespace {

constexpr double kBusy = 0.5;    // share of time with a kernel; below it the card lowers clocks
constexpr double kStepMhz = 15;  // SM clocks of NVIDIA's cards are 7.5 or 15 MHz apart
constexpr SensorSet kWanted = Sensor::kClocks | Sensor::kEventReasons | Sensor::kUtilization;

std::optional<double> clock_of(const Sample& sample, Knob knob) {
  const std::optional<Mhz>& clock = knob == Knob::kSmClock ? sample.sm_clock : sample.memory_clock;
  return clock ? std::optional(clock->value()) : std::nullopt;
}

bool runs_freely(const Sample& sample) {
  return sample.gpu_utilization && *sample.gpu_utilization >= kBusy && sample.reasons &&
         !sample.reasons->throttled();
}

}  // namespace

// Only a card that was busy before our first change shows what its default is worth.
void GpuKeeper::note_default_clocks(const Setting& setting) {
  const auto changed = [&](Knob knob) { return journal_->changes().contains(knob); };
  if (changed(Knob::kSmClock) || changed(Knob::kMemoryClock)) return;
  default_clocks_.clear();
  if (!setting.sm_clock && !setting.memory_clock) return;
  const Result<Sample> sample = gpu_->read(kWanted);
  if (!sample || !runs_freely(*sample)) return;
  for (const Knob knob : {Knob::kSmClock, Knob::kMemoryClock}) {
    if (const auto clock = clock_of(*sample, knob)) default_clocks_[knob] = *clock;
  }
}

GpuKeeper::ReadBack GpuKeeper::read_back() {
  using Verdict = ReadBack::Verdict;
  if (given_back_.empty()) return {};
  const Result<Sample> sample = gpu_->read(kWanted);
  if (!sample) return {Verdict::kCannotTell, sample.error().message};
  ReadBack all{Verdict::kAsExpected, {}};
  for (const auto& [knob, ceiling] : given_back_) {
    const std::optional<double> now = clock_of(*sample, knob);
    const auto before = default_clocks_.find(knob);
    const bool knows = before != default_clocks_.end() && before->second > ceiling + 2 * kStepMhz;
    Verdict verdict = Verdict::kCannotTell;
    if (now && *now > ceiling + kStepMhz) {
      verdict = Verdict::kAsExpected;
    } else if (now && knows && runs_freely(*sample)) {
      verdict = Verdict::kStillLimited;
    }
    if (verdict == Verdict::kAsExpected) continue;
    if (all.verdict != Verdict::kStillLimited) all.verdict = verdict;
    if (verdict == Verdict::kStillLimited) {
      all.text += fmt::format(
          "{}{} reads {:g} MHz under load after it was reset from {:g} MHz; it was {:g} MHz before",
          all.text.empty() ? "" : "; ", to_string(knob), *now, ceiling, before->second);
    }
  }
  return all;
}

}  // namespace hypermile
