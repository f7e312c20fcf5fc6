// SPDX-License-Identifier: Apache-2.0
#include "trial/tick_reader.h"

#include <algorithm>

namespace hypermile {

std::vector<Tick> TickReader::take() {
  const TickState& ring = gpu_.state().ticks;
  std::vector<Tick> ticks;
  const std::uint64_t oldest = ring.count > kTickRing ? ring.count - kTickRing : 0;
  for (std::uint64_t i = std::max(seen_, oldest); i < ring.count; ++i) {
    ticks.push_back({i, gpu_.instant(ring.start_s[i % kTickRing])});
  }
  seen_ = ring.count;
  return ticks;
}

}  // namespace hypermile
