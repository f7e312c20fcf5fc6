// SPDX-License-Identifier: Apache-2.0
//
// A quantity over time in bounded space, however long the run: buckets of equal width that keep the
// least, the greatest and the mean value, so that no spike is lost. When there are too many
// buckets, neighbours are joined and the width doubles. The buckets depend on the values alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hypermile {

class ThinnedSeries {
 public:
  struct Bucket {
    std::int64_t number = 0;  // how many bucket widths after 0 s the bucket begins
    double first_s = 0;       // time of the first value in it
    double last_s = 0;
    double low = 0;
    double high = 0;
    double sum = 0;
    std::uint64_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
    double time_s() const { return (first_s + last_s) / 2; }
  };

  // Keeps at most `most` buckets, at least 2.
  explicit ThinnedSeries(std::size_t most) : most_(most < 2 ? 2 : most) {}

  // Skips values that are not numbers; a time before the last one counts as the last one.
  void add(double time_s, double value);

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  void widen();

  std::size_t most_;
  double width_s_ = 0.01;
  std::vector<Bucket> buckets_;
};

}  // namespace hypermile
