// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA driver loads into the training process (CUDA_INJECTION64_PATH) when that first uses
// CUDA: finds CUPTI, subscribes to the driver's launches and writes each into the ring. If anything
// is missing, the job runs as if this library were not there, and the ring's header says why.
// docs/injection.md has the guarantees.
#include <pthread.h>

#include "inject/cupti_library.h"
#include "inject/driver.h"
#include "inject/launch_watch.h"
#include "inject/redirect.h"
#include "inject/ring_of_process.h"

namespace hypermile {
namespace {

// Constant-initialised and never destroyed: callbacks may come before and after everything else.
constinit CuptiLibrary cupti_library;
constinit Driver driver;
constinit LaunchWatch watch;
constinit cupti::Subscriber subscriber = nullptr;

// Who has CUPTI's one place for a subscriber, as far as we know.
enum Place : int { kNobodys, kOurs, kPaused, kTheirs };
constinit int place = kNobodys;

void on_callback(void*, cupti::Domain domain, std::uint32_t function,
                 const cupti::CallbackData* data) {
  RingWriter& ring = ring_of_process();
  if (domain == cupti::kDriverApi && ring.is_open()) watch.on_call(ring, function, *data);
}

// A profiler is about to subscribe. There is one place, and it is theirs.
void make_room() {
  if (__atomic_exchange_n(&place, kTheirs, __ATOMIC_ACQ_REL) != kOurs) return;
  cupti_library.unsubscribe(subscriber);
  RingWriter& ring = ring_of_process();
  if (ring.is_open()) ring.set_status(RingStatus::kHandedOver, "a profiler started in the job");
}

int subscribe_of_others(cupti::Subscriber* into, cupti::Callback callback, void* user) {
  make_room();
  return cupti_library.subscribe(into, callback, user);
}

int subscribe_of_others_v2(cupti::Subscriber* into, cupti::Callback callback, void* user,
                           void* params) {
  make_room();
  return cupti_library.subscribe_v2(into, callback, user, params);
}

bool hear_of_others() {
  return redirect(reinterpret_cast<void*>(cupti_library.subscribe),
                  reinterpret_cast<void*>(subscribe_of_others)) &&
         (!cupti_library.subscribe_v2 ||
          redirect(reinterpret_cast<void*>(cupti_library.subscribe_v2),
                   reinterpret_cast<void*>(subscribe_of_others_v2)));
}

// CUPTI's answer; kSuccess when our callback is called from now on.
int take_place() {
  const int outcome = cupti_library.subscribe(&subscriber, on_callback, nullptr);
  if (outcome != cupti::kSuccess) return outcome;
  // An older CUPTI knows fewer functions than we do, and then nobody can call them.
  for (const std::uint32_t function : LaunchWatch::kWatched)
    cupti_library.enable(1, subscriber, cupti::kDriverApi, function);
  return cupti::kSuccess;
}

void subscribe(RingWriter& ring) {
  if (const char* wrong = cupti_library.load()) return ring.set_status(RingStatus::kNoCupti, wrong);
  cupti_library.get_version(&ring.header().cupti_version);
  const int outcome = take_place();
  if (outcome == cupti::kMultipleSubscribers || outcome == cupti::kMaxLimitReached)
    return ring.set_status(RingStatus::kOtherProfiler, "a profiler was there before us");
  if (outcome != cupti::kSuccess)
    return ring.set_status(RingStatus::kCuptiFailed, "CUPTI refused a subscription");
  if (!hear_of_others()) {
    cupti_library.unsubscribe(subscriber);
    return ring.set_status(RingStatus::kCuptiFailed, "a later profiler could not be heard of");
  }
  place = kOurs;
  ring.set_status(RingStatus::kWatching, "");
}

bool change_place(int from, int to) {
  return __atomic_compare_exchange_n(&place, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void pause(bool paused) {
  if (paused && change_place(kOurs, kPaused)) {
    cupti_library.unsubscribe(subscriber);
  } else if (!paused && __atomic_load_n(&place, __ATOMIC_ACQUIRE) == kPaused &&
             take_place() == cupti::kSuccess) {
    change_place(kPaused, kOurs);
  }
}

void start() {
  if (!open_ring_of_process()) return;
  RingWriter& ring = ring_of_process();
  driver.load();
  int version = 0;
  if (driver.get_version && driver.get_version(&version) == cuda::kDriverSuccess)
    ring.header().driver_version = static_cast<std::uint32_t>(version);
  watch.start(driver);
  subscribe(ring);
}

}  // namespace
}  // namespace hypermile

// The driver's door; it ignores the answer.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, hypermile::start);
  return 1;
}

// For measuring what watching costs (benchmarks/h200/inject_overhead.py): gives CUPTI's place up
// and takes it again. Not while a profiler may start.
extern "C" __attribute__((visibility("default"))) void hypermile_inject_pause(int paused) {
  hypermile::pause(paused != 0);
}
