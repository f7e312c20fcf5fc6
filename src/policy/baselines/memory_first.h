// SPDX-License-Identifier: Apache-2.0
//
// The memory step of policies that have none of their own: with the other knobs as high as they go,
// walk down through the memory clocks while the slowdown stays within the bound, and keep the one
// of least score. Measured on three cards, memory first and SM after it loses nothing against the
// full grid, the other order 1 to 3 points of saving.
#pragma once

#include "policy/baselines/ladder.h"
#include "policy/baselines/probed.h"

namespace hypermile {

// Index into grid.by_memory; nullopt: a measurement is missing. No Window where the list has one
// memory clock.
std::optional<std::size_t> choose_memory(const SettingGrid& grid, const TrialReference& reference,
                                         Probed& probed, std::optional<double> limit, int windows);

}  // namespace hypermile
