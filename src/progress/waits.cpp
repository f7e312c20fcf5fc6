// SPDX-License-Identifier: Apache-2.0
#include "progress/waits.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace hypermile {

double share_of_longest_pauses(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end,
                               std::size_t count) {
  if (end <= begin + 1) return 0;
  std::vector<double> pauses;
  pauses.reserve(end - begin);
  for (std::uint64_t i = begin + 1; i < end; ++i) {
    pauses.push_back((ring.time(i) - ring.time(i - 1)).value());
  }
  const double all = std::accumulate(pauses.begin(), pauses.end(), 0.0);
  const auto last = pauses.begin() + static_cast<std::ptrdiff_t>(std::min(count, pauses.size()));
  std::nth_element(pauses.begin(), last, pauses.end(), std::greater<>());
  return all > 0 ? std::accumulate(pauses.begin(), last, 0.0) / all : 0;
}

}  // namespace hypermile
