// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/memory_first.h"

namespace hypermile {
namespace {

// Less than this is not worth a lower memory clock.
constexpr double kWorthwhile = 0.01;

}  // namespace

std::optional<std::size_t> choose_memory(const SettingGrid& grid, const TrialReference& reference,
                                         Probed& probed, std::optional<double> limit, int windows) {
  std::size_t best = 0;
  double best_score = 1 - kWorthwhile;
  for (std::size_t memory = 1; memory < grid.by_memory.size(); ++memory) {
    const std::size_t setting = grid.by_memory[memory].front().setting;
    const std::optional<Measured> m = probed.at(setting, "memory clock", windows);
    if (!m) return std::nullopt;
    if (!reference.within(*m, limit)) break;
    if (reference.score(*m) < best_score) {
      best = memory;
      best_score = reference.score(*m);
    }
  }
  return best;
}

}  // namespace hypermile
