// SPDX-License-Identifier: Apache-2.0
//
// Work per second for a job without a period: launches and blocks per second, as a robust slope
// over the last seconds, with a standard error. It replaces iterations per second only while the
// job's mixture of kernels stays the same. If the mixture changes, the rates before and after
// measure different work, and none is returned (kNotReady, with the reason).
//
// O(1) per launch, fixed memory, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "inject/launch.h"

namespace hypermile {

struct RateEstimate {
  double per_second = 0;
  double standard_error = 0;
};

struct WorkRateEstimate {
  RateEstimate launches;
  // Set if every launch reported its grid; graphs do not.
  std::optional<RateEstimate> blocks;
  double mixture_shift = 0;  // 0..1: share of launches by which the window's halves differ
  Seconds span;
};

class WorkRate {
 public:
  explicit WorkRate(Seconds window = Seconds(4));
  ~WorkRate();
  WorkRate(WorkRate&&) noexcept;
  WorkRate& operator=(WorkRate&&) noexcept;

  void add(const Launch& launch);
  // Forgets everything, for instance after a change of setting.
  void restart();
  // The rate over the window that ends at `now`; needs launches over at least half a window.
  Result<WorkRateEstimate> estimate(Instant now) const;

 private:
  class Bins;
  std::unique_ptr<Bins> bins_;
};

}  // namespace hypermile
