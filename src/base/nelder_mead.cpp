// SPDX-License-Identifier: Apache-2.0
#include "base/nelder_mead.h"

#include <algorithm>

namespace hypermile {
namespace {

// a + k·(a − b)
std::vector<double> away(const std::vector<double>& a, const std::vector<double>& b, double k) {
  std::vector<double> point(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) point[i] = a[i] + k * (a[i] - b[i]);
  return point;
}

std::vector<double> centre_of_all_but_last(const std::vector<Minimum>& simplex) {
  const std::size_t n = simplex.size() - 1;
  std::vector<double> centre(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) centre[j] += simplex[i].at[j] / static_cast<double>(n);
  }
  return centre;
}

}  // namespace

Minimum nelder_mead(const std::function<double(const std::vector<double>&)>& cost,
                    std::vector<double> start, double step, int evaluations) {
  const auto evaluated = [&](std::vector<double> at) {
    --evaluations;
    const double value = cost(at);
    return Minimum{std::move(at), value};
  };
  std::vector<Minimum> simplex = {evaluated(start)};
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::vector<double> corner = start;
    corner[i] += step;
    simplex.push_back(evaluated(std::move(corner)));
  }
  const auto by_value = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
  std::ranges::sort(simplex, by_value);
  while (evaluations > 0) {
    Minimum& worst = simplex.back();
    const std::vector<double> centre = centre_of_all_but_last(simplex);
    const Minimum tried = evaluated(away(centre, worst.at, 1));
    if (tried.value < simplex.front().value) {
      const Minimum further = evaluated(away(centre, worst.at, 2));
      worst = further.value < tried.value ? further : tried;
    } else if (tried.value < simplex[simplex.size() - 2].value) {
      worst = tried;
    } else {
      const Minimum nearer = evaluated(away(centre, worst.at, -0.5));
      if (nearer.value < worst.value) {
        worst = nearer;
      } else {
        for (std::size_t i = 1; i < simplex.size(); ++i) {
          simplex[i] = evaluated(away(simplex[i].at, simplex[0].at, -0.5));
        }
      }
    }
    std::ranges::sort(simplex, by_value);
  }
  return simplex.front();
}

}  // namespace hypermile
