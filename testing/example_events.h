// SPDX-License-Identifier: Apache-2.0
//
// For tests: one event of every type with every member filled, and one with as few as allowed.
#pragma once

#include <vector>

#include "record/event.h"

namespace hypermile {

inline std::vector<Event> example_events() {
  const GpuUuid gpu("GPU-0123");
  const Setting setting{
      .sm_clock = Mhz(1410), .memory_clock = Mhz(2201), .power_limit = Watts(300)};
  RunStart start;
  start.run = RunId("1-2");
  start.unix_time = 1.7e9;
  start.program = "hypermile 0.1.0";
  start.command = {"python", "train.py"};
  start.environment = {{"host", "node7"}};
  start.gpus = {GpuIdentity{gpu, PciAddress("00000000:3B:00.0"), "NVIDIA H200", 0, "580.159"}};
  Sample sample;
  sample.power_instant = Watts(612.5);
  sample.power_average = Watts(600);
  sample.energy = Joules(1234.5);
  sample.sm_clock = Mhz(1980);
  sample.memory_clock = Mhz(3201);
  sample.gpu_utilization = 0.99;
  sample.memory_utilization = 0.5;
  sample.temperature = Celsius(55);
  sample.reasons = EventReasons{EventReasons::kSoftwarePowerCap};
  sample.power_limit = Watts(700);
  Window window;
  window.setting = setting;
  window.begin = Instant() + Seconds(2);
  window.duration = Seconds(1.5);
  window.first_iteration = 60;
  window.iterations = 30;
  window.time_per_iteration = Seconds(0.05);
  window.power = Watts(500);
  window.energy = Joules(750);
  window.time_error = 0.002;
  window.power_error = 0.004;
  window.sm_clock = Mhz(1410);
  window.memory_clock = Mhz(2201);
  window.throttled_share = 0.25;
  window.aborted = true;
  window.unusable = "throttled";
  Window observed = window;
  observed.pattern = PatternId{2, 0};
  observed.energy_per_iteration = Joules(25);
  observed.energy_error = 0.005;
  observed.energy_disagreement = -0.01;
  observed.gpu_timed = true;
  observed.refusal = Refusal::kHeldBack;
  const std::vector<EventBody> bodies = {
      start,
      RunStart{},
      GpuEvent{start.gpus.front()},
      GpuEvent{},
      SampleEvent{gpu, sample},
      SampleEvent{gpu, {}},
      WindowEvent{gpu, window},
      WindowEvent{gpu, {}},
      WindowEvent{gpu, observed, 4242, 1300},
      ProcessEvent{4242, "python", "no_cupti", "no libcupti.so was found", {0, 1}},
      ProcessEvent{4242, "", "watching", "", {}},
      ProgressEvent{4242, "locked", "launches", 3, true, 1229.5, 0.97, {8}, 8},
      ProgressEvent{4242, "searching", "none", {}, false, {}, {}, {}, {}},
      Decision{gpu, "hypermile", setting, "least energy within 5 %", 0.97, {{"saved", 0.18}}},
      Decision{gpu, "default", {}, "", std::nullopt, {}},
      Forecast{gpu, "hypermile", {{setting, 0.031, 0.004, 0.82, 0.01, 0.97}}, true, 4242, 3},
      Forecast{gpu, "hypermile", {}, false, {}, {}},
      SettingChange{gpu, setting, true, "", Mhz(1410), Mhz(2201), Watts(300)},
      SettingChange{gpu, {}, false, "not permitted", {}, {}, {}},
      StateChange{"hold", "search", "least energy", 4242, 3, {{"saved", 0.18}}},
      StateChange{"warm_up", "", "", {}, {}, {}},
      Drift{gpu, "power", 500, 450},
      FeaturesEvent{gpu, 4242, 3, {{"dram_active", 0.4}}, {{"driver_calls", 9}}},
      FeaturesEvent{gpu, {}, {}, {}, {}},
      Throttle{gpu, EventReasons{EventReasons::kSoftwareThermal}},
      DriverCalls{gpu, {{"read", {{0.001, 0.01}, {7, 2, 1}, 0.25}}}},
      DriverCalls{gpu, {}},
      ErrorEvent{gpu, Error{ErrorCode::kGpuLost, "gone", "reboot"}},
      ErrorEvent{std::nullopt, Error{ErrorCode::kIo, "disk full", ""}},
      RunEnd{1, "", {}},
      RunEnd{0, "the job ended", {{"joules", 1e6}}, {"process 42: 7 iterations"}},
  };
  std::vector<Event> events;
  for (const EventBody& body : bodies) {
    events.push_back({Instant() + milliseconds(100) * static_cast<double>(events.size()), body});
  }
  return events;
}

}  // namespace hypermile
