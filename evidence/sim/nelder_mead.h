// SPDX-License-Identifier: Apache-2.0
//
// Least value of a function of a few numbers, by the simplex method of Nelder and Mead. Enough for
// the three to seven smooth parameters of the fits beside it.
#pragma once

#include <functional>
#include <vector>

namespace hypermile {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& cost,
                    std::vector<double> start, double step, int evaluations);

}  // namespace hypermile
