// SPDX-License-Identifier: Apache-2.0
#include "predict/model.h"

#include <algorithm>

namespace hypermile {
namespace {

// A larger lever is a mistake: nothing was ever measured there.
constexpr double kLargestLever = 10;

double clock_lever(double ratio, Target target) {
  if (!(ratio > 0)) return 0;
  return std::clamp(target == Target::kTime ? 1 / ratio - 1 : 1 - ratio, 0.0, kLargestLever);
}

}  // namespace

std::string_view to_string(Target target) {
  return target == Target::kTime ? "time" : "energy";
}

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::kBoosted:
      return "boosted";
    case ModelKind::kAnalytic:
      return "analytic";
    case ModelKind::kJoined:
      return "joined";
  }
  return "boosted";
}

std::optional<ModelKind> model_kind_from(std::string_view name) {
  for (const ModelKind kind : kModelKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

double lever(Knob knob, Target target, const RelativeSetting& at) {
  switch (knob) {
    case Knob::kSmClock:
      return clock_lever(at.sm, target);
    case Knob::kMemoryClock:
      return clock_lever(at.memory, target);
    case Knob::kPowerLimit:
      if (!at.limit || !(*at.limit > 0)) return 0;
      return std::clamp(kLimitTop / *at.limit - 1, 0.0, kLargestLever);
  }
  return 0;
}

std::vector<double> Member::values(std::span<const Inputs> rows,
                                   std::span<const double> levers) const {
  std::vector<double> out(rows.size(), 0.0);
  if (forest) forest->add_values(rows, out);
  if (!ridge) return out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[i] += ridge->value(rows[i], levers[i]);
    if (forest) out[i] /= 2;
  }
  return out;
}

Scores operator+(const Scores& a, const Scores& b) {
  if (a.rows + b.rows == 0) return {};
  const auto n = static_cast<double>(a.rows);
  const auto m = static_cast<double>(b.rows);
  const auto mean = [&](double x, double y) { return (n * x + m * y) / (n + m); };
  return {a.rows + b.rows, mean(a.time_mae, b.time_mae), mean(a.energy_mae, b.energy_mae),
          mean(a.coverage90, b.coverage90)};
}

const Relation* Model::find(Knob knob, Target target, bool known_card) const {
  const auto is_it = [&](const Relation& relation) {
    return relation.knob == knob && relation.target == target;
  };
  if (const auto found = std::ranges::find_if(elsewhere, is_it);
      !known_card && found != elsewhere.end()) {
    return &*found;
  }
  const auto found = std::ranges::find_if(relations, is_it);
  return found == relations.end() ? nullptr : &*found;
}

}  // namespace hypermile
