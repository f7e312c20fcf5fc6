// SPDX-License-Identifier: Apache-2.0
//
// Sharing a job's time between two Settings. What can be reached by sharing is the lower convex
// hull of (time, price) over the Settings, which saves more than any single one can. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hypermile {

// A Setting as the search sees it, both relative to the default.
struct Candidate {
  std::size_t setting = 0;
  double time = 1;   // of an iteration
  double price = 1;  // of an iteration: what the objective charges for it
};

// `share` of the iterations at `slow`, the rest at `fast`; one Setting alone has fast == slow.
struct Mix {
  std::size_t fast = 0;
  std::size_t slow = 0;
  double share = 1;
  double time = 1;   // mean
  double price = 1;  // mean
  // What one more unit of mean time would save: the slope of the hull there. 0 where more time
  // would not help.
  double worth_of_time = 0;
};

// The mix of least price whose mean time is at most `most_time`. The candidates must not be empty;
// where none is fast enough, the fastest alone is returned.
Mix best_mix(std::span<const Candidate> candidates, double most_time);
// How much the price of `mix`, the best one of `candidates`, falls where `more` joins them; 0 or
// more.
double gain_of(std::span<const Candidate> candidates, const Mix& mix, const Candidate& more,
               double most_time);
// The same for one Setting alone.
Mix best_single(std::span<const Candidate> candidates, double most_time);

}  // namespace hypermile
