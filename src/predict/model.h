// SPDX-License-Identifier: Apache-2.0
//
// A trained model as plain data: six relations (time and energy against SM clock, memory clock and
// power limit), each an ensemble whose members have seen different parts of the training jobs, what
// the errors outside the training were, and where it all came from. train.h makes it, model_file.h
// stores it, model_predictor.h asks it.
//
// A relation does not predict a ratio but how strongly the ratio follows its lever:
//   ratio = 1 + v · lever,  lever = 1/s - 1 for time and 1 - s for energy at the clock ratio s.
// So every curve begins at exactly 1, and v is of one size at all clocks and on all cards: for time
// it is the share of an iteration that the clock governs.
#pragma once

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

// 0 where the knob stands as at the default, more the farther it is moved.
double lever(Knob knob, Target target, const RelativeSetting& at);

// Trees, a linear form, or the mean of both.
struct Member {
  std::optional<Forest> forest;
  std::optional<Ridge> ridge;

  // No job that it was trained on moved the knob: it has nothing to say.
  bool empty() const { return !forest && !ridge; }
  // One value for each row and its lever.
  std::vector<double> values(std::span<const Inputs> rows, std::span<const double> levers) const;
};

struct Relation {
  Knob knob = Knob::kSmClock;
  Target target = Target::kTime;
  std::vector<Member> members;  // member k has not seen part k; none: no job moved the knob
  std::vector<Member> whole;    // have seen every job: what is answered is their mean
};

// Half the width of a 90 % interval is a scale × the doubt (model_predictor.h). Under limits on an
// unknown card the scale grows with the distance; elsewhere the doubt itself does.
struct BoundScales {
  double time = 1;
  double energy = 1;
  double time_slope = 0;
  double energy_slope = 0;

  double time_at(double distance) const { return time + time_slope * distance; }
  double energy_at(double distance) const { return energy + energy_slope * distance; }
};

// Clocks and limits are learnt from other jobs and err differently.
struct Calibration {
  BoundScales clocks;
  BoundScales limits;

  const BoundScales& of(const RelativeSetting& at) const { return at.limit ? limits : clocks; }
};

// On cards that nobody has seen, for a model that knows too few cards to find out for itself: what
// one card's model needed on the cards of other families, over many pairs (card_pairs.h;
// docs/design/predictors.md tells which).
inline constexpr BoundScales kCardPairScales = {1.35, 1.75};

// On jobs that were not in the training of the member asked, rows at 0.6 of the SM clock or more.
struct Scores {
  std::size_t rows = 0;
  double time_mae = 0;
  double energy_mae = 0;
  double coverage90 = 0;
};

// Of both together.
Scores operator+(const Scores& a, const Scores& b);

struct Model {
  ModelKind kind = ModelKind::kBoosted;
  std::vector<Relation> relations;
  Calibration calibration;         // on cards of the training
  Calibration new_card;            // on others
  MeanCurve mean;                  // of the training jobs: what a model must beat
  std::vector<CardProfile> cards;  // in the training
  std::vector<ExampleSource> sources;
  Scores by_workload;             // whole workloads left out
  std::optional<Scores> by_card;  // whole cards left out; with two cards or more

  const Relation* find(Knob knob, Target target) const;
};

}  // namespace hypermile
