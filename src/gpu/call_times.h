// SPDX-License-Identifier: Apache-2.0
//
// How long driver calls took: one histogram for each kind of call, cheap enough to record every
// call. DeadlineGpu's thread fills it; the event log and `/metrics` show it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace hypermile {

// Upper bounds of the buckets in seconds, ascending. Reading a clock takes microseconds, reading
// the energy counter milliseconds, and a driver in trouble takes seconds.
inline constexpr std::array<double, 14> kCallBounds = {
    1e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.25, 1.0, 2.0};

struct CallHistogram {
  std::vector<double> bounds_s;       // upper bounds, ascending
  std::vector<std::uint64_t> counts;  // one count per bound, then one for longer calls
  double sum_s = 0;
  bool operator==(const CallHistogram&) const = default;
};

// Keyed by the kind of call: "read", "apply", …
using CallTimes = std::map<std::string, CallHistogram>;

// Any thread may use it.
class CallRecorder {
 public:
  void add(const char* kind, double seconds) {
    const auto bucket = static_cast<std::size_t>(std::ranges::lower_bound(kCallBounds, seconds) -
                                                 kCallBounds.begin());
    const std::lock_guard lock(mutex_);
    CallHistogram& histogram = times_[kind];
    if (histogram.counts.empty()) {
      histogram.bounds_s.assign(kCallBounds.begin(), kCallBounds.end());
      histogram.counts.resize(kCallBounds.size() + 1);
    }
    ++histogram.counts[bucket];
    histogram.sum_s += seconds;
  }

  CallTimes times() const {
    const std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  mutable std::mutex mutex_;
  CallTimes times_;
};

}  // namespace hypermile
