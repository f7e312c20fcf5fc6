// SPDX-License-Identifier: Apache-2.0
//
// The mean of a quantity over windows, each weighted by its iterations, with the half-width of its
// 95 % interval. This is the one statistic behind every figure that people are shown: Student's t
// over the scatter of the windows; of a single window, its own standard error. Constant memory,
// however long the run.
#pragma once

#include <optional>

namespace hypermile {

// A value with the half-width of its 95 % interval, both in the same unit.
struct Estimate {
  double value = 0;
  std::optional<double> half_width95 = {};  // absent where nothing is known about the error
};

// The estimate in another unit.
Estimate scaled(const Estimate& estimate, double factor);
// The sum of two independent estimates. Its error is unknown where either error is.
Estimate sum_of(const Estimate& a, const Estimate& b);
// a / b - 1 of two independent estimates: 0.03 where a is 3 % more than b.
Estimate relative_change(const Estimate& a, const Estimate& b);

class WindowMean {
 public:
  // `error` is the window's own relative standard error, where it is known.
  void add(double value, double iterations, std::optional<double> error);

  int windows() const { return windows_; }
  std::optional<double> mean() const;
  // The half-width of the mean's 95 % interval, in the unit of the mean.
  std::optional<double> half_width95() const;
  // Both; nullopt where no window was added.
  std::optional<Estimate> estimate() const;

 private:
  int windows_ = 0;
  // The first value. All sums are over differences to it, so that large values do not cancel.
  double origin_ = 0;
  double weight_ = 0, weighted_ = 0;
  double weight2_ = 0, weighted2_ = 0, squares2_ = 0;
  std::optional<double> own_error_;  // of the first window
};

}  // namespace hypermile
