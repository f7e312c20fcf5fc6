// SPDX-License-Identifier: Apache-2.0
//
// Events as JSON and back. Each type has one pair of functions; the envelope {"v","t","type"} is
// added around them. nullopt is left out, never written as null or 0.
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/event.h"
#include "record/json_fields.h"

namespace hypermile {
namespace {

using namespace json_fields;

// A forecast has many numbers; digits beyond a hundredth of a per mille say nothing.
double rounded(double value) {
  return std::round(value * 1e5) / 1e5;
}

json body_json(const RunStart& e) {
  json gpus = json::array();
  for (const GpuIdentity& gpu : e.gpus) gpus.push_back(identity_json(gpu));
  return {{"type", "run_start"},    {"run", e.run.text()},  {"unix_time", e.unix_time},
          {"program", e.program},   {"command", e.command}, {"environment", e.environment},
          {"gpus", std::move(gpus)}};
}
void read_body(const json& j, RunStart& e) {
  e.run = RunId(j.at("run").get<std::string>());
  e.unix_time = j.at("unix_time").get<double>();
  e.program = j.at("program").get<std::string>();
  e.command = j.at("command").get<std::vector<std::string>>();
  e.environment = j.at("environment").get<std::map<std::string, std::string>>();
  for (const json& gpu : j.at("gpus")) e.gpus.push_back(identity_from(gpu));
}

json body_json(const GpuEvent& e) {
  json j = identity_json(e.gpu);
  j["type"] = "gpu";
  return j;
}
void read_body(const json& j, GpuEvent& e) {
  e.gpu = identity_from(j);
}

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
  if (!w.unusable.empty()) j["unusable"] = w.unusable;
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
  get_if(j, "unusable", w.unusable);
}

json body_json(const ProcessEvent& e) {
  json j = {{"type", "process"}, {"process", e.process}, {"status", e.status}};
  if (!e.name.empty()) j["name"] = e.name;
  if (!e.reason.empty()) j["reason"] = e.reason;
  if (!e.devices.empty()) j["devices"] = e.devices;
  return j;
}
void read_body(const json& j, ProcessEvent& e) {
  e.process = integer_from<std::int64_t>(j, "process");
  e.status = j.at("status").get<std::string>();
  get_if(j, "name", e.name);
  get_if(j, "reason", e.reason);
  get_if(j, "devices", e.devices);
}

json body_json(const ProgressEvent& e) {
  json j = {{"type", "progress"}, {"process", e.process}, {"state", e.state}, {"source", e.source}};
  if (e.phase) {
    j["phase"] = *e.phase;
    j["known_phase"] = e.known_phase;
  }
  put(j, "launches_per_iteration", e.launches_per_iteration);
  put(j, "confidence", e.confidence);
  if (!e.inner_iterations.empty()) j["inner_iterations"] = e.inner_iterations;
  put(j, "micro_batches", e.micro_batches);
  return j;
}
void read_body(const json& j, ProgressEvent& e) {
  e.process = integer_from<std::int64_t>(j, "process");
  e.state = j.at("state").get<std::string>();
  e.source = j.at("source").get<std::string>();
  if (j.contains("phase")) e.phase = integer_from<std::uint32_t>(j, "phase");
  get_if(j, "known_phase", e.known_phase);
  get(j, "launches_per_iteration", e.launches_per_iteration);
  get(j, "confidence", e.confidence);
  get_if(j, "inner_iterations", e.inner_iterations);
  get(j, "micro_batches", e.micro_batches);
}

json body_json(const Decision& e) {
  json j = {{"type", "decision"}, {"gpu", e.gpu.text()},
            {"policy", e.policy}, {"setting", setting_json(e.setting)},
            {"reason", e.reason}, {"numbers", e.numbers}};
  put(j, "confidence", e.confidence);
  return j;
}
void read_body(const json& j, Decision& e) {
  e.gpu = gpu_from(j);
  e.policy = j.at("policy").get<std::string>();
  e.setting = setting_from(j.at("setting"));
  e.reason = j.at("reason").get<std::string>();
  get_if(j, "numbers", e.numbers);
  get(j, "confidence", e.confidence);
}

json body_json(const Forecast& e) {
  json points = json::array();
  for (const ForecastPoint& p : e.points) {
    json point = {{"setting", setting_json(p.setting)}};
    put(point, "slowdown", rounded(p.slowdown));
    put(point, "slowdown_sd", rounded(p.slowdown_sd));
    put(point, "score", rounded(p.score));
    put(point, "score_sd", rounded(p.score_sd));
    put(point, "safe", rounded(p.safe));
    points.push_back(std::move(point));
  }
  json j = {{"type", "forecast"},
            {"gpu", e.gpu.text()},
            {"policy", e.policy},
            {"exploring", e.exploring},
            {"points", std::move(points)}};
  if (e.process) j["process"] = *e.process;
  if (e.phase) j["phase"] = *e.phase;
  return j;
}
void read_body(const json& j, Forecast& e) {
  e.gpu = gpu_from(j);
  e.policy = j.at("policy").get<std::string>();
  e.exploring = j.at("exploring").get<bool>();
  for (const json& point : j.at("points")) {
    ForecastPoint p;
    p.setting = setting_from(point.at("setting"));
    get_if(point, "slowdown", p.slowdown);
    get_if(point, "slowdown_sd", p.slowdown_sd);
    get_if(point, "score", p.score);
    get_if(point, "score_sd", p.score_sd);
    get_if(point, "safe", p.safe);
    e.points.push_back(p);
  }
  if (j.contains("process")) e.process = integer_from<std::int64_t>(j, "process");
  if (j.contains("phase")) e.phase = integer_from<std::uint32_t>(j, "phase");
}

json body_json(const SettingChange& e) {
  json j = {{"type", "setting"},
            {"gpu", e.gpu.text()},
            {"requested", setting_json(e.requested)},
            {"accepted", e.accepted}};
  if (!e.problem.empty()) j["problem"] = e.problem;
  put(j, "effective_sm_mhz", e.effective_sm_clock);
  put(j, "effective_mem_mhz", e.effective_memory_clock);
  put(j, "effective_power_limit_w", e.effective_power_limit);
  return j;
}
void read_body(const json& j, SettingChange& e) {
  e.gpu = gpu_from(j);
  e.requested = setting_from(j.at("requested"));
  e.accepted = j.at("accepted").get<bool>();
  get_if(j, "problem", e.problem);
  get(j, "effective_sm_mhz", e.effective_sm_clock);
  get(j, "effective_mem_mhz", e.effective_memory_clock);
  get(j, "effective_power_limit_w", e.effective_power_limit);
}

json body_json(const StateChange& e) {
  json j = {{"type", "state"}, {"state", e.state}, {"reason", e.reason}, {"numbers", e.numbers}};
  if (!e.previous.empty()) j["previous"] = e.previous;
  if (e.process) j["process"] = *e.process;
  if (e.phase) j["phase"] = *e.phase;
  return j;
}
void read_body(const json& j, StateChange& e) {
  e.state = j.at("state").get<std::string>();
  e.reason = j.at("reason").get<std::string>();
  get_if(j, "previous", e.previous);
  get_if(j, "numbers", e.numbers);
  if (j.contains("process")) e.process = integer_from<std::int64_t>(j, "process");
  if (j.contains("phase")) e.phase = integer_from<std::uint32_t>(j, "phase");
}

json body_json(const Drift& e) {
  return {{"type", "drift"},
          {"gpu", e.gpu.text()},
          {"quantity", e.quantity},
          {"before", e.before},
          {"after", e.after}};
}
void read_body(const json& j, Drift& e) {
  e.gpu = gpu_from(j);
  e.quantity = j.at("quantity").get<std::string>();
  e.before = j.at("before").get<double>();
  e.after = j.at("after").get<double>();
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
  for (const auto& [kind, told] : j.at("calls").items()) {
    CallHistogram& histogram = e.calls[kind];
    histogram.bounds_s = told.at("bounds_s").get<std::vector<double>>();
    histogram.counts = told.at("counts").get<std::vector<std::uint64_t>>();
    histogram.sum_s = told.at("sum_s").get<double>();
  }
}

json body_json(const ErrorEvent& e) {
  json j = {{"type", "error"},
            {"code", to_string(e.error.code)},
            {"message", e.error.message},
            {"remedy", e.error.remedy}};
  if (e.gpu) j["gpu"] = e.gpu->text();
  return j;
}
void read_body(const json& j, ErrorEvent& e) {
  if (j.contains("gpu")) e.gpu = gpu_from(j);
  e.error.code = error_code_from(j.at("code").get<std::string>());
  e.error.message = j.at("message").get<std::string>();
  get_if(j, "remedy", e.error.remedy);
}

json body_json(const RunEnd& e) {
  json j = {
      {"type", "run_end"}, {"exit_code", e.exit_code}, {"reason", e.reason}, {"totals", e.totals}};
  if (!e.summary.empty()) j["summary"] = e.summary;
  return j;
}
void read_body(const json& j, RunEnd& e) {
  e.exit_code = integer_from<int>(j, "exit_code");
  e.reason = j.at("reason").get<std::string>();
  get_if(j, "totals", e.totals);
  get_if(j, "summary", e.summary);
}

template <class Body>
EventBody read_as(const json& j) {
  Body body;
  read_body(j, body);
  return body;
}

struct TypeReader {
  const char* type;
  EventBody (*read)(const json&);
};
constexpr TypeReader kReaders[] = {
    {"run_start", read_as<RunStart>},    {"gpu", read_as<GpuEvent>},
    {"sample", read_as<SampleEvent>},    {"window", read_as<WindowEvent>},
    {"process", read_as<ProcessEvent>},  {"progress", read_as<ProgressEvent>},
    {"decision", read_as<Decision>},     {"forecast", read_as<Forecast>},
    {"setting", read_as<SettingChange>}, {"state", read_as<StateChange>},
    {"drift", read_as<Drift>},           {"features", read_as<FeaturesEvent>},
    {"throttle", read_as<Throttle>},     {"driver_calls", read_as<DriverCalls>},
    {"error", read_as<ErrorEvent>},      {"run_end", read_as<RunEnd>},
};

Error broken(const std::string& what) {
  return Error{ErrorCode::kParse, "not an event: " + what};
}

}  // namespace

std::string to_json_line(const Event& event) {
  json j = std::visit([](const auto& body) { return body_json(body); }, event.body);
  j["v"] = kEventVersion;
  j["t"] = event.time.since_origin().value();
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Event> parse_event(std::string_view line) {
  const json j = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object()) return broken("expected a JSON object");
  // The library reports a missing or mistyped key by throwing; this is where that becomes an Error.
  try {
    if (integer_from<int>(j, "v") != kEventVersion) {
      return broken("version " + j.at("v").dump() + ", this program reads " +
                    std::to_string(kEventVersion));
    }
    const auto type = j.at("type").get<std::string>();
    for (const TypeReader& reader : kReaders) {
      if (type != reader.type) continue;
      return Event{instant_from(j, "t"), reader.read(j)};
    }
    return broken("unknown type '" + type + "'");
  } catch (const json::exception& problem) {
    return broken(problem.what());
  }
}

}  // namespace hypermile
