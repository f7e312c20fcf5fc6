// SPDX-License-Identifier: Apache-2.0
//
// Bounds for a card that nobody has seen: each card of the training is left out once, and its
// errors, in units of the model's doubt, tell how wide bounds must be at which distance from the
// other cards. Every card counts alike, and every workload of a card.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/calibration.h"
#include "predict/card_distance.h"
#include "predict/model.h"
#include "predict/model_predictor.h"

namespace hypermile {

class NewCardErrors {
 public:
  explicit NewCardErrors(RowKind kind) : kind_(kind) {}

  // `estimates` were made without the card of `example`, one for each of its points; `distance` is
  // from the other cards.
  void add(const Example& example, double distance, std::span<const RawEstimate> estimates);

  // Nine of ten errors lie within; never narrower than `least` at any distance.
  DistanceScale time_scale(double least) const { return fit(&Row::time, least); }
  DistanceScale energy_scale(double least) const { return fit(&Row::energy, least); }
  // With bounds at these.
  Scores scores(const DistanceScale& time, const DistanceScale& energy) const;

 private:
  struct Row {
    double distance = 0;
    double time = 0;  // error over doubt
    double energy = 0;
  };
  using Groups = std::map<std::string, std::vector<Row>>;  // by workload

  DistanceScale fit(double Row::*score, double least) const;
  double slope(double Row::*score) const;
  static double quantile(std::vector<std::pair<double, double>> values, double share);

  RowKind kind_;
  std::map<std::string, Groups> cards_;
  std::size_t rows_ = 0;
  double time_sum_ = 0;
  double energy_sum_ = 0;
};

}  // namespace hypermile
