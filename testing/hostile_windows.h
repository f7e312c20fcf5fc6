// SPDX-License-Identifier: Apache-2.0
//
// Contexts and windows made from arbitrary numbers, with which no policy may crash, hang, or choose
// a Setting outside its list. Used by the property test and the fuzz target.
#pragma once

#include <cmath>
#include <functional>
#include <limits>

#include "measure/sensor_trace.h"
#include "policy/policy.h"

namespace hypermile {

// Returns the next number in [0, 256).
using ByteSource = std::function<unsigned()>;

inline double hostile_number(const ByteSource& byte) {
  switch (byte() % 12) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return 0;
    case 3:
      return -1.5;
    case 4:
      return 1e300;
    case 5:
      return 1e-300;
    default:
      return 0.5 + byte() / 128.0;
  }
}

inline PolicyContext hostile_context(const ByteSource& byte) {
  PolicyContext context;
  context.settings = {Setting{}};
  const unsigned count = byte() % 24;
  for (unsigned i = 0; i < count; ++i) {
    Setting setting;
    if (byte() % 2 == 0) setting.sm_clock = Mhz(100.0 * (1 + byte() % 20));
    if (byte() % 4 == 0) setting.memory_clock = Mhz(400.0 * (1 + byte() % 4));
    if (byte() % 4 == 0) setting.power_limit = Watts(50.0 * (1 + byte() % 6));
    if (!setting.empty()) context.settings.push_back(setting);
  }
  if (byte() % 2 == 0) context.default_values.sm_clock = Mhz(1800);
  if (byte() % 4 == 0) context.default_values.power_limit = Watts(300);
  if (byte() % 4 == 0) context.objective.max_slowdown.reset();
  if (byte() % 8 == 0) context.objective.max_slowdown = 0.01 * (byte() % 100);
  if (byte() % 8 == 0) context.objective.power_budget = Watts(byte());
  if (byte() % 8 == 0) context.objective.host_power = Watts(byte());
  context.objective.goal = static_cast<Goal>(byte() % 5);
  context.traces = true;
  context.oracle = byte() % context.settings.size();
  return context;
}

inline Window hostile_window(const ByteSource& byte, const PolicyContext& context,
                             const Step& step) {
  Window window;
  window.setting = context.settings[step.setting];
  window.iterations = step.iterations;
  window.time_per_iteration = Seconds(0.1 * (1 + byte() / 1000.0));
  window.power = Watts(200 + byte());
  if (byte() % 4 == 0) window.time_per_iteration = Seconds(hostile_number(byte));
  if (byte() % 4 == 0) window.power = Watts(100 * hostile_number(byte));
  if (byte() % 8 == 0) window.iterations = 30 * hostile_number(byte);
  if (byte() % 8 == 0) window.first_iteration = 1000 * hostile_number(byte);
  if (byte() % 8 == 0) window.unusable = "throttled";
  if (byte() % 8 == 0) window.time_per_iteration.reset();
  if (byte() % 8 == 0) window.power.reset();
  if (byte() % 8 == 0) window.setting.sm_clock = Mhz(77);
  if (byte() % 8 == 0) window.sm_clock = Mhz(1000 * hostile_number(byte));
  window.aborted = byte() % 8 == 0;
  if (step.trace_for && byte() % 4 != 0) {
    SensorTrace trace;
    for (unsigned n = 4 * byte(); n > 0; --n) {
      trace.power_w.push_back(byte() % 100 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                : 1.0 * byte());
      trace.gpu_percent.push_back(byte() % 101);
      trace.memory_percent.push_back(byte() % 101);
    }
    window.trace = std::make_shared<const SensorTrace>(std::move(trace));
  }
  return window;
}

}  // namespace hypermile
