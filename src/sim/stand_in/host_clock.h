// SPDX-License-Identifier: Apache-2.0
//
// The host's clocks in nanoseconds, for the state that processes on the stand-in share.
#pragma once

#include <cstdint>
#include <ctime>

namespace hypermile {

inline std::int64_t host_clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

}  // namespace hypermile
