// SPDX-License-Identifier: Apache-2.0
#include "policy/mix.h"

#include <algorithm>

namespace hypermile {

Mix best_single(std::span<const Candidate> candidates, double most_time) {
  const Candidate* best = nullptr;
  const Candidate* fastest = &candidates.front();
  for (const Candidate& one : candidates) {
    if (one.time < fastest->time) fastest = &one;
    if (one.time <= most_time && (best == nullptr || one.price < best->price)) best = &one;
  }
  if (best == nullptr) best = fastest;
  return {best->setting, best->setting, 1, best->time, best->price, 0};
}

Mix best_mix(std::span<const Candidate> candidates, double most_time) {
  Mix best = best_single(candidates, most_time);
  for (const Candidate& slow : candidates) {
    if (slow.time <= most_time || slow.price >= best.price) continue;
    for (const Candidate& fast : candidates) {
      if (fast.time >= most_time || fast.price <= slow.price) continue;
      const double share = (most_time - fast.time) / (slow.time - fast.time);
      const double price = fast.price + share * (slow.price - fast.price);
      if (price >= best.price) continue;
      best = {fast.setting, slow.setting, share,
              most_time,    price,        (fast.price - slow.price) / (slow.time - fast.time)};
    }
  }
  return best;
}

double gain_of(std::span<const Candidate> candidates, const Mix& mix, const Candidate& more,
               double most_time) {
  double least = more.time <= most_time ? std::min(mix.price, more.price) : mix.price;
  for (const Candidate& other : candidates) {
    const Candidate& fast = other.time < more.time ? other : more;
    const Candidate& slow = other.time < more.time ? more : other;
    if (fast.time >= most_time || slow.time <= most_time) continue;
    const double share = (most_time - fast.time) / (slow.time - fast.time);
    least = std::min(least, fast.price + share * (slow.price - fast.price));
  }
  return mix.price - least;
}

}  // namespace hypermile
