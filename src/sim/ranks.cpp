// SPDX-License-Identifier: Apache-2.0
#include "sim/ranks.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// Ranks with shorter iterations meet at about this interval.
constexpr double kMeetingSeconds = 0.010;
constexpr double kMostIterations = 1e4;

std::uint64_t finished(const SimRank& rank) {
  return rank.iterations_before + rank.state->job.train_iterations;
}

bool arrived(const SimRank& rank) {
  return rank.state->job.waiting || !rank.state->job.running;
}

// Lets the ranks that are behind continue. All of them are at the same instant.
void let_go(std::span<const SimRank> ranks) {
  std::uint64_t least = kNoBarrier;
  double longest = 0;
  for (const SimRank& rank : ranks) {
    if (!rank.state->job.running) continue;
    least = std::min(least, finished(rank));
    longest = std::max(longest, rank.state->job.iteration_s);
  }
  std::uint64_t together = 1;
  if (longest > 0) {
    together =
        static_cast<std::uint64_t>(std::clamp(kMeetingSeconds / longest, 1.0, kMostIterations));
  }
  const std::uint64_t next = least + together;
  for (const SimRank& rank : ranks) {
    if (finished(rank) >= next) continue;  // a rank that is ahead keeps waiting
    set_barrier(*rank.state, *rank.gpu, *rank.load, next - rank.iterations_before);
  }
}

}  // namespace

void advance_together(std::span<const SimRank> ranks, bool complete, Seconds until) {
  for (;;) {
    double meeting = -kNever;
    bool all = complete;
    bool any = false;
    for (const SimRank& rank : ranks) {
      if (rank.state->job.running) {
        advance_to_barrier(*rank.state, *rank.gpu, rank.load, until - Seconds(rank.offset_s),
                           rank.observer);
      }
      all = all && arrived(rank);
      if (!rank.state->job.waiting) continue;
      any = true;
      meeting = std::max(meeting, rank.state->now_s + rank.offset_s);
    }
    if (!all || !any || meeting > until.value()) break;
    for (const SimRank& rank : ranks) {
      advance(*rank.state, *rank.gpu, rank.load, Seconds(meeting - rank.offset_s), rank.observer);
    }
    let_go(ranks);
  }
  for (const SimRank& rank : ranks) {
    advance(*rank.state, *rank.gpu, rank.load, until - Seconds(rank.offset_s), rank.observer);
  }
}

}  // namespace hypermile
