// SPDX-License-Identifier: Apache-2.0
#include "predict/fit_model.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "predict/relation_rows.h"

namespace hypermile {
namespace {

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

// The directions that physics gives, whatever the job. The slower the memory is, the less of an
// iteration the SM clock governs. The slower the memory or the lower the limit, the more weight
// they have themselves. Energy has a minimum in between, and so no direction.
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

// The training of one member of one relation.
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

}  // namespace

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

Result<std::vector<Relation>> fit_elsewhere(
    std::span<const Example> examples, TrainingOptions options, std::size_t members,
    const std::function<bool(std::size_t, std::size_t)>& taken) {
  std::set<std::string> families;
  for (const Example& example : examples) {
    if (has_clocks(example)) families.insert(card_family(example.key.gpu));
  }
  if (options.kind != ModelKind::kBoosted || families.size() != 1) return std::vector<Relation>();
  options.kind = ModelKind::kAnalytic;
  ASSIGN_OR_RETURN(Model forms, fit_model(examples, options, members, options.whole, taken));
  std::erase_if(forms.relations, [](const Relation& relation) {
    return relation.target != Target::kEnergy || relation.knob == Knob::kPowerLimit;
  });
  return std::move(forms.relations);
}

}  // namespace hypermile
