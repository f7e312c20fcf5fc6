// SPDX-License-Identifier: Apache-2.0
//
// Minimises a function of a few numbers by the simplex method of Nelder and Mead. Fits of the
// evidence and of the search prior use it for three to seven smooth parameters. Cannot fail.
#pragma once

#include <functional>
#include <vector>

namespace hypermile {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

// `step` is the first change of each number. Stops after about `evaluations` calls of `cost`.
Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& cost,
                    std::vector<double> start, double step, int evaluations);

}  // namespace hypermile
