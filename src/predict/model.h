// SPDX-License-Identifier: Apache-2.0
//
// A trained model as plain data: six relations (time and energy against SM clock, memory clock and
// power limit), the errors on jobs outside the training, and the sources. Each relation is an
// ensemble whose members have seen different parts of the training jobs. train.h makes a model,
// model_file.h stores it, model_predictor.h evaluates it.
//
// A relation predicts how strongly a ratio follows its lever, not the ratio itself:
//   ratio = 1 + v · lever,  lever = 1/s - 1 for time and 1 - s for energy at the clock ratio s.
// So every curve begins at exactly 1, and v has the same size at all clocks and on all cards: for
// time, v is the share of an iteration that the clock governs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "predict/card_distance.h"
#include "predict/examples.h"
#include "predict/forest.h"
#include "predict/mean_curve.h"
#include "predict/ridge.h"

namespace hypermile {

enum class Target { kTime, kEnergy };
inline constexpr Target kTargets[] = {Target::kTime, Target::kEnergy};
std::string_view to_string(Target target);  // "time", "energy"

enum class ModelKind { kBoosted, kAnalytic, kJoined };
inline constexpr ModelKind kModelKinds[] = {ModelKind::kBoosted, ModelKind::kAnalytic,
                                            ModelKind::kJoined};
std::string_view to_string(ModelKind kind);  // "boosted", "analytic", "joined"
std::optional<ModelKind> model_kind_from(std::string_view name);

// 0 where the knob is at its default; grows as the knob is lowered.
double lever(Knob knob, Target target, const RelativeSetting& at);

// Trees, a linear form, or the mean of both.
struct Member {
  std::optional<Forest> forest;
  std::optional<Ridge> ridge;

  // True where no job of the member's training moved the knob.
  bool empty() const { return !forest && !ridge; }
  // One value for each row at its lever.
  std::vector<double> values(std::span<const Inputs> rows, std::span<const double> levers) const;
};

struct Relation {
  Knob knob = Knob::kSmClock;
  Target target = Target::kTime;
  std::vector<Member> members;  // member k has not seen part k; empty where no job moved the knob
  std::vector<Member> whole;    // have seen every job; predictions are their mean
};

// Half the width of a 90 % interval is scale × doubt (model_predictor.h). Under limits on an
// unknown card the scale grows with the card's distance; at clocks, the doubt does.
struct BoundScales {
  double time = 1;
  double energy = 1;
  double time_slope = 0;
  double energy_slope = 0;

  double time_at(double distance) const { return time + time_slope * distance; }
  double energy_at(double distance) const { return energy + energy_slope * distance; }
};

// The model's share in an answer, between 0 and 1; the rest is the mean curve's (trust.h).
struct Trust {
  double time = 1;
  double energy = 1;
};

// Predictions at clocks and under limits come from different jobs, and their errors differ.
struct Calibration {
  BoundScales clocks;
  BoundScales limits;
  // nullopt: each job is answered as near as it is to the training cards (card_distance.h).
  std::optional<Trust> clocks_trust = Trust();
  Trust limits_trust = {};

  const BoundScales& of(const RelativeSetting& at) const { return at.limit ? limits : clocks; }
};

// For an unknown card under limits where one family alone was measured: nothing tells how far the
// model carries, so half of it is believed. A convention.
inline constexpr Trust kOneFamilyTrust = {0.5, 0.5};

// The scales for unknown cards, for a model with too few cards to calibrate itself: what models of
// one card needed on cards of other families, over many pairs (card_pairs.h and
// docs/design/predictors.md).
inline constexpr BoundScales kCardPairScales = {1.19, 1.92};

// Errors of members on jobs outside their training, over rows at 0.6 of the SM clock or more.
struct Scores {
  std::size_t rows = 0;
  double time_mae = 0;
  double energy_mae = 0;
  double coverage90 = 0;
};

// The scores over the rows of both.
Scores operator+(const Scores& a, const Scores& b);

struct Model {
  ModelKind kind = ModelKind::kBoosted;
  std::vector<Relation> relations;
  // Linear forms that answer in the place of trees on cards outside the training: energy at clocks,
  // where trees have seen one family of cards alone (docs/design/predictors.md). Empty otherwise.
  std::vector<Relation> elsewhere;
  Calibration calibration;  // for cards of the training
  // The scales at clocks of those cards that have workloads enough to tell their own.
  std::map<std::string, BoundScales> own_scales;
  Calibration new_card;            // for other cards
  MeanCurve mean;                  // of the training jobs, the baseline of a model
  std::vector<CardProfile> cards;  // the cards of the training
  std::vector<ExampleSource> sources;
  Scores by_workload;             // each workload left out once
  std::optional<Scores> by_card;  // each card family left out once; only with two or more

  // For a card of the training or, from `elsewhere` where that tells, another one.
  const Relation* find(Knob knob, Target target, bool known_card = true) const;
};

}  // namespace hypermile
