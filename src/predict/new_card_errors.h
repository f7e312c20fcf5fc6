// SPDX-License-Identifier: Apache-2.0
//
// Bounds for a card that nobody has seen: errors on cards whose family was left out of the
// training, in units of the model's doubt there, tell what doubts are to be multiplied by. Every
// card counts alike, and every workload of a card. Jobs of one card err alike, so nine of ten rows
// of these cards say little of the next one: the quantile is taken as far out as it must be for
// nine of ten rows of a family to lie within what the other families set.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/calibration.h"
#include "predict/model.h"
#include "predict/model_predictor.h"

namespace hypermile {

class NewCardErrors {
 public:
  explicit NewCardErrors(RowKind kind) : kind_(kind) {}

  // `estimates` were made without the family of the example's card, one for each of its points.
  // `unit` is what counts alike: the card, or a pair of cards; `distance` is where limits lie.
  void add(const Example& example, const std::string& unit, double distance,
           std::span<const RawEstimate> estimates);

  // `otherwise` with too few families to tell.
  BoundScales scales(const BoundScales& otherwise) const;
  // Five cards were measured under limits, too few for that: a line through what each needed at its
  // distance, never below `least`.
  BoundScales sloped_scales(const BoundScales& least) const;
  Scores scores(const BoundScales& scales) const;

 private:
  struct Row {
    std::string family;
    double time = 0;  // error over doubt
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
