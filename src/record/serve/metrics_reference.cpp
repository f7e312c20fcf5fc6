// SPDX-License-Identifier: Apache-2.0
//
// docs/reference/metrics.md, from a registry in which every metric has a value.
#include "record/event.h"
#include "record/serve/metrics.h"

namespace hypermile {
namespace {

const GpuUuid kExampleGpu("GPU-1");
const Setting kExampleSetting{.sm_clock = Mhz(1410), .memory_clock = Mhz(2201)};

WindowEvent example_window(const Setting& setting, double time_s) {
  Window window;
  window.setting = setting;
  window.duration = Seconds(10 * time_s);
  window.iterations = 10;
  window.time_per_iteration = Seconds(time_s);
  window.power = Watts(300);
  window.time_error = window.power_error = 0.01;
  return {kExampleGpu, window};
}

Decision example_decision(bool exploring) {
  return {kExampleGpu, "hypermile", kExampleSetting, "", 0.9, {{"exploring", exploring ? 1. : 0.}}};
}

RunDigest example_run() {
  RunStart start;
  start.environment = {{"max_slowdown", "0.05"},
                       {"price_per_kwh", "0.3"},
                       {"currency", "EUR"},
                       {"carbon_g_per_kwh", "380"}};
  Sample sample;
  sample.power_instant = Watts(300);
  sample.power_limit = Watts(350);
  sample.temperature = Celsius(60);
  sample.gpu_utilization = 0.9;
  sample.sm_clock = Mhz(1410);
  sample.memory_clock = Mhz(2201);
  sample.energy = Joules(1);
  Sample later = sample;
  later.energy = Joules(1000);
  RunDigest run(8, 8);
  double seconds = 0;
  for (const EventBody& body : std::initializer_list<EventBody>{
           start, SampleEvent{kExampleGpu, sample}, SampleEvent{kExampleGpu, later},
           DriverCalls{kExampleGpu, {{"read", {{1}, {1, 0}, 0.5}}}}, example_window({}, 0.1),
           example_decision(false), example_window(kExampleSetting, 0.102),
           SettingChange{kExampleGpu, kExampleSetting, true, "", {}, {}, {}},
           StateChange{"hold", "", "", {}, {}, {}},
           ErrorEvent{kExampleGpu, Error{ErrorCode::kIo, "", ""}},
           RunEnd{0, "", {{"host_joules", 100}}, {}}}) {
    run.add({Instant() + Seconds(++seconds), body});
  }
  return run;
}

DaemonView example_daemon() {
  DaemonView daemon;
  daemon.status = wire::DaemonStatus{};
  daemon.status->gpus = {{kExampleGpu, true, ""}};
  for (const char* name :
       {"leases_granted", "leases_ended_expired", "restores", "restore_failures",
        "restore_mismatches", "writes_applied", "write_microseconds", "last_write_unix"}) {
    daemon.status->counts.push_back({name, 1});
  }
  daemon.leases.leases.push_back(
      {1, 1000, 42, "hypermile run", "7", 0, Seconds(1), {{kExampleGpu, kExampleSetting, false}}});
  return daemon;
}

}  // namespace

std::string metrics_reference() {
  const RunDigest run = example_run();
  const RunDigest* const runs[] = {&run};
  return "# Metrics\n\n"
         "`hypermile serve` offers these metrics at `/metrics` in Prometheus' text format. This "
         "page is made by\n"
         "`hypermile --metrics-markdown`, and a test keeps it in step with the program. Units are "
         "base units\n"
         "(joules, watts, hertz, seconds; shares are ratios). Counters end in `_total`.\n\n"
         "All values come from event logs (the newest run of each) and from the daemon's socket, "
         "polled once a\n"
         "second. A scrape asks no device and resets nothing. A value that is not known is absent. "
         "`gpu` is the\n"
         "UUID, `index` is NVML's number, and `run` is one run of hypermile (Prometheus keeps "
         "`job` for itself).\n"
         "The scrape configuration names the host. Counters of a run begin with the run.\n\n" +
         Metrics(runs, runs, example_daemon(), 0).markdown();
}

}  // namespace hypermile
