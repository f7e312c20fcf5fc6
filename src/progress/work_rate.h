// SPDX-License-Identifier: Apache-2.0
//
// Work per second for a job without a period: launches and blocks per second, as a robust slope
// over the last seconds, with a standard error. It stands in for iterations per second only while
// the job does the same mixture of kernels; when the mixture moves, rates before and after measure
// different work and no rate is given (kNotReady, with the reason).
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
  // Where every launch told its grid; graphs do not.
  std::optional<RateEstimate> blocks;
  double mixture_shift = 0;  // 0..1: share of the launches by which the halves of the window differ
  Seconds span;
};

class WorkRate {
 public:
  explicit WorkRate(Seconds window = Seconds(4));
  ~WorkRate();
  WorkRate(WorkRate&&) noexcept;
  WorkRate& operator=(WorkRate&&) noexcept;

  void add(const Launch& launch);
  // Forgets everything, as after a change of Setting.
  void restart();
  // Over the last window that ends at `now`; needs half a window of launches at least.
  Result<WorkRateEstimate> estimate(Instant now) const;

 private:
  class Bins;
  std::unique_ptr<Bins> bins_;
};

}  // namespace hypermile
