// SPDX-License-Identifier: Apache-2.0
//
// The windows of include/hypermile.h. A window is two readings of the clock, the tick count and the
// energy counters; no thread runs in between. A counter that is updated every 100 ms is 0 to 100 ms
// old when it is read, at either end. That gives the reported standard error and the shortest
// window that is accepted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hypermile.h"
#include "inject/energy_counters.h"
#include "inject/ring_writer.h"
#include "inject/ticks_seen.h"

struct hypermile_window {
  hypermile::EnergyCounters counters;
  double joules[hypermile::kMostCounters];
  std::uint64_t begin_ns;
  std::uint64_t ticks;
  pid_t process;
};

namespace hypermile {
namespace {

static_assert(sizeof(hypermile_measured::reason) == kCounterReason);

constexpr double kCounterPeriod = 0.1;  // seconds; docs/evidence/h200-sensing.md
// √(1/6): standard deviation of the difference of two ages, each uniform over a period.
constexpr double kAgeError = 0.4082;
constexpr double kShortest = 0.5;  // in shorter windows the counters' age matters too much

void take(const EnergyCounters& counters, const double (&before)[kMostCounters],
          const double (&after)[kMostCounters], hypermile_measured& measured) {
  for (unsigned i = 0; i < counters.count; ++i) {
    const double joules = after[i] - before[i];
    if (joules < 0) {
      ::snprintf(measured.reason, sizeof measured.reason,
                 "an energy counter went backwards: the driver was reloaded");
      return;
    }
    measured.joules += joules;
    // Errors are added up linearly, which never understates them and needs no square root.
    measured.joules_error += kAgeError * joules / measured.seconds * kCounterPeriod;
  }
}

void measure(hypermile_window& window, hypermile_measured& measured) {
  EnergyCounters& counters = window.counters;
  double joules[kMostCounters] = {};
  const bool read = window.process == ::getpid() && counters.count > 0 && counters.read(joules);
  measured.seconds = static_cast<double>(monotonic_ns() - window.begin_ns) / 1e9;
  measured.iterations = static_cast<double>(ticks_seen() - window.ticks);
  measured.gpus = counters.count;
  if (window.process != ::getpid()) {
    ::snprintf(measured.reason, sizeof measured.reason,
               "the process forked inside the window, which NVML does not survive");
  } else if (!read) {
    ::memcpy(measured.reason, counters.reason, sizeof measured.reason);
  } else if (measured.seconds < kShortest) {
    ::snprintf(measured.reason, sizeof measured.reason,
               "shorter than %.1f s, and energy counters are updated only every %.1f s", kShortest,
               kCounterPeriod);
  } else {
    take(counters, window.joules, joules, measured);
  }
  if (measured.reason[0] != '\0') measured.joules = measured.joules_error = 0;
}

}  // namespace
}  // namespace hypermile

extern "C" {

__attribute__((visibility("default"))) hypermile_window* hypermile_window_begin(const char* gpus) {
  auto* window = static_cast<hypermile_window*>(::calloc(1, sizeof(hypermile_window)));
  if (!window) return nullptr;
  window->counters.open(gpus);
  if (window->counters.count > 0 && !window->counters.read(window->joules)) {
    window->counters.count = 0;
  }
  window->process = ::getpid();
  window->ticks = hypermile::ticks_seen();
  window->begin_ns = hypermile::monotonic_ns();
  return window;
}

__attribute__((visibility("default"))) int hypermile_window_end(hypermile_window* window,
                                                                hypermile_measured* measured,
                                                                size_t size) {
  hypermile_measured full = {};
  if (window) {
    hypermile::measure(*window, full);
    ::free(window);
  } else {
    ::snprintf(full.reason, sizeof full.reason, "there was no memory for the window");
  }
  if (measured) ::memcpy(measured, &full, size < sizeof full ? size : sizeof full);
  return full.reason[0] == '\0' ? 1 : 0;
}
}
