// SPDX-License-Identifier: Apache-2.0
//
// Our subscription to CUPTI, which has room for only one subscriber: takes the place, gives it up
// to a profiler that comes later, and switches launch callbacks. CUPTI requires that these calls
// never overlap, so all of them are made here under one lock, which is held for microseconds. A
// thread that cannot get the lock within 0.1 s (its holder did not survive a fork) goes on without
// it.
#pragma once

#include "inject/cupti_library.h"
#include "inject/ring_writer.h"

namespace hypermile {

class Subscription {
 public:
  constexpr Subscription() = default;

  // Subscribes `callback` and turns all callbacks on. The ring's status says whether that worked.
  void begin(cupti::Callback callback, RingWriter& ring);

  // Called when a profiler is about to subscribe: gives the place up. True if it was ours.
  bool make_room();
  // False once somebody else has the place or the process exits.
  bool turn_launches(bool on);
  // For measurements: gives the place up, or takes it again unless somebody else has it.
  void pause(bool paused);
  // Called when the process exits: CUPTI may be unloaded at any moment, so it is not called again.
  void close();

  const CuptiLibrary& library() const { return library_; }

 private:
  enum Place : int { kNobodys, kOurs, kPaused, kTheirs, kClosed };
  class Held;

  int subscribe();
  void turn(const std::uint32_t* functions, std::size_t count, bool on);

  CuptiLibrary library_;
  cupti::Callback callback_ = nullptr;
  cupti::Subscriber subscriber_ = nullptr;
  Place place_ = kNobodys;  // guarded by the lock
  bool locked_ = false;
};

// The only subscription of this process.
Subscription& subscription_of_process();

}  // namespace hypermile
