// SPDX-License-Identifier: Apache-2.0
#include "predict/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "base/random.h"
#include "predict/calibration.h"
#include "predict/model_predictor.h"
#include "predict/new_card_errors.h"
#include "predict/relation_rows.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kDealingSeed = 20;
// Bounds for a new card where the training knows one card only: what its jobs show, and as much
// again for what they cannot.
constexpr double kNewCardFactor = 2;
constexpr std::size_t kBlocks = 4;

// Which part each example belongs to, by workload: names in a shuffled but fixed order, in turn.
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

BoostingRows boosting_rows(const std::vector<RidgeRow>& rows) {
  BoostingRows out;
  double sum = 0;
  for (const RidgeRow& row : rows) sum += row.weight * row.lever * row.lever;
  const double mean = sum / static_cast<double>(rows.size());
  for (const RidgeRow& row : rows) {
    out.inputs.push_back(row.inputs);
    out.targets.push_back(static_cast<float>(row.target));
    out.weights.push_back(static_cast<float>(row.weight * row.lever * row.lever / mean));
  }
  return out;
}

Result<Member> fit_member(const std::vector<RidgeRow>& rows, ModelKind kind,
                          const BoostingOptions& boosting) {
  Member member;
  if (kind != ModelKind::kBoosted) {
    member.ridge = fit_ridge(rows);
    RETURN_IF_ERROR(check(*member.ridge));
  }
  if (kind != ModelKind::kAnalytic) {
    ASSIGN_OR_RETURN(member.forest, boost(boosting_rows(rows), boosting));
  }
  return member;
}

// What physics says of how strongly time follows a knob, whatever the job: less of an iteration is
// governed by the SM clock the slower memory is, and a slower memory or a lower limit only gain
// weight. Energy has a least point somewhere in between, and no direction.
Directions directions_of(Knob knob, Target target) {
  Directions directions = {};
  if (target != Target::kTime) return directions;
  switch (knob) {
    case Knob::kSmClock:
      directions[kMemoryRatio] = 1;
      break;
    case Knob::kMemoryClock:
      directions[kMemoryRatio] = -1;
      break;
    case Knob::kPowerLimit:
      directions[kLimitRatio] = -1;
      break;
  }
  return directions;
}

// One member of one relation to be trained.
struct Task {
  Knob knob;
  Target target;
  std::size_t member;
  std::function<bool(std::size_t)> taken;
};

Result<std::vector<std::optional<Member>>> fit_all(const std::vector<Task>& tasks,
                                                   std::span<const Example> examples,
                                                   const TrainingOptions& options) {
  std::vector<Result<std::optional<Member>>> done(tasks.size(), std::optional<Member>());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const Task& task = tasks[i];
      const auto rows = relation_rows(task.knob, task.target, examples, task.taken);
      if (rows.empty()) continue;
      BoostingOptions boosting = options.boosting;
      boosting.seed += task.member;
      boosting.directions = directions_of(task.knob, task.target);
      Result<Member> member = fit_member(rows, options.kind, boosting);
      if (member) {
        done[i] = std::optional(std::move(*member));
      } else {
        done[i] = member.error();
      }
    }
  };
  const unsigned threads =
      options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < threads; ++t) pool.emplace_back(work);
  }
  std::vector<std::optional<Member>> members;
  for (auto& one : done) {
    ASSIGN_OR_RETURN(members.emplace_back(), std::move(one));
  }
  return members;
}

// A model whose member k was trained on the examples that `taken(k, i)` accepts, with `whole` more
// that were trained on all.
Result<Model> fit_model(std::span<const Example> examples, const TrainingOptions& options,
                        std::size_t members, std::size_t whole,
                        const std::function<bool(std::size_t, std::size_t)>& taken) {
  std::vector<Task> tasks;
  for (const Knob knob : kAllKnobs) {
    for (const Target target : kTargets) {
      for (std::size_t k = 0; k < members + whole; ++k) {
        tasks.push_back({knob, target, k, [&taken, k, members](std::size_t i) {
                           return k >= members || taken(k, i);
                         }});
      }
    }
  }
  ASSIGN_OR_RETURN(auto fitted, fit_all(tasks, examples, options));
  Model model;
  model.kind = options.kind;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].member == 0) model.relations.push_back({tasks[i].knob, tasks[i].target, {}, {}});
    Relation& relation = model.relations.back();
    if (tasks[i].member < members) {
      relation.members.push_back(std::move(fitted[i]).value_or(Member()));
    } else if (fitted[i]) {
      relation.whole.push_back(std::move(*fitted[i]));
    }
  }
  for (Relation& relation : model.relations) {
    if (std::ranges::all_of(relation.members, &Member::empty)) relation.members.clear();
  }
  return model;
}

std::vector<RelativeSetting> settings_of(const Example& example) {
  std::vector<RelativeSetting> settings;
  for (const MeasuredRatio& point : example.points) settings.push_back(point.at);
  return settings;
}

// Errors of both kinds of rows.
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

// From jobs whose workload was left out, every workload counting alike.
Scores calibrate(const Residuals& residuals, BoundScales& scales) {
  scales.time = residuals.time_scale();
  scales.energy = residuals.energy_scale();
  scales.new_card_time = {kNewCardFactor * scales.time, 0};
  scales.new_card_energy = {kNewCardFactor * scales.energy, 0};
  return residuals.scores(scales.time, scales.energy);
}

// The doubt is that of the whole ensemble, the error that of the member which has not seen the job.
void calibrate(std::span<const Example> examples, const std::vector<std::size_t>& part,
               Model& model) {
  ErrorsByKind<Residuals> residuals;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto settings = settings_of(examples[i]);
    auto raw = raw_estimates(model, examples[i].features, settings);
    const auto unseen = raw_estimates(model, examples[i].features, settings, part[i]);
    for (std::size_t j = 0; j < raw.size(); ++j) {
      raw[j].time = unseen[j].time;
      raw[j].energy = unseen[j].energy;
    }
    residuals.add(examples[i], std::span<const RawEstimate>(raw));
  }
  model.by_workload = calibrate(residuals.clocks, model.calibration.clocks) +
                      calibrate(residuals.limits, model.calibration.limits);
}

// Workloads in the order of what they ask of memory, in blocks: one that is left out must be
// extrapolated to, as a card that nobody has seen must.
std::vector<std::size_t> deal_blocks(std::span<const Example> examples, std::size_t blocks) {
  std::map<std::string, std::pair<double, double>> asked;  // sum, count
  for (const Example& example : examples) {
    auto& [sum, count] = asked[example.group];
    sum += example.features.get(Feature::kDramActive)
               .value_or(example.features.get(Feature::kPowerShare).value_or(0));
    ++count;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [group, mean] : asked) order.emplace_back(mean.first / mean.second, group);
  std::ranges::sort(order);
  std::map<std::string, std::size_t> block_of;
  for (std::size_t i = 0; i < order.size(); ++i) {
    block_of[order[i].second] = i * blocks / order.size();
  }
  std::vector<std::size_t> dealt;
  for (const Example& example : examples) dealt.push_back(block_of.at(example.group));
  return dealt;
}

using TakeEstimates = std::function<void(const Example&, std::span<const RawEstimate>)>;

// Each part once predicted from the others, by models of one member; doubts are the full model's.
Result<void> leave_parts_out(std::span<const Example> examples, const TrainingOptions& options,
                             const Model& model, const std::vector<std::size_t>& part,
                             std::size_t parts, const TakeEstimates& take) {
  ASSIGN_OR_RETURN(const Model without,
                   fit_model(examples, options, parts, 0,
                             [&](std::size_t k, std::size_t i) { return part[i] != k; }));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto settings = settings_of(examples[i]);
    auto raw = raw_estimates(model, examples[i].features, settings);
    const auto unseen = raw_estimates(without, examples[i].features, settings, part[i]);
    for (std::size_t j = 0; j < raw.size(); ++j) {
      raw[j].time = unseen[j].time;
      raw[j].energy = unseen[j].energy;
    }
    take(examples[i], raw);
  }
  return {};
}

// Wide enough for every workload counting alike, and for every card counting alike at its distance.
Scores calibrate_by_card(const Residuals& residuals, const NewCardErrors& errors,
                         BoundScales& scales) {
  scales.new_card_time = errors.time_scale(std::max(scales.time, residuals.time_scale()));
  scales.new_card_energy = errors.energy_scale(std::max(scales.energy, residuals.energy_scale()));
  return errors.scores(scales.new_card_time, scales.new_card_energy);
}

// Each card left out once.
Result<void> calibrate_by_card(std::span<const Example> examples, const TrainingOptions& options,
                               Model& model) {
  std::vector<std::size_t> part;
  for (const Example& example : examples) {
    part.push_back(static_cast<std::size_t>(
        std::ranges::find(model.cards, example.key.gpu, &CardProfile::card) - model.cards.begin()));
  }
  ErrorsByKind<NewCardErrors> errors;
  ErrorsByKind<Residuals> residuals;
  RETURN_IF_ERROR(leave_parts_out(
      examples, options, model, part, model.cards.size(),
      [&](const Example& example, std::span<const RawEstimate> estimates) {
        residuals.add(example, estimates);
        errors.add(example, card_distance(model.cards, example.features, example.key.gpu),
                   estimates);
      }));
  Calibration& calibration = model.calibration;
  model.by_card = calibrate_by_card(residuals.clocks, errors.clocks, calibration.clocks) +
                  calibrate_by_card(residuals.limits, errors.limits, calibration.limits);
  return {};
}

// With one card a block of its jobs stands for another one, and bounds are wider by a factor.
Result<void> calibrate_by_block(std::span<const Example> examples, const TrainingOptions& options,
                                Model& model) {
  ErrorsByKind<Residuals> residuals;
  RETURN_IF_ERROR(
      leave_parts_out(examples, options, model, deal_blocks(examples, kBlocks), kBlocks,
                      [&](const Example& example, std::span<const RawEstimate> estimates) {
                        residuals.add(example, estimates);
                      }));
  const auto widen = [](const Residuals& seen, BoundScales& scales) {
    scales.new_card_time.base = kNewCardFactor * std::max(scales.time, seen.time_scale());
    scales.new_card_energy.base = kNewCardFactor * std::max(scales.energy, seen.energy_scale());
  };
  widen(residuals.clocks, model.calibration.clocks);
  widen(residuals.limits, model.calibration.limits);
  return {};
}

}  // namespace

Result<Model> train(std::span<const Example> examples, const TrainingOptions& options) {
  std::set<std::string> groups;
  for (const Example& example : examples) groups.insert(example.group);
  if (groups.size() < 2) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} workload(s) to learn from: errors cannot be known", groups.size()),
                 "give sweeps of two workloads or more"};
  }
  const std::size_t members = std::clamp<std::size_t>(options.members, 2, groups.size());
  const std::vector<std::size_t> part = deal(examples, members);
  ASSIGN_OR_RETURN(Model model,
                   fit_model(examples, options, members, options.whole,
                             [&](std::size_t k, std::size_t i) { return part[i] != k; }));
  model.cards = card_profiles(examples);
  model.mean = mean_curve(examples);
  calibrate(examples, part, model);
  if (options.leave_cards && model.cards.size() > 1) {
    RETURN_IF_ERROR(calibrate_by_card(examples, options, model));
  } else if (options.leave_cards && groups.size() >= 2 * kBlocks) {
    RETURN_IF_ERROR(calibrate_by_block(examples, options, model));
  }
  return model;
}

}  // namespace hypermile
