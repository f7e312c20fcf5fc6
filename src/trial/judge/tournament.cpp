// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/tournament.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace hypermile {

Result<std::vector<RunResult>> hold_tournament(std::span<const Curve> curves,
                                               std::span<const std::string> policies,
                                               std::size_t repeats, const Conditions& conditions,
                                               unsigned threads, const ReplayJob& play) {
  const std::size_t total = curves.size() * policies.size() * repeats;
  std::vector<std::optional<Result<RunResult>>> slots(total);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < total; i = next++) {
      const Curve& curve = curves[i / (policies.size() * repeats)];
      const std::string& policy = policies[i / repeats % policies.size()];
      slots[i] = play ? play(curve, policy, i % repeats, conditions)
                      : replay(curve, policy, i % repeats, conditions);
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < threads; ++t) pool.emplace_back(work);
  }
  std::vector<RunResult> results;
  results.reserve(total);
  for (std::size_t i = 0; i < total; ++i) {
    Result<RunResult>& slot = *slots[i];
    if (!slot) return slot.error().in(to_string(curves[i / (policies.size() * repeats)].key));
    results.push_back(std::move(*slot));
  }
  return results;
}

}  // namespace hypermile
