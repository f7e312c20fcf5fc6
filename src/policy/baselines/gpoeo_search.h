// SPDX-License-Identifier: Apache-2.0
//
// GPOEO's local search, which starts from a predicted Setting: memory clock first, then the SM
// clock (gpoeo_clock_search.h). `gpoeo` and `gpoeo-published` share it; they differ in how a
// Setting is measured, and in the fit. Cannot fail.
//
// Constants, as in the authors' code: limit 0.9 of the bound; a memory clock that is slower than
// 1.2 of the limit sends the search to higher ones, and it stops once a higher one could not help.
#pragma once

#include <optional>

#include "policy/baselines/gpoeo_clock_search.h"
#include "policy/baselines/ladder.h"
#include "policy/baselines/probed.h"

namespace hypermile {

class GpoeoSearch {
 public:
  GpoeoSearch(const PolicyContext& context, GpoeoFit fit);

  // The Setting to keep; nullopt as soon as `trials` says that a measurement is missing. `base` is
  // the default as measured, `start` a Setting of the grid.
  std::optional<std::size_t> search(Trials& trials, const Measured& base, std::size_t start) const;

  const SettingGrid& grid() const { return grid_; }
  std::optional<double> limit() const { return limit_; }
  // Where the search begins without a prediction: 0.86 of the default's clock.
  std::size_t usual_start() const;

 private:
  double height_of(std::size_t setting) const;
  std::vector<std::size_t> memory_candidates(std::size_t predicted, bool too_slow) const;
  std::optional<std::size_t> search_memory(const GpoeoRule& rule, Probed& probed,
                                           std::size_t predicted, double height) const;

  Objective objective_;
  SettingGrid grid_;
  GpoeoFit fit_;
  std::optional<double> limit_;
};

}  // namespace hypermile
