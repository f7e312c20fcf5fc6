// SPDX-License-Identifier: Apache-2.0
//
// The mean of rows that come in groups, and how far it may be off: the inputs of a workload are
// alike, so the rows of one workload count as one observation. Cannot fail; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace hypermile {

class GroupedMean {
 public:
  void add(const std::string& group, double value);

  double mean() const;  // over rows; 0 without any
  // Of the mean, from how far the groups' sums lie from what the mean gives them. 0 with fewer than
  // two groups.
  double standard_error() const;
  std::size_t groups() const { return groups_.size(); }

 private:
  struct Group {
    double sum = 0;
    double rows = 0;
  };
  std::map<std::string, Group> groups_;
};

}  // namespace hypermile
