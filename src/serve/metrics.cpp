// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/version.h"

namespace hypermile {
namespace {

using prometheus::Labels;

constexpr const char* kStates[] = {"warm_up", "baseline",   "search", "hold",    "drift",
                                   "idle",    "left_alone", "unsure", "refused", "released"};

// One registry being filled. A family is made where it first gets a value.
class Filler {
 public:
  explicit Filler(prometheus::Registry& registry) : registry_(registry) {}

  void gauge(const char* name, const char* help, const Labels& labels, double value) {
    prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels).Set(value);
  }
  void gauge(const char* name, const char* help, const Labels& labels,
             const std::optional<double>& value) {
    if (value) gauge(name, help, labels, *value);
  }
  template <class Tag>
  void gauge(const char* name, const char* help, const Labels& labels,
             const std::optional<Quantity<Tag>>& value, double scale = 1) {
    if (value) gauge(name, help, labels, value->value() * scale);
  }
  void counter(const char* name, const char* help, const Labels& labels, double value) {
    prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels).Increment(
        std::max(0.0, value));
  }
  void histogram(const char* name, const char* help, const Labels& labels,
                 const CallHistogram& told) {
    if (!is_histogram(told)) return;
    prometheus::BuildHistogram()
        .Name(name)
        .Help(help)
        .Register(registry_)
        .Add(labels, told.bounds_s)
        .ObserveMultiple({told.counts.begin(), told.counts.end()}, std::max(0.0, told.sum_s));
  }

 private:
  // A log may hold anything.
  static bool is_histogram(const CallHistogram& told) {
    return !told.bounds_s.empty() && told.counts.size() == told.bounds_s.size() + 1 &&
           std::ranges::adjacent_find(told.bounds_s, std::greater_equal<>()) == told.bounds_s.end();
  }

  prometheus::Registry& registry_;
};

Labels with(Labels labels, const std::string& name, const std::string& value) {
  labels[name] = value;
  return labels;
}

void fill_sensors(Filler& fill, const WatchedGpu& gpu, const Labels& labels) {
  constexpr double kHertz = 1e6;
  fill.gauge("hypermile_gpu_power_watts", "Board power, as last read.", labels,
             gpu.last.power_instant ? gpu.last.power_instant : gpu.last.power_average);
  fill.gauge("hypermile_gpu_power_limit_watts", "Power limit in force.", labels,
             gpu.last.power_limit);
  fill.gauge("hypermile_gpu_temperature_celsius", "Temperature of the GPU.", labels,
             gpu.last.temperature);
  fill.gauge("hypermile_gpu_utilization_ratio", "Share of time in which a kernel ran.", labels,
             gpu.last.gpu_utilization);
  fill.gauge("hypermile_gpu_clock_hertz", "Clock, as last read.", with(labels, "clock", "sm"),
             gpu.last.sm_clock, kHertz);
  fill.gauge("hypermile_gpu_clock_hertz", "Clock, as last read.", with(labels, "clock", "memory"),
             gpu.last.memory_clock, kHertz);
  fill.gauge("hypermile_gpu_requested_clock_hertz",
             "Clock that the GPU was told; absent where it is left to the driver.",
             with(labels, "clock", "sm"), gpu.requested.sm_clock, kHertz);
  fill.gauge("hypermile_gpu_requested_clock_hertz",
             "Clock that the GPU was told; absent where it is left to the driver.",
             with(labels, "clock", "memory"), gpu.requested.memory_clock, kHertz);
  fill.gauge("hypermile_gpu_throttled", "1 while heat, power or hardware holds the GPU back.",
             labels, gpu.throttled ? 1.0 : 0.0);
  if (const auto energy = gpu.energy()) {
    fill.counter("hypermile_gpu_energy_joules_total",
                 "Energy of the whole board since the run began, by its counter.", labels,
                 energy->value());
  }
}

void fill_counts(Filler& fill, const WatchedGpu& gpu, const Labels& labels) {
  constexpr const char* kDecisions =
      "Decisions of the policy by outcome: probe, keep, or default (to measure or to stay there).";
  for (const char* outcome : {"probe", "keep", "default"}) {
    const auto found = gpu.decisions.find(outcome);
    fill.counter("hypermile_decisions_total", kDecisions, with(labels, "outcome", outcome),
                 found != gpu.decisions.end() ? static_cast<double>(found->second) : 0);
  }
  constexpr const char* kWrites = "Settings asked for, by result: accepted or refused.";
  fill.counter("hypermile_setting_writes_total", kWrites, with(labels, "result", "accepted"),
               static_cast<double>(gpu.accepted));
  fill.counter("hypermile_setting_writes_total", kWrites, with(labels, "result", "refused"),
               static_cast<double>(gpu.refused));
  constexpr const char* kWindows = "Windows measured, by result: usable or unusable.";
  fill.counter("hypermile_windows_total", kWindows, with(labels, "result", "usable"),
               static_cast<double>(gpu.usable_windows));
  fill.counter("hypermile_windows_total", kWindows, with(labels, "result", "unusable"),
               static_cast<double>(gpu.unusable_windows));
  fill.counter("hypermile_drifts_total", "Changes of the job that no Setting caused.", labels,
               static_cast<double>(gpu.drifts));
  fill.counter("hypermile_iterations_total", "Iterations of the job measured in Windows.", labels,
               gpu.iterations);
}

void fill_calls(Filler& fill, const WatchedGpu& gpu, const Labels& labels) {
  for (const auto& [kind, times] : gpu.calls) {
    fill.histogram("hypermile_nvml_call_duration_seconds",
                   "Time that the driver took over calls of NVML, by kind of call.",
                   with(labels, "call", kind), times);
  }
}

void fill_result(Filler& fill, const WatchedGpu& gpu, const Labels& labels) {
  const MeasuredPhase* phase = gpu.main_phase();
  if (phase == nullptr) return;
  const auto mean = [&](const Setting& setting, const char* which) {
    const SettingDigest* measured = phase->find(setting);
    if (measured == nullptr) return;
    fill.gauge("hypermile_iteration_seconds",
               "Mean time per iteration, at the default and at the Setting kept.",
               with(labels, "setting", which), measured->time_s.estimate().mean);
    fill.gauge("hypermile_iteration_joules",
               "Mean energy per iteration, at the default and at the Setting kept.",
               with(labels, "setting", which), measured->energy_j.estimate().mean);
  };
  mean({}, "default");
  if (phase->kept) mean(*phase->kept, "kept");
  fill.gauge("hypermile_saved_joules",
             "Energy saved against the default in the Windows measured, search included; negative "
             "where it cost energy.",
             labels, phase->saved_j());
  if (!phase->kept) return;
  const auto compared = phase->compare(*phase->kept);
  if (!compared) return;
  fill.gauge("hypermile_energy_saved_ratio",
             "Measured share of an iteration's energy that the Setting kept saves.", labels,
             compared->saved);
  fill.gauge("hypermile_slowdown_ratio",
             "Measured slowdown of an iteration at the Setting kept: 0.03 is 3 % slower.", labels,
             compared->slowdown);
}

void fill_run(Filler& fill, const RunDigest& run) {
  const Labels of_run = {{"run", run.start().run.text()}};
  Labels info = of_run;
  info["policy"] = run.told_by_start("policy");
  info["objective"] = run.told_by_start("objective");
  info["batch_job"] = run.told_by_start("SLURM_JOB_ID");
  info["simulated"] = run.told_by_start("simulated") == "true" ? "true" : "false";
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
  if (!run.states().empty()) {
    for (const char* state : kStates) {
      fill.gauge("hypermile_state", "1 for the state that the Controller is in, else 0.",
                 with(of_run, "state", state), run.states().last().state == state ? 1.0 : 0.0);
    }
  }
  for (const auto& [code, count] : run.errors()) {
    fill.counter("hypermile_errors_total", "Failures in the log by code.",
                 with(of_run, "code", code), static_cast<double>(count));
  }
  for (const auto& gpu : run.gpus()) {
    Labels labels = with(of_run, "gpu", gpu->identity.uuid.text());
    labels["index"] = gpu->identity.index ? fmt::format("{}", *gpu->identity.index) : "";
    fill.gauge(
        "hypermile_gpu_info", "1, with what is known of the GPU as labels.",
        with(with(labels, "name", gpu->identity.name), "driver", gpu->identity.driver_version),
        1.0);
    fill_sensors(fill, *gpu, labels);
    fill_calls(fill, *gpu, labels);
    fill_counts(fill, *gpu, labels);
    fill_result(fill, *gpu, labels);
  }
}

void fill_leases(Filler& fill, const DaemonView& daemon) {
  constexpr double kHertz = 1e6;
  for (const wire::LeaseEntry& lease : daemon.leases.leases) {
    for (const wire::LeasedGpu& gpu : lease.gpus) {
      const Labels labels = {{"gpu", gpu.gpu.text()}};
      fill.gauge("hypermile_lease_active", "1 while somebody holds a lease on the GPU.", labels,
                 lease.lease != 0 ? 1.0 : 0.0);
      fill.gauge("hypermile_lease_restoring", "1 while a GPU is being given back.", labels,
                 gpu.restoring ? 1.0 : 0.0);
      fill.gauge("hypermile_lease_requested_clock_hertz", "Clock that a lease asked for.",
                 with(labels, "clock", "sm"), gpu.requested.sm_clock, kHertz);
      fill.gauge("hypermile_lease_requested_clock_hertz", "Clock that a lease asked for.",
                 with(labels, "clock", "memory"), gpu.requested.memory_clock, kHertz);
      if (lease.lease == 0) continue;
      fill.gauge("hypermile_lease_start_timestamp_seconds", "Unix time at which a lease began.",
                 labels, lease.since_unix);
    }
  }
}

void fill_daemon_counts(Filler& fill, const std::vector<wire::Count>& counts) {
  constexpr std::string_view kEnded = "leases_ended_";
  for (const wire::Count& count : counts) {
    const auto value = static_cast<double>(count.value);
    if (count.name.starts_with(kEnded)) {
      fill.counter("hypermile_daemon_leases_ended_total", "Leases that ended, by reason.",
                   {{"reason", count.name.substr(kEnded.size())}}, value);
    } else if (count.name == "leases_granted") {
      fill.counter("hypermile_daemon_leases_granted_total", "Leases granted.", {}, value);
    } else if (count.name == "restores") {
      fill.counter("hypermile_daemon_restores_total", "GPUs given back.", {}, value);
    } else if (count.name == "restore_failures") {
      fill.counter("hypermile_daemon_restore_failures_total",
                   "Attempts to give a GPU back that had to be made again.", {}, value);
    } else if (count.name == "writes_applied" || count.name == "writes_failed") {
      fill.counter("hypermile_daemon_writes_total",
                   "Settings that clients asked for, by result: applied or failed.",
                   {{"result", count.name.substr(std::string_view("writes_").size())}}, value);
    } else if (count.name == "write_microseconds") {
      fill.counter("hypermile_daemon_write_seconds_total",
                   "Time that writes took, journal and driver together.", {}, value / 1e6);
    } else if (count.name == "last_write_unix" && value > 0) {
      fill.gauge("hypermile_daemon_last_write_timestamp_seconds",
                 "Unix time at which the driver last took a Setting.", {}, value);
    }
  }
}

void fill_daemon(Filler& fill, const DaemonView& daemon) {
  fill.gauge("hypermile_daemon_up", "1 while hypermiled answers on its socket.", {},
             daemon.status ? 1.0 : 0.0);
  if (!daemon.status) return;
  fill.gauge("hypermile_daemon_closed", "1 while the daemon grants no new leases.", {},
             daemon.status->closed ? 1.0 : 0.0);
  fill.gauge("hypermile_daemon_leases", "Leases held now.", {},
             static_cast<double>(std::ranges::count_if(
                 daemon.leases.leases, [](const auto& lease) { return lease.lease != 0; })));
  for (const wire::GpuStatus& gpu : daemon.status->gpus) {
    fill.gauge("hypermile_daemon_gpu_trouble",
               "1 where the daemon cannot lease a GPU or has not yet restored it.",
               {{"gpu", gpu.gpu.text()}}, gpu.trouble.empty() ? 0.0 : 1.0);
  }
  fill_leases(fill, daemon);
  fill_daemon_counts(fill, daemon.status->counts);
}

}  // namespace

Metrics::Metrics(std::span<const RunDigest* const> runs, const DaemonView& daemon,
                 std::size_t unreadable_logs)
    : registry_(
          std::make_unique<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {
  Filler fill(*registry_);
  fill.gauge("hypermile_build_info", "1, with the version as a label.", {{"version", kVersion}},
             1.0);
  fill.gauge("hypermile_logs_with_problems", "Event logs that cannot be read, or not all of them.",
             {}, static_cast<double>(unreadable_logs));
  for (const RunDigest* run : runs) fill_run(fill, *run);
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
