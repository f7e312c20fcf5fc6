// SPDX-License-Identifier: Apache-2.0
//
// Our use of CUPTI's one place for a subscriber: takes it, gives it up for a profiler that comes
// later, turns the callbacks of launches off and on. CUPTI wants such calls one at a time, so all
// of them are made here, under one lock that is held for microseconds. Whoever cannot have it
// within a tenth of a second (its holder did not survive a fork) goes on without.
#pragma once

#include "inject/cupti_library.h"
#include "inject/ring_writer.h"

namespace hypermile {

class Subscription {
 public:
  constexpr Subscription() = default;

  // Subscribes `callback` and turns everything on; the ring's status tells how that went.
  void begin(cupti::Callback callback, RingWriter& ring);

  // A profiler is about to subscribe. There is one place, and it is theirs. True if it was ours.
  bool make_room();
  // False once the place is somebody else's, or the process exits.
  bool turn_launches(bool on);
  // For measuring: gives the place up, or takes it again unless somebody else has.
  void pause(bool paused);
  // The process exits: CUPTI may go any moment now and is left alone.
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
  Place place_ = kNobodys;  // under the lock
  bool locked_ = false;
};

// The one of this process.
Subscription& subscription_of_process();

}  // namespace hypermile
