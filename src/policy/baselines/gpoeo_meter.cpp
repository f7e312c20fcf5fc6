// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/gpoeo_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/features.h"
#include "measure/sensor_trace.h"

namespace hypermile {
namespace {

constexpr Seconds kLongest = Seconds(15);     // the longest period ever considered
constexpr Seconds kLeastFirst = Seconds(10);  // of the first window, once a period is known
constexpr Seconds kLeastFixed = Seconds(4);   // of the window of an aperiodic job
constexpr Mhz kFarClock = Mhz(1000);          // a period at a clock so far away says nothing
constexpr double kIdleLong = 6;               // s, of use and of no use
constexpr double kIdleShare = 0.2;            // of no use, over use
constexpr double kRate = 1 / kTraceStep.value();

}  // namespace

void GpoeoMeter::begin(GpoeoStrictness strictness, Seconds settle, std::optional<Mhz> sm_clock) {
  strictness_ = strictness;
  settle_ = settle;
  sm_clock_ = sm_clock;
  from_.reset();
  wanted_ = settle + (aperiodic_ ? look() : first_);
}

Seconds GpoeoMeter::look() const {
  return aperiodic_ ? std::max(period_, kLeastFixed) : period_;
}

GpoeoMeter::Outcome GpoeoMeter::add(const Window& window) {
  if (!window.trace || window.trace->size() == 0) return Outcome::kBlind;
  const SensorTrace& trace = *window.trace;
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(trace.power_w, finite) ||
      !std::ranges::all_of(trace.gpu_percent, finite) ||
      !std::ranges::all_of(trace.memory_percent, finite)) {
    return Outcome::kBlind;
  }
  if (!from_) from_ = std::max(trace.begin, window.begin) + settle_;
  const double before = std::max(0.0, (*from_ - trace.begin) / kTraceStep);
  const auto from = static_cast<std::size_t>(std::ceil(before));
  if (from >= trace.size()) {
    wanted_ = first_;
    return Outcome::kMore;
  }
  return aperiodic_ ? count_instructions(window, from) : detect(trace, from);
}

GpoeoMeter::Outcome GpoeoMeter::detect(const SensorTrace& trace, std::size_t from) {
  const std::span power = std::span(trace.power_w).subspan(from);
  const std::span busy = std::span(trace.gpu_percent).subspan(from);
  const double limit = trace.power_limit.value_or(Watts(std::ranges::max(power))).value();
  std::vector<double> percent;
  for (const double watts : power) percent.push_back(100 * watts / std::max(limit, 1.0));
  const std::vector<double> composite =
      gpoeo_composite(percent, busy, std::span(trace.memory_percent).subspan(from));
  GpoeoQuestion question{strictness_, longest_, {}};
  if (period_ > Seconds(0) && sm_clock_ && last_sm_clock_ &&
      std::abs(sm_clock_->value() - last_sm_clock_->value()) < kFarClock.value()) {
    const bool lowered = *sm_clock_ < *last_sm_clock_;
    question.prior = lowered ? GpoeoPrior{period_, 0.8, 1.5} : GpoeoPrior{period_, 0.66, 1.25};
  }
  const GpoeoAnswer answer = gpoeo_ask(composite, kRate, question);
  if (answer.kind == GpoeoAnswer::Kind::kMore) {
    wanted_ = std::max(answer.more, Seconds(1));
    return Outcome::kMore;
  }
  used_s_ = unused_s_ = 0;
  for (const double percent_busy : busy) {
    (percent_busy > 0 ? used_s_ : unused_s_) += kTraceStep.value();
  }
  if (answer.kind == GpoeoAnswer::Kind::kAperiodic) {
    aperiodic_ = true;
    return Outcome::kAperiodic;
  }
  learn(answer.period);
  power_ = mean_of_last(trace, answer.period);
  result_ = {answer.period, mean_of_last(trace, 2 * answer.period)};
  return Outcome::kDone;
}

// What the authors' detector keeps for the next probe.
void GpoeoMeter::learn(Seconds period) {
  period_ = period;
  last_sm_clock_ = sm_clock_;
  if (period < 0.4 * longest_) {
    longest_ = 0.75 * longest_;
  } else if (period < 0.75 * longest_) {
    longest_ = std::min(1.2 * longest_, kLongest);
  }
  first_ = std::max(kLeastFirst, 3 * period);
}

// Instructions a second are issue slots used times the SM clock, but for a constant of the card.
GpoeoMeter::Outcome GpoeoMeter::count_instructions(const Window& window, std::size_t from) {
  const SensorTrace& trace = *window.trace;
  const auto issued =
      window.features ? window.features->get(Feature::kIssueActive) : std::optional<double>();
  const double rate = issued && window.sm_clock ? *issued * window.sm_clock->value() : 0;
  if (!(rate > 0) || !std::isfinite(1 / rate)) return Outcome::kBlind;
  power_ = mean_of_last(trace, kTraceStep * static_cast<double>(trace.size() - from));
  result_ = {Seconds(1 / rate), power_};
  return Outcome::kDone;
}

Watts GpoeoMeter::mean_of_last(const SensorTrace& trace, Seconds last) const {
  const auto wanted = static_cast<std::size_t>(std::lround(last / kTraceStep));
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, trace.size());
  double sum = 0;
  for (std::size_t i = trace.size() - count; i < trace.size(); ++i) sum += trace.power_w[i];
  return Watts(sum / static_cast<double>(count)) - static_power_;
}

bool GpoeoMeter::mostly_waits() const {
  return used_s_ > kIdleLong && unused_s_ > kIdleLong && unused_s_ > kIdleShare * used_s_;
}

std::string GpoeoMeter::text() const {
  if (aperiodic_) return "no period: instructions are counted";
  return period_ > Seconds(0) ? fmt::format("a period of {:.2f} s", period_.value())
                              : std::string("no period yet");
}

}  // namespace hypermile
