// SPDX-License-Identifier: Apache-2.0
//
// Sets the bounds for cards outside the training, from errors on cards whose family was left out.
// Errors are divided by the model's doubt, and a quantile of them is the scale by which doubts are
// multiplied. Every card has the same weight, and so has every workload of a card. Errors of jobs
// on one card are alike, so the plain 90 % quantile would say little about the next card: the level
// is raised until the scale from the other families covers nine of ten rows of each left-out
// family. Called by train.cpp and card_pairs.cpp; one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/calibration.h"
#include "predict/model.h"
#include "predict/model_predictor.h"

namespace hypermile {

// Fewer families say too little about other cards: without one of them, hardly any card is left to
// learn from.
inline constexpr std::size_t kFewestFamilies = 4;

class NewCardErrors {
 public:
  explicit NewCardErrors(RowKind kind) : kind_(kind) {}

  // `estimates` has one entry for each point of `example`, made without the family of its card. All
  // units get the same weight; a unit is a card or a pair of cards. `distance` is the card's
  // distance under limits.
  void add(const Example& example, const std::string& unit, double distance,
           std::span<const RawEstimate> estimates);

  // Returns `otherwise` with errors on fewer than `fewest` families.
  BoundScales scales(const BoundScales& otherwise, std::size_t fewest = kFewestFamilies) const;
  // For limits, under which only five cards were measured, too few for a quantile: fits a line
  // through the scale that each card needed at its distance. The result is never below `least`.
  BoundScales sloped_scales(const BoundScales& least) const;
  Scores scores(const BoundScales& scales) const;

 private:
  struct Row {
    std::string family;
    double time = 0;  // error divided by doubt
    double energy = 0;
    double distance = 0;
    double weight = 0;
  };
  using Groups = std::map<std::string, std::vector<Row>>;  // by workload

  std::vector<Row> weighted() const;
  double slope(double Row::*score) const;
  double above(double Row::*score, double slope) const;

  RowKind kind_;
  std::map<std::string, Groups> units_;
  std::size_t rows_ = 0;
  double time_sum_ = 0;
  double energy_sum_ = 0;
};

}  // namespace hypermile
