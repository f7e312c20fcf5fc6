// SPDX-License-Identifier: Apache-2.0
//
// The mean of a quantity over Windows, each weighted by the iterations in it, with a 95 % interval
// from how much the Windows scatter; of a single Window, from its own standard error. Constant
// memory, however long the run.
#pragma once

#include <optional>

namespace hypermile {

class WindowMean {
 public:
  // `error` is the Window's own relative standard error, where known.
  void add(double value, double iterations, std::optional<double> error);

  int windows() const { return windows_; }
  std::optional<double> mean() const;
  // Half its width, in the unit of the mean; absent where nothing tells.
  std::optional<double> interval95() const;

 private:
  int windows_ = 0;
  double origin_ = 0;  // the first value: sums are of differences to it, so that nothing cancels
  double weight_ = 0, weighted_ = 0;
  double weight2_ = 0, weighted2_ = 0, squares2_ = 0;
  std::optional<double> own_error_;
};

}  // namespace hypermile
