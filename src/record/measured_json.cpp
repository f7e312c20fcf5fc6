// SPDX-License-Identifier: Apache-2.0
#include "record/measured_json.h"

#include <nlohmann/json.hpp>

#include "record/json_fields.h"
#include "record/setting_json.h"

namespace hypermile {

using namespace json_fields;

namespace {

// Kinds of refusal that readers tell apart; any other is absent.
constexpr std::pair<Refusal, const char*> kRefusals[] = {
    {Refusal::kHeldBack, "held_back"}, {Refusal::kClockNotReached, "clock_not_reached"},
    {Refusal::kIdle, "idle"},          {Refusal::kPaused, "paused"},
    {Refusal::kNoPower, "no_power"},
};

void put_refusal(json& j, Refusal refusal) {
  for (const auto& [kind, name] : kRefusals) {
    if (kind == refusal) j["refusal"] = name;
  }
}

Refusal refusal_from(const json& j) {
  std::string told;
  get_if(j, "refusal", told);
  for (const auto& [kind, name] : kRefusals) {
    if (told == name) return kind;
  }
  return Refusal::kOther;
}

}  // namespace

json body_json(const SampleEvent& e) {
  const Sample& s = e.sample;
  json j = {{"type", "sample"}, {"gpu", e.gpu.text()}};
  put(j, "power_w", s.power_instant);
  put(j, "power_average_w", s.power_average);
  put(j, "energy_j", s.energy);
  put(j, "sm_mhz", s.sm_clock);
  put(j, "mem_mhz", s.memory_clock);
  put(j, "gpu_utilization", s.gpu_utilization);
  put(j, "memory_utilization", s.memory_utilization);
  put(j, "temperature_c", s.temperature);
  put(j, "power_limit_w", s.power_limit);
  if (s.reasons) j["event_reasons"] = s.reasons->bits;
  return j;
}
void read_body(const json& j, SampleEvent& e) {
  Sample& s = e.sample;
  e.gpu = gpu_from(j);
  get(j, "power_w", s.power_instant);
  get(j, "power_average_w", s.power_average);
  get(j, "energy_j", s.energy);
  get(j, "sm_mhz", s.sm_clock);
  get(j, "mem_mhz", s.memory_clock);
  get(j, "gpu_utilization", s.gpu_utilization);
  get(j, "memory_utilization", s.memory_utilization);
  get(j, "temperature_c", s.temperature);
  get(j, "power_limit_w", s.power_limit);
  if (j.contains("event_reasons"))
    s.reasons = EventReasons{integer_from<std::uint64_t>(j, "event_reasons")};
}

json body_json(const WindowEvent& e) {
  const Window& w = e.window;
  json j = {{"type", "window"},
            {"gpu", e.gpu.text()},
            {"setting", setting_json(w.setting)},
            {"begin_s", w.begin.since_origin().value()},
            {"duration_s", w.duration.value()},
            {"first_iteration", w.first_iteration},
            {"iterations", w.iterations},
            {"throttled_share", w.throttled_share},
            {"aborted", w.aborted}};
  put(j, "time_per_iteration_s", w.time_per_iteration);
  put(j, "power_w", w.power);
  put(j, "energy_j", w.energy);
  put(j, "time_error", w.time_error);
  put(j, "power_error", w.power_error);
  put(j, "sm_mhz", w.sm_clock);
  put(j, "mem_mhz", w.memory_clock);
  put(j, "energy_per_iteration_j", w.energy_per_iteration);
  put(j, "energy_error", w.energy_error);
  put(j, "energy_disagreement", w.energy_disagreement);
  if (e.process) {
    j["process"] = *e.process;
    j["phase"] = w.pattern.phase;
    j["level"] = w.pattern.level;
    j["gpu_timed"] = w.gpu_timed;
  }
  put(j, "job_iterations", e.counted);
  if (!w.unusable.empty()) {
    j["unusable"] = w.unusable;
    put_refusal(j, w.refusal);
  }
  return j;
}
void read_body(const json& j, WindowEvent& e) {
  Window& w = e.window;
  e.gpu = gpu_from(j);
  w.setting = setting_from(j.at("setting"));
  w.begin = instant_from(j, "begin_s");
  w.duration = Seconds(j.at("duration_s").get<double>());
  w.first_iteration = j.at("first_iteration").get<double>();
  w.iterations = j.at("iterations").get<double>();
  get_if(j, "throttled_share", w.throttled_share);
  get_if(j, "aborted", w.aborted);
  get(j, "time_per_iteration_s", w.time_per_iteration);
  get(j, "power_w", w.power);
  get(j, "energy_j", w.energy);
  get(j, "time_error", w.time_error);
  get(j, "power_error", w.power_error);
  get(j, "sm_mhz", w.sm_clock);
  get(j, "mem_mhz", w.memory_clock);
  get(j, "energy_per_iteration_j", w.energy_per_iteration);
  get(j, "energy_error", w.energy_error);
  get(j, "energy_disagreement", w.energy_disagreement);
  if (j.contains("process")) {
    e.process = integer_from<std::int64_t>(j, "process");
    w.pattern.phase = integer_from<std::uint32_t>(j, "phase");
    w.pattern.level = integer_from<std::uint32_t>(j, "level");
    w.gpu_timed = j.at("gpu_timed").get<bool>();
  }
  get(j, "job_iterations", e.counted);
  get_if(j, "unusable", w.unusable);
  if (!w.unusable.empty()) w.refusal = refusal_from(j);
}

json body_json(const FeaturesEvent& e) {
  json j = {{"type", "features"}, {"gpu", e.gpu.text()}};
  j["values"] = e.values;
  j["numbers"] = e.numbers;
  if (e.process) j["process"] = *e.process;
  if (e.phase) j["phase"] = *e.phase;
  return j;
}
void read_body(const json& j, FeaturesEvent& e) {
  e.gpu = gpu_from(j);
  e.values = j.at("values").get<std::map<std::string, double>>();
  get_if(j, "numbers", e.numbers);
  if (j.contains("process")) e.process = integer_from<std::int64_t>(j, "process");
  if (j.contains("phase")) e.phase = integer_from<std::uint32_t>(j, "phase");
}

json body_json(const Throttle& e) {
  return {{"type", "throttle"},
          {"gpu", e.gpu.text()},
          {"event_reasons", e.reasons.bits},
          {"text", to_string(e.reasons)}};
}
void read_body(const json& j, Throttle& e) {
  e.gpu = gpu_from(j);
  e.reasons = EventReasons{integer_from<std::uint64_t>(j, "event_reasons")};
}

json body_json(const DriverCalls& e) {
  json calls = json::object();
  for (const auto& [kind, histogram] : e.calls) {
    calls[kind] = {
        {"bounds_s", histogram.bounds_s}, {"counts", histogram.counts}, {"sum_s", histogram.sum_s}};
  }
  return {{"type", "driver_calls"}, {"gpu", e.gpu.text()}, {"calls", std::move(calls)}};
}
void read_body(const json& j, DriverCalls& e) {
  e.gpu = gpu_from(j);
  for (const auto& [kind, times] : j.at("calls").items()) {
    CallHistogram& histogram = e.calls[kind];
    histogram.bounds_s = times.at("bounds_s").get<std::vector<double>>();
    histogram.counts = times.at("counts").get<std::vector<std::uint64_t>>();
    histogram.sum_s = times.at("sum_s").get<double>();
  }
}

}  // namespace hypermile
