// SPDX-License-Identifier: Apache-2.0
//
// Events as JSON and back. Each type has one pair of functions (those of measured quantities are in
// measured_json.cpp); the envelope {"v","t","type"} is added around them. A nullopt is left out,
// never written as null or 0.
#include <cmath>
#include <nlohmann/json.hpp>

#include "record/event.h"
#include "record/json_fields.h"
#include "record/measured_json.h"
#include "record/setting_json.h"

namespace hypermile {
namespace {

using namespace json_fields;

// A forecast has many numbers, and digits beyond 0.001 % mean nothing.
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

Event counted_from(Instant origin, Event event) {
  const auto shifted = [&](Instant time) { return Instant() + (time - origin); };
  event.time = shifted(event.time);
  if (auto* measured = std::get_if<WindowEvent>(&event.body)) {
    measured->window.begin = shifted(measured->window.begin);
  }
  return event;
}

std::string to_json_line(const Event& event) {
  json j = std::visit([](const auto& body) { return body_json(body); }, event.body);
  j["v"] = kEventVersion;
  j["t"] = event.time.since_origin().value();
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Event> parse_event(std::string_view line) {
  const json j = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object()) return broken("expected a JSON object");
  // The JSON library throws where a key is missing or has the wrong type; here that becomes an
  // Error.
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
