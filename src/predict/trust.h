// SPDX-License-Identifier: Apache-2.0
//
// How much of a prediction comes from the model itself, and how much from the mean curve of its
// training jobs. A model that has learnt little about a kind of job errs less near the mean. The
// share is chosen on jobs, or families of cards, that the model was trained without. Called by
// train.cpp, which stores the shares in the model, and by ModelPredictor. Cannot fail.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "predict/calibration.h"
#include "predict/mean_curve.h"
#include "predict/model.h"

namespace hypermile {

// ratio = mean + trust × (model's own − mean), for each setting. `distances` of a job on an unknown
// card, where its trust depends on them.
void lean_on_mean(const MeanCurve& mean, const Calibration& by,
                  const std::optional<KnobDistances>& distances,
                  std::span<const RelativeSetting> settings, std::span<RawEstimate> estimates);

// Chooses the shares of least mean absolute error on the examples that were left out. Every unit (a
// card) has the same weight, and so has every workload of a unit.
class TrustChooser {
 public:
  explicit TrustChooser(RowKind kind) : kind_(kind) {}

  // `estimates` has one entry for each point of `example`. Neither the model that made them nor
  // `mean` was trained on it.
  void add(const Example& example, const std::string& unit, std::span<const RawEstimate> estimates,
           const MeanCurve& mean);
  // `otherwise` where all shares do equally well: nothing was added, or the model without the
  // family knows no more than the mean curve.
  Trust choose(const Trust& otherwise) const;
  // Families of cards with a row of this kind.
  std::size_t families() const { return families_.size(); }

 private:
  static constexpr std::array kShares = {0.0, 0.25, 0.5, 0.75, 1.0};
  struct Errors {
    std::array<double, kShares.size()> time = {};
    std::array<double, kShares.size()> energy = {};
    double rows = 0;
  };
  std::optional<double> best(std::array<double, kShares.size()> Errors::*which) const;

  RowKind kind_;
  std::map<std::string, std::map<std::string, Errors>> units_;  // by unit and workload
  std::set<std::string> families_;
};

}  // namespace hypermile
