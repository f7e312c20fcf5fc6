// SPDX-License-Identifier: Apache-2.0
#include "predict/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "predict/calibration.h"
#include "predict/fit_model.h"
#include "predict/model_predictor.h"
#include "predict/new_card_errors.h"
#include "predict/trust.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kDealingSeed = 20;
// The factor from a known card's bounds under limits to those of an unknown card, used where the
// training has one family only. A convention: it cannot be measured.
constexpr double kOneCardLimits = 2;
// Fewer workloads of a card tell less about its next one than those of all cards.
constexpr std::size_t kOwnScaleWorkloads = 8;
// How many members are trained again without each family of cards.
constexpr std::size_t kMembersOfAFamily = 3;

// The part of each example. Workloads are taken in a shuffled but fixed order and dealt in turn.
std::vector<std::size_t> deal(std::span<const Example> examples, std::size_t parts) {
  std::map<std::uint64_t, std::string> shuffled;
  for (const Example& example : examples) {
    shuffled.emplace(derive_seed(kDealingSeed, example.group.c_str()), example.group);
  }
  std::map<std::string, std::size_t> part_of;
  for (const auto& [hash, group] : shuffled) {
    const std::size_t next = part_of.size() % parts;
    part_of.emplace(group, next);
  }
  std::vector<std::size_t> dealt;
  for (const Example& example : examples) dealt.push_back(part_of.at(example.group));
  return dealt;
}

// The errors of rows at clocks and of rows under limits.
template <class Errors>
struct ErrorsByKind {
  Errors clocks{RowKind::kClocks};
  Errors limits{RowKind::kLimits};

  template <class... Arguments>
  void add(const Arguments&... arguments) {
    clocks.add(arguments...);
    limits.add(arguments...);
  }
};

// Doubts come from the members of `doubting`, values from those of `saying`.
std::vector<RawEstimate> estimates_of(const Model& model, const Example& example,
                                      const Asking& doubting, MemberRange saying) {
  const auto settings = settings_of(example);
  auto raw = raw_estimates(model, example.features, settings, doubting);
  const auto said = raw_estimates(model, example.features, settings, {saying, {}});
  for (std::size_t j = 0; j < raw.size(); ++j) {
    raw[j].time = said[j].time;
    raw[j].energy = said[j].energy;
  }
  return raw;
}

// The mean curve of the jobs that `seen` is true of.
template <class Seen>
MeanCurve mean_of_seen(std::span<const Example> examples, const Seen& seen) {
  std::vector<Example> left;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (seen(i)) left.push_back(examples[i]);
  }
  return mean_curve(left);
}

// What the model says of each left-out job, and the mean curve that has not seen the job either.
struct LeftOut {
  std::vector<std::vector<RawEstimate>> said;           // by example
  std::vector<const MeanCurve*> mean;                   // by example
  std::vector<std::optional<KnobDistances>> distances;  // by example; of those on unknown cards

  void lean(std::span<const Example> examples, const Calibration& by) {
    for (std::size_t i = 0; i < said.size(); ++i) {
      lean_on_mean(*mean[i], by, distances[i], settings_of(examples[i]), said[i]);
    }
  }
  // `unit` names what an example counts towards.
  template <class Unit>
  void choose_trust(std::span<const Example> examples, const Unit& unit, const Trust& otherwise,
                    Calibration& of) const {
    ErrorsByKind<TrustChooser> chooser;
    for (std::size_t i = 0; i < said.size(); ++i) {
      chooser.add(examples[i], unit(i), std::span<const RawEstimate>(said[i]), *mean[i]);
    }
    of.clocks_trust = chooser.clocks.choose(otherwise);
    const bool unknown_cards = distances.front().has_value();
    if (unknown_cards && chooser.clocks.families() < kFewestFamilies) of.clocks_trust.reset();
    of.limits_trust = chooser.limits.choose(otherwise);
  }
};

// Sets the scales from jobs whose workload was left out. Every workload has the same weight.
Scores calibrate(const Residuals& residuals, BoundScales& scales) {
  scales = {residuals.time_scale(), residuals.energy_scale()};
  return residuals.scores(scales.time, scales.energy);
}

// Doubts come from the whole ensemble, errors from the member that has not seen the job.
void calibrate(std::span<const Example> examples, const std::vector<std::size_t>& part,
               Model& model) {
  std::map<std::size_t, MeanCurve> means;  // by part
  for (const std::size_t k : part) {
    if (means.contains(k)) continue;
    means[k] = mean_of_seen(examples, [&](std::size_t i) { return part[i] != k; });
  }
  LeftOut left_out;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    left_out.said.push_back(estimates_of(model, examples[i], {}, {part[i], 1}));
    left_out.mean.push_back(&means.at(part[i]));
    left_out.distances.push_back(std::nullopt);
  }
  left_out.choose_trust(
      examples, [](std::size_t) { return ""; }, Trust(), model.calibration);
  left_out.lean(examples, model.calibration);
  ErrorsByKind<Residuals> residuals;
  std::map<std::string, Residuals> own;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::span<const RawEstimate> said = left_out.said[i];
    residuals.add(examples[i], said);
    const std::string& card = examples[i].key.gpu;
    own.try_emplace(card, RowKind::kClocks).first->second.add(examples[i], said);
  }
  model.by_workload = calibrate(residuals.clocks, model.calibration.clocks) +
                      calibrate(residuals.limits, model.calibration.limits);
  if (own.size() < 2) return;
  for (const auto& [card, errors] : own) {
    if (errors.workloads() < kOwnScaleWorkloads) continue;
    calibrate(errors, model.own_scales[card]);
  }
}

// Leaves each family of cards out once. Each of these members also lacks a part of the workloads,
// so that errors come from a member that has seen neither the card nor the workload.
Result<void> calibrate_by_family(std::span<const Example> examples,
                                 const std::vector<std::size_t>& part,
                                 const TrainingOptions& options, Model& model) {
  std::map<std::string, std::size_t> families;
  for (const CardProfile& card : model.cards) {
    families.emplace(card_family(card.card), families.size());
  }
  std::vector<std::size_t> family;
  for (const Example& example : examples) {
    family.push_back(families.at(card_family(example.key.gpu)));
  }
  const std::size_t each = kMembersOfAFamily;
  ASSIGN_OR_RETURN(
      const Model without,
      fit_model(examples, options, each * families.size(), 0, [&](std::size_t k, std::size_t i) {
        return family[i] != k / each && part[i] != k % each;
      }));
  std::map<std::pair<std::size_t, std::size_t>, MeanCurve> means;  // by family and part
  LeftOut left_out;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::size_t without_part = std::min(part[i], each);  // `each`: no part is left out
    auto& mean = means[{family[i], without_part}];
    if (mean.knobs.empty()) {
      mean = mean_of_seen(examples, [&](std::size_t j) {
        return family[j] != family[i] && (without_part == each || part[j] != without_part);
      });
    }
    left_out.mean.push_back(&mean);
    const MemberRange all = {each * family[i], each};
    const MemberRange saying = part[i] < each ? MemberRange{all.first + part[i], 1} : all;
    const std::string name = card_family(examples[i].key.gpu);
    const Asking doubting = {all, card_distances(model.cards, examples[i].features, name)};
    left_out.said.push_back(estimates_of(without, examples[i], doubting, saying));
    left_out.distances.push_back(doubting.distances);
  }
  Calibration& found = model.new_card;
  // Few families may move a knob: then nothing tells how far the model carries over.
  left_out.choose_trust(
      examples, [&](std::size_t i) { return examples[i].key.gpu; }, kOneFamilyTrust, found);
  left_out.lean(examples, found);
  ErrorsByKind<NewCardErrors> errors;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    errors.add(examples[i], examples[i].key.gpu, limit_distance(*left_out.distances[i]),
               std::span<const RawEstimate>(left_out.said[i]));
  }
  found.clocks = errors.clocks.scales(options.new_card);
  found.limits = errors.limits.sloped_scales(model.calibration.limits);
  model.by_card = errors.clocks.scores(found.clocks) + errors.limits.scores(found.limits);
  return {};
}

}  // namespace

Result<Model> train(std::span<const Example> examples, const TrainingOptions& options) {
  std::set<std::string> groups;
  std::set<std::string> families;
  for (const Example& example : examples) {
    groups.insert(example.group);
    families.insert(card_family(example.key.gpu));
  }
  if (groups.size() < 2) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} workload{} {} too few to learn from", groups.size(),
                             groups.size() == 1 ? "" : "s", groups.size() == 1 ? "is" : "are"),
                 "give sweeps of at least two workloads"};
  }
  const std::size_t members = std::clamp<std::size_t>(options.members, 2, groups.size());
  const std::vector<std::size_t> part = deal(examples, members);
  const auto taken = [&](std::size_t k, std::size_t i) { return part[i] != k; };
  ASSIGN_OR_RETURN(Model model, fit_model(examples, options, members, options.whole, taken));
  ASSIGN_OR_RETURN(model.elsewhere, fit_elsewhere(examples, options, members, taken));
  model.cards = card_profiles(examples);
  model.mean = mean_curve(examples);
  calibrate(examples, part, model);
  const BoundScales& limits = model.calibration.limits;
  model.new_card = {options.new_card,
                    {kOneCardLimits * limits.time, kOneCardLimits * limits.energy},
                    std::nullopt,
                    kOneFamilyTrust};
  if (options.leave_cards && families.size() > 1) {
    RETURN_IF_ERROR(calibrate_by_family(examples, part, options, model));
  }
  return model;
}

}  // namespace hypermile
