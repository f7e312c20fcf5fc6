// SPDX-License-Identifier: Apache-2.0
#include "record/thinned_series.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

void join(ThinnedSeries::Bucket& into, const ThinnedSeries::Bucket& from) {
  into.last_s = std::max(into.last_s, from.last_s);
  into.low = std::min(into.low, from.low);
  into.high = std::max(into.high, from.high);
  into.sum += from.sum;
  into.count += from.count;
}

}  // namespace

void ThinnedSeries::add(double time_s, double value) {
  if (!std::isfinite(time_s) || !std::isfinite(value)) return;
  if (!buckets_.empty()) time_s = std::max(time_s, buckets_.back().last_s);
  const Bucket fresh{static_cast<std::int64_t>(std::floor(time_s / width_s_)),
                     time_s,
                     time_s,
                     value,
                     value,
                     value,
                     1};
  if (!buckets_.empty() && fresh.number <= buckets_.back().number) {
    join(buckets_.back(), fresh);
    return;
  }
  buckets_.push_back(fresh);
  while (buckets_.size() > most_) widen();
}

void ThinnedSeries::widen() {
  width_s_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket bucket = buckets_[i];
    bucket.number = static_cast<std::int64_t>(std::floor(bucket.first_s / width_s_));
    if (kept > 0 && buckets_[kept - 1].number == bucket.number) {
      join(buckets_[kept - 1], bucket);
    } else {
      buckets_[kept++] = bucket;
    }
  }
  buckets_.resize(kept);
}

}  // namespace hypermile
