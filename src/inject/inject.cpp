// SPDX-License-Identifier: Apache-2.0
//
// The library that the CUDA driver loads into a training process (CUDA_INJECTION64_PATH) when the
// process first uses CUDA. It finds CUPTI, subscribes to the driver's launch functions and writes
// each launch into the ring. If anything is missing, the job runs as if this library were absent,
// and the ring's header says why. docs/design/injection.md lists the guarantees.
#include <pthread.h>
#include <stdlib.h>

#include "inject/dark_stretches.h"
#include "inject/driver.h"
#include "inject/launch_watch.h"
#include "inject/mark_step.h"
#include "inject/ring_of_process.h"
#include "inject/subscription.h"

namespace hypermile {
namespace {

// Constant-initialised and never destroyed, because callbacks may come at any time of the process.
constinit Driver driver;
constinit LaunchWatch watch;
constinit DarkStretches dark;

void on_callback(void*, cupti::Domain domain, std::uint32_t function,
                 const cupti::CallbackData* data) {
  RingWriter& ring = ring_of_process();
  if (domain == cupti::kDriverApi && ring.is_open()) watch.on_call(ring, function, *data);
}

bool turn_launches(bool on) {
  // The last registered exit handler runs first, so this one runs before those of CUDA and CUPTI,
  // which were loaded before the first launch.
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, [] { (void)::atexit([] { subscription_of_process().close(); }); });
  watch.set_watching(false);
  const bool turned = subscription_of_process().turn_launches(on);
  watch.set_watching(on);
  return turned;
}

void start() {
  if (!open_ring_of_process()) return;
  RingWriter& ring = ring_of_process();
  driver.load();
  int version = 0;
  if (driver.get_version && driver.get_version(&version) == cuda::kDriverSuccess)
    ring.header().driver_version = static_cast<std::uint32_t>(version);
  dark.start(turn_launches, ring);
  watch.start(driver, dark);
  subscription_of_process().begin(on_callback, ring);
}

}  // namespace

void mark_step(std::uint64_t number, std::uint64_t now_ns) {
  watch.on_step({number, false}, now_ns);
}

}  // namespace hypermile

// The CUDA driver calls this and ignores the result.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, hypermile::start);
  return 1;
}

// libhypermile.so calls this when the calling thread ticks; `number` is the record in the ring of
// ticks.
extern "C" __attribute__((visibility("default"))) void hypermile_inject_tick(std::uint64_t number,
                                                                             std::uint64_t now_ns) {
  hypermile::watch.on_step({number, true}, now_ns);
}

// For measuring what watching costs (benchmarks/h200/inject_overhead.py). 0: watch as in a run. 1:
// give up CUPTI's place. 2: keep it, but turn the launch callbacks off. Not to be used while a
// profiler may start.
extern "C" __attribute__((visibility("default"))) void hypermile_inject_pause(int how) {
  hypermile::subscription_of_process().pause(how == 1);
  if (how != 1) hypermile::subscription_of_process().turn_launches(how == 0);
}
