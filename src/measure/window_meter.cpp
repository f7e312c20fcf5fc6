// SPDX-License-Identifier: Apache-2.0
#include "measure/window_meter.h"

namespace hypermile {

WindowMeter::WindowMeter(Setting setting, Instant begin, double iteration)
    : setting_(setting), begin_(begin), first_iteration_(iteration) {}

void WindowMeter::add(const Sample& sample) {
  energy_.add(sample);
  if (sample.sm_clock) sm_clock_.add(sample.sm_clock->value());
  if (sample.memory_clock) memory_clock_.add(sample.memory_clock->value());
  if (sample.reasons) {
    ++reasons_read_;
    if (sample.reasons->throttled()) ++throttled_;
  }
}

Window WindowMeter::close(Instant end, double iteration) const {
  Window window;
  window.setting = setting_;
  window.begin = begin_;
  window.duration = end - begin_;
  window.first_iteration = first_iteration_;
  window.iterations = iteration - first_iteration_;
  window.sm_clock = sm_clock_.mhz();
  window.memory_clock = memory_clock_.mhz();
  if (reasons_read_ > 0) window.throttled_share = static_cast<double>(throttled_) / reasons_read_;

  if (const auto power = energy_.mean_power()) {
    window.power = power->power;
    window.power_error = power->error;
    window.energy = power->power * window.duration;
  } else {
    window.unusable = "power is not known";
    window.refusal = Refusal::kNoPower;
  }
  if (window.iterations > 0 && window.duration > Seconds(0)) {
    window.time_per_iteration = window.duration / window.iterations;
  } else {
    window.unusable = "the job made no iteration";
    window.refusal = Refusal::kOther;
  }
  return window;
}

}  // namespace hypermile
