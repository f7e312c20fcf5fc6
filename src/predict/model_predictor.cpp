// SPDX-License-Identifier: Apache-2.0
#include "predict/model_predictor.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hypermile {
namespace {

// What is always in doubt: the measurement itself, and a share of the lever.
constexpr double kFloor = 0.004;
constexpr double kLeverDoubt = 0.05;
constexpr double kLeastRatio = 0.05;

struct Effect {
  double ratio = 1;
  double doubt = 0;
};

struct Value {
  double mean = 0;
  double spread = 0;  // standard deviation between members
};

Value value_of(const Relation& relation, const Inputs& inputs, double at_lever,
               std::optional<std::size_t> member) {
  if (member) {
    return {relation.members[*member % relation.members.size()].value(inputs, at_lever), 0};
  }
  double n = 0;
  double sum = 0;
  double squares = 0;
  for (const Member& one : relation.members) {
    if (one.empty()) continue;
    n += 1;
    const double v = one.value(inputs, at_lever);
    sum += v;
    squares += v * v;
  }
  if (n == 0) return {};
  const double mean = sum / n;
  const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean));
  if (relation.whole.empty()) return {mean, spread};
  double answer = 0;
  for (const Member& one : relation.whole) answer += one.value(inputs, at_lever);
  return {answer / static_cast<double>(relation.whole.size()), spread};
}

// One relation along its own knob, everything else as in `at`.
class EffectCurve {
 public:
  EffectCurve(const Relation& relation, Inputs& inputs, const RelativeSetting& at,
              std::optional<std::size_t> member)
      : relation_(relation) {
    double highest = 1;
    for (std::size_t i = 0; i < kCurveKnots.size(); ++i) {
      const RelativeSetting here = moved(at, kCurveKnots[i]);
      move_to(inputs, here);
      const double x = lever(relation.knob, relation.target, here);
      const Value v = value_of(relation, inputs, x, member);
      double ratio = std::max(kLeastRatio, 1 + v.mean * x);
      if (relation.target == Target::kTime) {
        highest = std::max(highest, ratio);
        ratio = highest;
      }
      value_[i] = x > 0 ? (ratio - 1) / x : 0;
      spread_[i] = v.spread;
    }
  }

  Effect at(const RelativeSetting& setting) const {
    const double x = lever(relation_.knob, relation_.target, setting);
    if (x <= 0) return {};
    const double ratio = position(relation_.knob, setting);
    const double value = between(value_, ratio);
    return {std::max(kLeastRatio, 1 + value * x), x * (kLeverDoubt + between(spread_, ratio))};
  }

 private:
  RelativeSetting moved(RelativeSetting at, double ratio) const {
    if (relation_.knob == Knob::kSmClock) at.sm = ratio;
    if (relation_.knob == Knob::kMemoryClock) at.memory = ratio;
    if (relation_.knob == Knob::kPowerLimit) at.limit = kLimitTop * ratio;
    return at;
  }
  static double between(const std::array<double, kCurveKnots.size()>& values, double ratio) {
    if (ratio >= kCurveKnots[0]) return values.front();
    for (std::size_t i = 1; i < kCurveKnots.size(); ++i) {
      if (ratio < kCurveKnots[i]) continue;
      const double share = (ratio - kCurveKnots[i]) / (kCurveKnots[i - 1] - kCurveKnots[i]);
      return values[i] + share * (values[i - 1] - values[i]);
    }
    return values.back();
  }

  const Relation& relation_;
  std::array<double, kCurveKnots.size()> value_ = {};
  std::array<double, kCurveKnots.size()> spread_ = {};
};

// All Settings under one target. Curves are made once for each memory clock.
void follow(const Model& model, Target target, Inputs& inputs,
            std::span<const RelativeSetting> settings, std::optional<std::size_t> member,
            std::vector<Effect>& out) {
  for (Effect& effect : out) effect = {1, 0};
  for (const Knob knob : kAllKnobs) {
    const Relation* relation = model.find(knob, target);
    if (relation == nullptr || relation->members.empty()) continue;
    std::vector<std::pair<double, EffectCurve>> curves;  // by memory clock
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (lever(knob, target, settings[i]) <= 0) continue;
      const double memory = knob == Knob::kSmClock ? settings[i].memory : 1;
      auto found = std::ranges::find(curves, memory, &std::pair<double, EffectCurve>::first);
      if (found == curves.end()) {
        RelativeSetting at;
        at.memory = memory;
        curves.emplace_back(memory, EffectCurve(*relation, inputs, at, member));
        found = curves.end() - 1;
      }
      const Effect effect = found->second.at(settings[i]);
      out[i].doubt += effect.doubt * out[i].ratio;
      out[i].ratio *= effect.ratio;
    }
  }
  for (Effect& effect : out) {
    if (effect.doubt > 0) effect.doubt += kFloor;
  }
}

Bounded bounded(double value, double doubt, double scale) {
  return {value, std::max(0.0, value - scale * doubt), value + scale * doubt};
}

}  // namespace

std::vector<RawEstimate> raw_estimates(const Model& model, const Features& features,
                                       std::span<const RelativeSetting> settings,
                                       std::optional<std::size_t> member) {
  Inputs inputs = inputs_of(features, {});
  std::vector<Effect> time(settings.size());
  std::vector<Effect> energy(settings.size());
  follow(model, Target::kTime, inputs, settings, member, time);
  follow(model, Target::kEnergy, inputs, settings, member, energy);
  std::vector<RawEstimate> out;
  out.reserve(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    out.push_back({time[i].ratio, energy[i].ratio, time[i].doubt, energy[i].doubt});
  }
  return out;
}

std::vector<Estimate> ModelPredictor::predict(const Features& features, std::string_view gpu,
                                              std::span<const RelativeSetting> settings) const {
  const Calibration& calibration = model_.calibration;
  const bool known = std::ranges::find(model_.cards, gpu) != model_.cards.end();
  const double time_scale = known ? calibration.time_scale : calibration.new_card_time_scale;
  const double energy_scale = known ? calibration.energy_scale : calibration.new_card_energy_scale;
  std::vector<Estimate> out;
  for (const RawEstimate& raw : raw_estimates(model_, features, settings)) {
    out.push_back({bounded(raw.time, raw.time_doubt, time_scale),
                   bounded(raw.energy, raw.energy_doubt, energy_scale)});
  }
  return out;
}

}  // namespace hypermile
