// SPDX-License-Identifier: Apache-2.0
#include "record/figures_json.h"

#include <nlohmann/json.hpp>

#include "record/figures_text.h"
#include "record/json_fields.h"
#include "record/setting_json.h"

namespace hypermile {

namespace {

using namespace json_fields;

constexpr double kJoulesPerWattHour = 3600;

void put_estimate(json& j, const char* key, const char* interval,
                  const std::optional<Estimate>& estimate) {
  if (!estimate) return;
  put(j, key, std::optional(estimate->value));
  put(j, interval, estimate->half_width95);
}

}  // namespace

nlohmann::json job_json(const JobTotals& job) {
  json j = {{"seconds", job.seconds}, {"iterations", job.iterations}};
  put(j, "joules", job.joules);
  put(j, "default_seconds", job.default_seconds);
  put(j, "default_joules", job.default_joules);
  put_estimate(j, "saved_j", "saved_interval95_j", job.saved_j);
  if (job.saved_j) j["saved_wh"] = job.saved_j->value / kJoulesPerWattHour;
  put_estimate(j, "lost_s", "lost_interval95_s", job.lost_s);
  put_estimate(j, "energy_change", "energy_change_interval95", job.energy_change);
  put_estimate(j, "time_change", "time_change_interval95", job.time_change);
  if (job.energy_change || job.time_change) {
    j["compared_with"] = job.against_default_run ? "default_run" : "default_windows";
    j["text"] = job_text(job);
  }
  return j;
}

nlohmann::json job_json(const RunFigures& figures) {
  json j = job_json(figures.job());
  const std::optional<JobBill> bill = figures.bill();
  if (!bill) return j;
  j["kwh"] = bill->kwh;
  put(j, "host_joules", bill->host_joules);
  put(j, "saved_kwh", bill->saved_kwh);
  put(j, "cost", bill->cost(bill->kwh));
  put(j, "saved_cost", bill->cost(bill->saved_kwh));
  if (bill->tariff.price) j["currency"] = bill->tariff.price->currency;
  put(j, "co2e_g", bill->co2e_g(bill->kwh));
  put(j, "saved_co2e_g", bill->co2e_g(bill->saved_kwh));
  if (bill->tariff.carbon) j["carbon_source"] = bill->tariff.carbon->source;
  j["bill_text"] = bill_text(*bill);
  return j;
}

nlohmann::json cost_json(const SettingCost& cost) {
  json j = {{"setting", setting_json(cost.setting)},
            {"windows", cost.windows},
            {"unusable", cost.unusable},
            {"iterations", cost.iterations},
            {"kept", cost.kept}};
  put_estimate(j, "time_per_iteration_s", "time_interval95_s", cost.time_s);
  put_estimate(j, "energy_per_iteration_j", "energy_interval95_j", cost.energy_j);
  put_estimate(j, "power_w", "power_interval95_w", cost.power_w);
  put_estimate(j, "sm_mhz", "sm_interval95_mhz", cost.sm_mhz);
  put_estimate(j, "energy_change", "energy_change_interval95", cost.energy_change);
  put_estimate(j, "time_change", "time_change_interval95", cost.time_change);
  j["text"] = cost_text(cost);
  if (cost.energy_change || cost.time_change) j["change_text"] = change_text(cost);
  return j;
}

nlohmann::json phase_json(const JobPhase& phase) {
  json settings = json::array();
  for (const SettingCost& each : phase.settings) settings.push_back(cost_json(each));
  json j = {{"process", phase.process}, {"phase", phase.phase}, {"settings", std::move(settings)}};
  if (phase.kept) j["kept"] = cost_json(*phase.kept);
  if (!phase.shares.empty()) j["kept_mix"] = mix_text(phase);
  for (const Setting& each : phase.kept_each) j["kept_each"].push_back(setting_json(each));
  return j;
}

nlohmann::json phases_json(const RunFigures& figures) {
  json phases = json::array();
  for (const JobPhase& phase : figures.job_phases()) phases.push_back(phase_json(phase));
  return phases;
}

}  // namespace hypermile
