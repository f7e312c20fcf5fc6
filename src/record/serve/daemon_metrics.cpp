// SPDX-License-Identifier: Apache-2.0
#include "record/serve/daemon_metrics.h"

#include <algorithm>
#include <string_view>

namespace hypermile {
namespace {

using prometheus::Labels;

void fill_leases(MetricFiller& fill, const DaemonView& daemon) {
  constexpr double kHertz = 1e6;
  for (const wire::LeaseEntry& lease : daemon.leases.leases) {
    for (const wire::LeasedGpu& gpu : lease.gpus) {
      const Labels labels = {{"gpu", gpu.gpu.text()}};
      fill.gauge("hypermile_lease_active", "1 while somebody holds a lease on the GPU.", labels,
                 lease.lease != 0 ? 1.0 : 0.0);
      fill.gauge("hypermile_lease_restoring", "1 while a GPU is being given back.", labels,
                 gpu.restoring ? 1.0 : 0.0);
      fill.gauge("hypermile_lease_requested_clock_hertz", "Clock that a lease requested.",
                 with_label(labels, "clock", "sm"), gpu.requested.sm_clock, kHertz);
      fill.gauge("hypermile_lease_requested_clock_hertz", "Clock that a lease requested.",
                 with_label(labels, "clock", "memory"), gpu.requested.memory_clock, kHertz);
      if (lease.lease == 0) continue;
      fill.gauge("hypermile_lease_start_timestamp_seconds", "Unix time at which a lease began.",
                 labels, lease.since_unix);
    }
  }
}

void fill_daemon_counts(MetricFiller& fill, const std::vector<wire::Count>& counts) {
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
                   "Attempts to give a GPU back that had to be repeated.", {}, value);
    } else if (count.name == "restore_mismatches") {
      fill.counter("hypermile_daemon_restore_mismatches_total",
                   "Times that a card ran below its default after the driver had reset it.", {},
                   value);
    } else if (count.name == "writes_applied" || count.name == "writes_failed") {
      fill.counter("hypermile_daemon_writes_total",
                   "Settings that clients requested, by result: applied or failed.",
                   {{"result", count.name.substr(std::string_view("writes_").size())}}, value);
    } else if (count.name == "write_microseconds") {
      fill.counter("hypermile_daemon_write_seconds_total",
                   "Time that writes took, journal and driver together.", {}, value / 1e6);
    } else if (count.name == "last_write_unix" && value > 0) {
      fill.gauge("hypermile_daemon_last_write_timestamp_seconds",
                 "Unix time at which the driver last accepted a setting.", {}, value);
    }
  }
}

}  // namespace

void fill_daemon(MetricFiller& fill, const DaemonView& daemon) {
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
    fill.gauge("hypermile_daemon_gpu_restore_mismatch",
               "1 where a card runs below its default although the driver has reset it.",
               {{"gpu", gpu.gpu.text()}}, gpu.read_back.empty() ? 0.0 : 1.0);
  }
  fill_leases(fill, daemon);
  fill_daemon_counts(fill, daemon.status->counts);
}

}  // namespace hypermile
