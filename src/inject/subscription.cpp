// SPDX-License-Identifier: Apache-2.0
#include "inject/subscription.h"

#include <time.h>

#include <iterator>

#include "inject/launch_watch.h"
#include "inject/redirect.h"
#include "inject/ring_of_process.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kPatienceNs = 100'000'000;

// Constant-initialised and never destroyed, because calls may come at any time of the process.
constinit Subscription subscription;

void step_aside() {
  if (!subscription.make_room()) return;
  RingWriter& ring = ring_of_process();
  if (ring.is_open()) ring.set_status(RingStatus::kHandedOver, "a profiler started in the job");
}

int subscribe_of_others(cupti::Subscriber* into, cupti::Callback callback, void* user) {
  step_aside();
  return subscription.library().subscribe(into, callback, user);
}

int subscribe_of_others_v2(cupti::Subscriber* into, cupti::Callback callback, void* user,
                           void* params) {
  step_aside();
  return subscription.library().subscribe_v2(into, callback, user, params);
}

bool hear_of_others(const CuptiLibrary& library) {
  return redirect(reinterpret_cast<void*>(library.subscribe),
                  reinterpret_cast<void*>(subscribe_of_others)) &&
         (!library.subscribe_v2 || redirect(reinterpret_cast<void*>(library.subscribe_v2),
                                            reinterpret_cast<void*>(subscribe_of_others_v2)));
}

}  // namespace

Subscription& subscription_of_process() {
  return subscription;
}

class Subscription::Held {
 public:
  explicit Held(Subscription& of) : of_(of) {
    const std::uint64_t patient_until = monotonic_ns() + kPatienceNs;
    const timespec moment{0, 10'000};
    while (!(ours_ = !__atomic_exchange_n(&of_.locked_, true, __ATOMIC_ACQUIRE)) &&
           monotonic_ns() < patient_until)
      ::nanosleep(&moment, nullptr);
  }
  ~Held() {
    if (ours_) __atomic_store_n(&of_.locked_, false, __ATOMIC_RELEASE);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Subscription& of_;
  bool ours_ = false;
};

void Subscription::turn(const std::uint32_t* functions, std::size_t count, bool on) {
  // An older CUPTI does not know all of these functions; then the job cannot call them either.
  for (std::size_t i = 0; i < count; ++i)
    library_.enable(on ? 1 : 0, subscriber_, cupti::kDriverApi, functions[i]);
}

// Returns CUPTI's code; on kSuccess our callback is called from now on.
int Subscription::subscribe() {
  const int outcome = library_.subscribe(&subscriber_, callback_, nullptr);
  if (outcome != cupti::kSuccess) return outcome;
  turn(LaunchWatch::kCircumstances, std::size(LaunchWatch::kCircumstances), true);
  turn(LaunchWatch::kLaunches, std::size(LaunchWatch::kLaunches), true);
  return cupti::kSuccess;
}

void Subscription::begin(cupti::Callback callback, RingWriter& ring) {
  const Held held(*this);
  callback_ = callback;
  if (const char* wrong = library_.load()) return ring.set_status(RingStatus::kNoCupti, wrong);
  library_.get_version(&ring.header().cupti_version);
  const int outcome = subscribe();
  if (outcome == cupti::kMultipleSubscribers || outcome == cupti::kMaxLimitReached)
    return ring.set_status(RingStatus::kOtherProfiler,
                           "another profiler had already subscribed to CUPTI");
  if (outcome != cupti::kSuccess)
    return ring.set_status(RingStatus::kCuptiFailed, "CUPTI refused a subscription");
  if (!hear_of_others(library_)) {
    library_.unsubscribe(subscriber_);
    return ring.set_status(RingStatus::kCuptiFailed,
                           "hypermile could not make sure to give way to a later profiler");
  }
  place_ = kOurs;
  ring.set_status(RingStatus::kWatching, "");
}

bool Subscription::make_room() {
  const Held held(*this);
  const Place before = place_;
  if (before != kClosed) place_ = kTheirs;
  if (before == kOurs) library_.unsubscribe(subscriber_);
  return before == kOurs;
}

bool Subscription::turn_launches(bool on) {
  const Held held(*this);
  if (place_ == kOurs) turn(LaunchWatch::kLaunches, std::size(LaunchWatch::kLaunches), on);
  return place_ == kOurs;
}

void Subscription::pause(bool paused) {
  const Held held(*this);
  if (paused && place_ == kOurs) {
    place_ = kPaused;
    library_.unsubscribe(subscriber_);
  } else if (!paused && place_ == kPaused && subscribe() == cupti::kSuccess) {
    place_ = kOurs;
  }
}

void Subscription::close() {
  const Held held(*this);
  place_ = kClosed;
}

}  // namespace hypermile
