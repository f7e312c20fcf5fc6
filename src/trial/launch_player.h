// SPDX-License-Identifier: Apache-2.0
//
// Writes the kernel launches of a simulated job to a ring, as the injected library does in a
// training process: names, launches, GPU times at the boundary that the reader wants, and nothing
// while the reader has asked for darkness. Simulated training in virtual time and `simulate
// --realtime` play their jobs through it. Cannot fail: a ring that nobody reads is overwritten.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "inject/ring_writer.h"
#include "sim/launches.h"

namespace hypermile {

// Where the times of a simulated card lie on the host's clock.
struct CardTime {
  Instant origin = {};  // of the machine that the card belongs to
  double offset_s = 0;  // the machine's time where the card's own is 0
  double speed = 1;     // simulated seconds in a second of the host
};

class LaunchPlayer final : public JobObserver, private LaunchSink {
 public:
  struct Terms {
    std::uint64_t seed = 1;
    std::uint32_t device = 0;
    bool gpu_times = true;  // whether launches get GPU times where they are wanted
  };
  // `ring` and `load` must outlive it.
  LaunchPlayer(RingWriter& ring, const Load& load, const CardTime& time, const Terms& terms);

  // Called when the card was idle, and its time lies elsewhere on the host's clock from now on.
  void move(const CardTime& time) { time_ = time; }
  // Called before the job goes on. Ends a stretch of darkness early if the reader wishes so.
  void look();
  // Writes the launches of a finished stretch; stretches come in order.
  void finished(const FinishedUnit& unit) override;
  // Called when the job has come to `now_s`. Writes what was due until then.
  void caught_up(double now_s);

 private:
  // A GPU time that the reader wants and the GPU has not reached yet.
  struct PendingTime {
    std::uint64_t launch = 0;  // its record
    double gpu_s = 0;
  };

  void launch(const SimLaunch& launch) override;
  void reached(double gpu_s) override;
  bool wants_event(std::uint32_t name, double time_s);
  std::uint32_t name_of(std::uint32_t kernel);
  void write_gpu_times(double now_s);
  void heed_wish(double time_s);
  void watch_again(double time_s);
  Instant instant(double card_s) const;
  double card_seconds(Instant time) const;
  std::uint64_t ns(double card_s) const;

  RingWriter& ring_;
  const Load& load_;
  CardTime time_;
  Terms terms_;
  LaunchEmitter emitter_;
  std::vector<std::uint32_t> names_;  // the ring's id + 1 of each kernel; 0: not yet known
  std::uint32_t previous_ = kNoName;  // kernel launched last
  std::vector<PendingTime> pending_;
  // Records of launches that the GPU has not reached; absent where no event is wanted.
  std::deque<std::optional<std::uint64_t>> ahead_;
  double spent_until_s_ = 0;  // when all events so far would have been due at even spacing
  double played_s_ = 0;       // the job was brought up to this time
  std::optional<double> dark_until_s_;  // launches are not recorded until then
  std::uint64_t heeded_ = 0;            // the reader's last wish for darkness that was followed
};

}  // namespace hypermile
