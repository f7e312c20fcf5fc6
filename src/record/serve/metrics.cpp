// SPDX-License-Identifier: Apache-2.0
#include "record/serve/metrics.h"

#include <fmt/format.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>

#include "base/version.h"
#include "record/serve/daemon_metrics.h"

namespace hypermile {
namespace {

using prometheus::Labels;

constexpr const char* kStates[] = {"warm_up", "baseline",   "search", "hold",    "drift",
                                   "idle",    "left_alone", "unsure", "refused", "released"};

void fill_sensors(MetricFiller& fill, const WatchedGpu& gpu, const std::optional<Joules>& energy,
                  const Labels& labels) {
  constexpr double kHertz = 1e6;
  fill.gauge("hypermile_gpu_power_watts", "Board power, as last read.", labels,
             gpu.last.power_instant ? gpu.last.power_instant : gpu.last.power_average);
  fill.gauge("hypermile_gpu_power_limit_watts", "Power limit in force.", labels,
             gpu.last.power_limit);
  fill.gauge("hypermile_gpu_temperature_celsius", "Temperature of the GPU.", labels,
             gpu.last.temperature);
  fill.gauge("hypermile_gpu_utilization_ratio", "Share of time in which a kernel ran.", labels,
             gpu.last.gpu_utilization);
  fill.gauge("hypermile_gpu_clock_hertz", "Clock, as last read.", with_label(labels, "clock", "sm"),
             gpu.last.sm_clock, kHertz);
  fill.gauge("hypermile_gpu_clock_hertz", "Clock, as last read.",
             with_label(labels, "clock", "memory"), gpu.last.memory_clock, kHertz);
  fill.gauge("hypermile_gpu_requested_clock_hertz",
             "Clock requested for the GPU; absent where it is left to the driver.",
             with_label(labels, "clock", "sm"), gpu.requested.sm_clock, kHertz);
  fill.gauge("hypermile_gpu_requested_clock_hertz",
             "Clock requested for the GPU; absent where it is left to the driver.",
             with_label(labels, "clock", "memory"), gpu.requested.memory_clock, kHertz);
  fill.gauge("hypermile_gpu_throttled", "1 while heat, power or hardware holds the GPU back.",
             labels, gpu.throttled ? 1.0 : 0.0);
  if (energy) {
    fill.counter("hypermile_gpu_energy_joules_total",
                 "Energy of the whole board since the run began, by its counter.", labels,
                 energy->value());
  }
}

void fill_counts(MetricFiller& fill, const WatchedGpu& gpu, const Labels& labels) {
  constexpr const char* kDecisions =
      "Decisions of the policy, by outcome: probe, keep, or default (to measure it or to stay "
      "there).";
  for (const char* outcome : {"probe", "keep", "default"}) {
    const auto found = gpu.decisions.find(outcome);
    fill.counter("hypermile_decisions_total", kDecisions, with_label(labels, "outcome", outcome),
                 found != gpu.decisions.end() ? static_cast<double>(found->second) : 0);
  }
  constexpr const char* kWrites = "Settings requested, by result: accepted or refused.";
  fill.counter("hypermile_setting_writes_total", kWrites, with_label(labels, "result", "accepted"),
               static_cast<double>(gpu.accepted));
  fill.counter("hypermile_setting_writes_total", kWrites, with_label(labels, "result", "refused"),
               static_cast<double>(gpu.refused));
  constexpr const char* kWindows = "Windows measured, by result: usable or unusable.";
  fill.counter("hypermile_windows_total", kWindows, with_label(labels, "result", "usable"),
               static_cast<double>(gpu.usable_windows));
  fill.counter("hypermile_windows_total", kWindows, with_label(labels, "result", "unusable"),
               static_cast<double>(gpu.unusable_windows));
  fill.counter("hypermile_drifts_total", "Changes of the job that no setting caused.", labels,
               static_cast<double>(gpu.drifts));
  fill.counter("hypermile_iterations_total", "Iterations of the job measured in windows.", labels,
               gpu.iterations);
}

void fill_calls(MetricFiller& fill, const WatchedGpu& gpu, const Labels& labels) {
  for (const auto& [kind, times] : gpu.calls) {
    fill.histogram("hypermile_nvml_call_duration_seconds",
                   "Time that calls of NVML took, by kind of call.",
                   with_label(labels, "call", kind), times);
  }
}

void fill_job(MetricFiller& fill, const JobTotals& job, const Labels& labels) {
  fill.gauge("hypermile_job_seconds", "Time of the whole job so far.", labels, job.seconds);
  fill.gauge("hypermile_job_joules", "Energy of all GPUs of the job so far.", labels, job.joules);
  fill.gauge("hypermile_job_default_seconds",
             "Time that the whole job would have taken so far at the default.", labels,
             job.default_seconds);
  fill.gauge("hypermile_job_default_joules",
             "Energy that the whole job would have used so far at the default.", labels,
             job.default_joules);
  const auto value = [](const std::optional<Estimate>& estimate, double sign) {
    return estimate ? std::optional(sign * estimate->value) : std::nullopt;
  };
  const auto error = [](const std::optional<Estimate>& estimate) {
    return estimate ? estimate->half_width95 : std::nullopt;
  };
  fill.gauge("hypermile_saved_joules",
             "Energy that the whole job saved against the default, search included; negative where "
             "it used more.",
             labels, value(job.saved_j, 1));
  fill.gauge("hypermile_energy_saved_ratio",
             "Share of its energy that the whole job saved against the default, search included; "
             "negative where it used more.",
             labels, value(job.energy_change, -1));
  fill.gauge("hypermile_energy_saved_ratio_interval95",
             "Half-width of the 95 % interval of hypermile_energy_saved_ratio.", labels,
             error(job.energy_change));
  fill.gauge("hypermile_slowdown_ratio",
             "Slowdown of the whole job against the default, search included: 0.03 is 3 % slower.",
             labels, value(job.time_change, 1));
  fill.gauge("hypermile_slowdown_ratio_interval95",
             "Half-width of the 95 % interval of hypermile_slowdown_ratio.", labels,
             error(job.time_change));
}

void fill_bill(MetricFiller& fill, const std::optional<JobBill>& bill, const Labels& labels) {
  if (!bill) return;
  fill.gauge("hypermile_job_host_joules",
             "Energy of the host's processors and memory during the job, by RAPL; absent where "
             "they cannot be read.",
             labels, bill->host_joules);
  const Labels money =
      with_label(labels, "currency", bill->tariff.price ? bill->tariff.price->currency : "");
  fill.gauge("hypermile_job_cost", "Cost of the job's energy at the price given.", money,
             bill->cost(bill->kwh));
  fill.gauge("hypermile_saved_cost", "Cost that the job saved at the price given.", money,
             bill->cost(bill->saved_kwh));
  fill.gauge("hypermile_job_co2e_grams", "CO2e of the job's energy at the intensity given.", labels,
             bill->co2e_g(bill->kwh));
  fill.gauge("hypermile_saved_co2e_grams", "CO2e that the job saved at the intensity given.",
             labels, bill->co2e_g(bill->saved_kwh));
}

// Of the phase in which most of the GPU's time was spent.
void fill_settings(MetricFiller& fill, const PhaseFigures* phase, const Labels& labels) {
  if (phase == nullptr) return;
  const auto fill_cost = [&](const std::optional<SettingCost>& cost, const char* which) {
    if (!cost) return;
    const Labels of_setting = with_label(labels, "setting", which);
    if (cost->time_s) {
      fill.gauge("hypermile_iteration_seconds",
                 "Mean time per iteration, at the default and at the kept setting.", of_setting,
                 cost->time_s->value);
    }
    if (cost->energy_j) {
      fill.gauge("hypermile_iteration_joules",
                 "Mean energy per iteration, at the default and at the kept setting.", of_setting,
                 cost->energy_j->value);
    }
  };
  fill_cost(phase->cost_at({}), "default");
  const std::optional<SettingCost> kept = phase->kept_cost();
  fill_cost(kept, "kept");
  if (!kept || !kept->energy_change || !kept->time_change) return;
  fill.gauge("hypermile_kept_energy_saved_ratio",
             "Share of an iteration's energy that the kept setting saves; negative where it uses "
             "more.",
             labels, -kept->energy_change->value);
  fill.gauge("hypermile_kept_slowdown_ratio",
             "Slowdown of an iteration at the kept setting: 0.03 is 3 % slower.", labels,
             kept->time_change->value);
}

void fill_run(MetricFiller& fill, const RunDigest& run) {
  const Labels of_run = {{"run", run.start().run.text()}};
  Labels info = of_run;
  info["policy"] = run.told_by_start("policy");
  info["objective"] = run.told_by_start("objective");
  info["batch_job"] = run.told_by_start("SLURM_JOB_ID");
  info["batch_step"] = run.told_by_start("SLURM_STEP_ID");
  info["node"] = run.told_by_start("SLURMD_NODENAME");
  const std::string batch_user = run.told_by_start("SLURM_JOB_USER");
  info["user"] = batch_user.empty() ? run.told_by_start("user") : batch_user;
  info["simulated"] = run.simulated() ? "true" : "false";
  fill.gauge("hypermile_run_info", "1, with what is known of the run as labels.", info, 1.0);
  fill.gauge("hypermile_run_active", "1 while the run goes on, 0 when it has ended.", of_run,
             run.end() ? 0.0 : 1.0);
  fill.gauge("hypermile_run_start_timestamp_seconds", "Unix time at which the run began.", of_run,
             run.start().unix_time);
  fill.gauge("hypermile_run_last_event_timestamp_seconds",
             "Unix time of the last event, which is also when the GPU was last read.", of_run,
             run.start().unix_time + run.now_s());
  fill.gauge("hypermile_max_slowdown_ratio", "Slowdown that the user allowed.", of_run,
             run.bound());
  fill_job(fill, run.figures().job(), of_run);
  fill_bill(fill, run.figures().bill(), of_run);
  if (!run.states().empty()) {
    for (const char* state : kStates) {
      fill.gauge("hypermile_state", "1 for the state that the controller is in, else 0.",
                 with_label(of_run, "state", state),
                 run.states().last().state == state ? 1.0 : 0.0);
    }
  }
  for (const auto& [code, count] : run.errors()) {
    fill.counter("hypermile_errors_total", "Failures in the log by code.",
                 with_label(of_run, "code", code), static_cast<double>(count));
  }
  for (const auto& gpu : run.gpus()) {
    Labels labels = with_label(of_run, "gpu", gpu->identity.uuid.text());
    labels["index"] = gpu->identity.index ? fmt::format("{}", *gpu->identity.index) : "";
    fill.gauge("hypermile_gpu_info", "1, with what is known of the GPU as labels.",
               with_label(with_label(labels, "name", gpu->identity.name), "driver",
                          gpu->identity.driver_version),
               1.0);
    fill_sensors(fill, *gpu, run.figures().energy(gpu->identity.uuid), labels);
    fill_calls(fill, *gpu, labels);
    fill_counts(fill, *gpu, labels);
    fill_settings(fill, run.figures().main_phase(gpu->identity.uuid), labels);
  }
}

// Each run once: of copies of its log the one that goes furthest.
std::vector<const RunDigest*> without_copies(std::span<const RunDigest* const> runs) {
  std::vector<const RunDigest*> once;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by host and run
  for (const RunDigest* run : runs) {
    const auto [found, added] =
        places.try_emplace({run->told_by_start("host"), run->start().run.text()}, once.size());
    if (added || run->start().run.empty()) {
      once.push_back(run);
    } else if (run->now_s() > once[found->second]->now_s()) {
      once[found->second] = run;
    }
  }
  return once;
}

// Over the runs in the logs that are served.
void fill_sums(MetricFiller& fill, std::span<const RunDigest* const> runs) {
  struct Sum {
    double runs = 0, joules = 0, saved_j = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;  // user, host
  for (const RunDigest* run : runs) {
    Sum& sum = sums[{run->told_by_start("user"), run->told_by_start("host")}];
    const JobTotals job = run->figures().job();
    sum.runs += 1;
    sum.joules += job.joules.value_or(0);
    sum.saved_j += job.saved_j ? job.saved_j->value : 0;
  }
  for (const auto& [who, sum] : sums) {
    const Labels labels = {{"user", who.first}, {"host", who.second}};
    fill.gauge("hypermile_user_runs", "Runs in the logs served, by user and host.", labels,
               sum.runs);
    fill.gauge("hypermile_user_joules", "Energy of these runs' GPUs, by user and host.", labels,
               sum.joules);
    fill.gauge("hypermile_user_saved_joules",
               "Energy that these runs saved against the default, by user and host.", labels,
               sum.saved_j);
  }
}

}  // namespace

Metrics::Metrics(std::span<const RunDigest* const> runs, std::span<const RunDigest* const> all,
                 const DaemonView& daemon, std::size_t unreadable_logs)
    : registry_(
          std::make_unique<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {
  MetricFiller fill(*registry_);
  fill.gauge("hypermile_build_info", "1, with the version as a label.", {{"version", kVersion}},
             1.0);
  fill.gauge("hypermile_logs_with_problems", "Event logs that cannot be read, or not all of them.",
             {}, static_cast<double>(unreadable_logs));
  for (const RunDigest* run : without_copies(runs)) fill_run(fill, *run);
  fill_sums(fill, without_copies(all));
  fill_daemon(fill, daemon);
}

Metrics::~Metrics() = default;

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

std::string Metrics::markdown() const {
  std::vector<prometheus::MetricFamily> families = registry_->Collect();
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  std::string out = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
  for (const prometheus::MetricFamily& family : families) {
    std::vector<std::string> names;
    for (const prometheus::ClientMetric& metric : family.metric) {
      for (const auto& label : metric.label) {
        if (std::ranges::find(names, label.name) == names.end()) names.push_back(label.name);
      }
    }
    const char* type = family.type == prometheus::MetricType::Counter     ? "counter"
                       : family.type == prometheus::MetricType::Histogram ? "histogram"
                                                                          : "gauge";
    out += fmt::format("| `{}` | {} | {} | {} |\n", family.name, type, fmt::join(names, ", "),
                       family.help);
  }
  return out;
}

}  // namespace hypermile
