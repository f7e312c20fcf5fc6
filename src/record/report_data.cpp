// SPDX-License-Identifier: Apache-2.0
#include "record/report_data.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "record/event_words.h"
#include "record/figures_json.h"
#include "record/setting_json.h"

namespace hypermile {
namespace {

using json = nlohmann::json;

// Rounds to so many significant digits: a screen shows no more, and the page stays small.
double shortened(double value, int digits = 5) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

double milliseconds_of(double time_s) {
  return std::round(time_s * 1e3) / 1e3;
}

void put_short(json& j, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) j[key] = shortened(*value);
}

template <class Tag>
void put_short(json& j, const char* key, const std::optional<Quantity<Tag>>& value) {
  if (value) put_short(j, key, std::optional(value->value()));
}

json setting_of(const Setting& setting) {
  json j = setting_json(setting);
  j["label"] = to_string(setting);
  return j;
}

json series_of(const ThinnedSeries& series, double scale = 1) {
  json t = json::array(), mean = json::array(), low = json::array(), high = json::array();
  for (const ThinnedSeries::Bucket& bucket : series.buckets()) {
    t.push_back(milliseconds_of(bucket.time_s()));
    mean.push_back(shortened(scale * bucket.mean()));
    low.push_back(shortened(scale * bucket.low));
    high.push_back(shortened(scale * bucket.high));
  }
  return {{"t", std::move(t)},
          {"mean", std::move(mean)},
          {"low", std::move(low)},
          {"high", std::move(high)}};
}

json measured_of(const SettingCost& cost) {
  json j = cost_json(cost);
  j["setting"] = setting_of(cost.setting);
  return j;
}

json forecast_of(const std::vector<ForecastPoint>& points) {
  json list = json::array();
  for (const ForecastPoint& point : points) {
    list.push_back({{"setting", setting_of(point.setting)},
                    {"slowdown", point.slowdown},
                    {"slowdown_sd", point.slowdown_sd},
                    {"score", point.score},
                    {"score_sd", point.score_sd},
                    {"safe", point.safe}});
  }
  return list;
}

json phase_of(const RunFigures& figures, const GpuUuid& gpu, const PhaseSeries& series) {
  const PhaseFigures* measured = figures.find(gpu, series.process, series.pattern);
  json settings = json::array();
  if (measured != nullptr) {
    for (const SettingCost& cost : measured->costs()) settings.push_back(measured_of(cost));
  }
  const double micro_batches = figures.micro_batches(series.process, series.pattern.phase);
  return {{"process", series.process},
          {"phase", series.pattern.phase},
          {"level", series.pattern.level},
          {"seconds", shortened(measured != nullptr ? measured->seconds() : 0)},
          {"main", measured != nullptr && measured == figures.main_phase(gpu)},
          {"settings", std::move(settings)},
          {"time_s", series_of(series.time_s, micro_batches)},
          {"energy_j", series_of(series.energy_j, micro_batches)},
          {"forecast", forecast_of(series.last_forecast)},
          {"first_forecast", forecast_of(series.first_forecast)}};
}

std::optional<double> total(const RunDigest& run, const char* name) {
  if (!run.end()) return std::nullopt;
  const auto found = run.end()->totals.find(name);
  return found != run.end()->totals.end() ? std::optional(found->second) : std::nullopt;
}

json now_of(const Sample& last) {
  json j = json::object();
  put_short(j, "power_w", last.power_instant ? last.power_instant : last.power_average);
  put_short(j, "sm_mhz", last.sm_clock);
  put_short(j, "mem_mhz", last.memory_clock);
  put_short(j, "temperature_c", last.temperature);
  put_short(j, "utilization", last.gpu_utilization);
  return j;
}

json gpu_of(const RunDigest& run, const WatchedGpu& gpu) {
  json asked = json::array();
  gpu.asked.for_each([&](const AskedSetting& each) {
    json entry = setting_of(each.setting);
    entry["t"] = milliseconds_of(each.time_s);
    asked.push_back(std::move(entry));
  });
  json phases = json::array();
  for (const PhaseSeries& series : gpu.phases) {
    phases.push_back(phase_of(run.figures(), gpu.identity.uuid, series));
  }
  json j = {{"uuid", gpu.identity.uuid.text()},
            {"name", gpu.identity.name},
            {"driver", gpu.identity.driver_version},
            {"power_w", series_of(gpu.power_w)},
            {"sm_mhz", series_of(gpu.sm_mhz)},
            {"mem_mhz", series_of(gpu.mem_mhz)},
            {"temperature_c", series_of(gpu.temperature_c)},
            {"limit_w", series_of(gpu.limit_w)},
            {"asked", std::move(asked)},
            {"phases", std::move(phases)},
            {"throttled", gpu.throttled},
            {"now", now_of(gpu.last)}};
  if (gpu.identity.index) j["index"] = *gpu.identity.index;
  put_short(j, "energy_j", run.figures().energy(gpu.identity.uuid));
  if (gpu.truth) {
    j["oracle"] = {{"setting", setting_of(gpu.truth->setting)}};
    put_short(j["oracle"], "slowdown", total(run, "true_best_slowdown"));
    if (const auto change = total(run, "true_best_energy_change")) {
      put_short(j["oracle"], "saved", std::optional(-*change));
    }
  }
  return j;
}

std::string title_of(const RunDigest& run) {
  const std::string workload = run.told_by_start("workload");
  if (!workload.empty()) {
    const std::string gpu =
        run.gpus().empty() ? run.told_by_start("gpu") : run.gpus().front()->identity.name;
    return fmt::format("{} on {} under {}", workload, gpu, run.told_by_start("policy"));
  }
  const std::string title = job_words(run.start());
  return title.empty() ? "a run whose beginning is not in the log" : title;
}

json states_of(const RunDigest& run) {
  json states = json::array();
  run.states().for_each([&](const StateEntry& each) {
    states.push_back({{"t", milliseconds_of(each.time_s)}, {"state", each.state}});
  });
  return states;
}

json told_of(const RunDigest& run) {
  json lines = json::array();
  run.told().for_each([&](const ToldEvent& each) {
    json line = {{"t", milliseconds_of(each.time_s)}, {"kind", each.kind}, {"text", each.text}};
    if (!each.gpu.empty()) line["gpu"] = each.gpu;
    lines.push_back(std::move(line));
  });
  return lines;
}

}  // namespace

nlohmann::json run_line_json(const RunDigest& run, const std::string& id, const std::string& file) {
  json j = {{"id", id},
            {"file", std::filesystem::path(file).filename().string()},
            {"title", title_of(run)},
            {"started", run.start().unix_time},
            {"now_s", milliseconds_of(run.now_s())},
            {"simulated", run.simulated()},
            {"ended", run.end().has_value()}};
  if (!run.states().empty()) j["state"] = run.states().last().state;
  if (!run.gpus().empty()) j["gpu"] = run.gpus().front()->identity.name;
  return j;
}

nlohmann::json run_json(const RunDigest& run, const std::string& id, const std::string& file) {
  json j = run_line_json(run, id, file);
  j["run"] = run.start().run.text();
  j["program"] = run.start().program;
  j["command"] = run.start().command;
  j["environment"] = run.start().environment;
  j["policy"] = run.told_by_start("policy");
  j["objective"] = run.told_by_start("objective");
  put_short(j, "bound", run.bound());
  j["job"] = job_json(run.figures());
  j["phases"] = phases_json(run.figures());
  j["state_reason"] = run.state_reason();
  j["states"] = states_of(run);
  j["told"] = told_of(run);
  j["told_left_out"] = run.told().left_out();
  j["told_head"] = run.told().head().size();
  json gpus = json::array();
  for (const auto& gpu : run.gpus()) gpus.push_back(gpu_of(run, *gpu));
  j["gpus"] = std::move(gpus);
  if (run.end()) {
    j["end"] = {{"exit_code", run.end()->exit_code}, {"reason", run.end()->reason}};
    j["end"]["totals"] = run.end()->totals;
  }
  return j;
}

nlohmann::json report_json(const LogTail& log) {
  json runs = json::array();
  for (const auto& run : log.runs()) {
    runs.push_back(run_json(*run, fmt::format("{}", runs.size()), log.path()));
  }
  return {{"runs", std::move(runs)},
          {"runs_left_out", log.runs_left_out()},
          {"unreadable_lines", log.unreadable_lines() + (log.half_a_line() ? 1 : 0)}};
}

}  // namespace hypermile
