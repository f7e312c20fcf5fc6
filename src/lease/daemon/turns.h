// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is on each GPU, among users whom the allow-list permits it. A user who was refused
// while somebody else held the GPU waits in a line. One who reached the longest lease pauses. One
// from whom an administrator took the GPU back stays away from it. Service asks before every lease.
// Plain data and decisions in injected time; it remembers a bounded number of users per GPU.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "lease/lease.h"

namespace hypermile {

class Turns {
 public:
  // Tells whether a process lives; tests give their own.
  using Lives = std::function<bool(pid_t)>;
  explicit Turns(const Clock& clock, Lives lives = {});

  // kBusy when it is another user's turn, kNotReady while `owner` pauses, kPermission when an
  // administrator took the GPU back from it. `free`: nobody holds the GPU now.
  Result<void> may_take(const GpuUuid& gpu, const Owner& owner, bool free);

  // The GPU was busy when `owner` asked for it; `owner` is in line from now on.
  void refused(const GpuUuid& gpu, const Owner& owner);
  void took(const GpuUuid& gpu, const Owner& owner);

  // A lease has ended because it reached the longest duration that the site allows.
  void reached_longest(const GpuUuid& gpu, const Owner& owner, Seconds longest);

  // An administrator took the GPU back. Without `hold`, the holder's process stays away from it for
  // as long as it lives; with `hold`, every process of its user does for this long.
  void took_back(const GpuUuid& gpu, const Owner& owner, std::optional<Seconds> hold);
  void forgive();  // forgets whom GPUs were taken back from

  // A user who is next in line has this long to take a GPU that has become free.
  static constexpr Seconds kTurn = Seconds(5);
  // A user who does not ask again within this time has left the line.
  static constexpr Seconds kPatience = Seconds(30);
  static constexpr Seconds kShortestPause = Seconds(1);
  static constexpr Seconds kLongestPause = Seconds(60);
  static constexpr std::size_t kMostInLine = 256;

 private:
  struct Waiting {
    std::uint32_t uid = 0;
    Instant since;
    Instant asked;  // the last time
  };
  struct Barred {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::optional<Instant> until;
  };
  struct Gpu {
    std::deque<Waiting> line;
    std::optional<Instant> turn;  // since when the first in line could have taken the GPU
    std::map<std::uint32_t, Instant> pauses;  // user, until when
    std::vector<Barred> barred;
  };

  void forget_the_past(Gpu& gpu, bool free);
  Result<void> check_barred(const Gpu& gpu, const GpuUuid& uuid, const Owner& owner) const;

  const Clock& clock_;
  Lives lives_;
  std::map<GpuUuid, Gpu> gpus_;
};

}  // namespace hypermile
