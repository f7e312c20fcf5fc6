// SPDX-License-Identifier: Apache-2.0
#include "predict/model_predictor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "predict/trust.h"

namespace hypermile {
namespace {

// Doubts that never vanish: a floor for the measurement itself, and a share of the lever. On an
// unknown card that share grows with the card's distance.
constexpr double kFloor = 0.004;
constexpr double kNewCardFloor = 0.02;
constexpr double kLeverDoubt = 0.05;
constexpr double kDistanceDoubt = 0.2;
constexpr double kLeastRatio = 0.05;
// The share of the members' disagreement that widens the bounds of a job on a known card. Most
// members have seen the jobs on which bounds are set, and disagree about those more than about a
// new job. With the whole of it, bounds are therefore too narrow; with none of it, they are as wide
// for a job that is easy to predict as for a hard one.
constexpr double kSeenSpread = 0.4;

struct Effect {
  double ratio = 1;
  double doubt = 0;
};

using Knots = std::array<double, kCurveKnots.size()>;

// The mean of what several members say at each knot, and their standard deviation.
struct Consensus {
  Knots mean = {};
  Knots spread = {};
};

Consensus consensus(std::span<const Member> members, std::span<const Inputs> rows,
                    std::span<const double> levers) {
  Consensus out;
  Knots squares = {};
  double n = 0;
  for (const Member& member : members) {
    if (member.empty()) continue;
    n += 1;
    const std::vector<double> values = member.values(rows, levers);
    for (std::size_t i = 0; i < values.size(); ++i) {
      out.mean[i] += values[i];
      squares[i] += values[i] * values[i];
    }
  }
  if (n == 0) return out;
  for (std::size_t i = 0; i < out.mean.size(); ++i) {
    out.mean[i] /= n;
    out.spread[i] = std::sqrt(std::max(0.0, squares[i] / n - out.mean[i] * out.mean[i]));
  }
  return out;
}

Consensus ask(const Relation& relation, std::span<const Inputs> rows,
              std::span<const double> levers, const std::optional<MemberRange>& members) {
  if (members) {
    return consensus(std::span(relation.members).subspan(members->first, members->count), rows,
                     levers);
  }
  Consensus out = consensus(relation.members, rows, levers);
  if (!relation.whole.empty()) out.mean = consensus(relation.whole, rows, levers).mean;
  return out;
}

double lever_doubt(Knob knob, const Asking& asking) {
  // For jobs under a limit, hardly more than their power is known, and power does not tell cards
  // apart. There the distance widens only the scale.
  return asking.distances && knob != Knob::kPowerLimit
             ? kDistanceDoubt * (*asking.distances)[static_cast<std::size_t>(knob)]
             : kLeverDoubt;
}

// One relation along its own knob, with the other knobs as in `at`.
class EffectCurve {
 public:
  EffectCurve(const Relation& relation, Inputs& inputs, const RelativeSetting& at,
              const Asking& asking)
      : relation_(relation), lever_doubt_(lever_doubt(relation.knob, asking)) {
    std::array<Inputs, kCurveKnots.size()> rows;
    Knots levers;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RelativeSetting here = moved(at, kCurveKnots[i]);
      move_to(inputs, here);
      rows[i] = inputs;
      levers[i] = lever(relation.knob, relation.target, here);
    }
    const Consensus said = ask(relation, rows, levers, asking.members);
    spread_ = said.spread;
    if (!asking.distances) {
      for (double& spread : spread_) spread *= kSeenSpread;
    }
    double highest = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double ratio = std::max(kLeastRatio, 1 + said.mean[i] * levers[i]);
      if (relation.target == Target::kTime) {
        highest = std::max(highest, ratio);
        ratio = highest;
      }
      ratio_[i] = ratio;
    }
    lever_ = levers;
  }

  Effect at(const RelativeSetting& setting) const {
    const double x = lever(relation_.knob, relation_.target, setting);
    if (x <= 0) return {};
    const double last = lever_.back();
    const double ratio = x > last ? 1 + (ratio_.back() - 1) * x / last : along(ratio_, 1, x);
    return {std::max(kLeastRatio, ratio), x * (lever_doubt_ + along(spread_, spread_[0], x))};
  }

 private:
  RelativeSetting moved(RelativeSetting at, double ratio) const {
    if (relation_.knob == Knob::kSmClock) at.sm = ratio;
    if (relation_.knob == Knob::kMemoryClock) at.memory = ratio;
    if (relation_.knob == Knob::kPowerLimit) at.limit = kLimitTop * ratio;
    return at;
  }
  // Linear in the lever between knots, from `top` at the default, so that values which never fall
  // at the knots never fall between them. Constant beyond the last knot.
  double along(const Knots& values, double top, double x) const {
    double from = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (x <= lever_[i]) return top + (x - from) / (lever_[i] - from) * (values[i] - top);
      from = lever_[i];
      top = values[i];
    }
    return top;
  }

  const Relation& relation_;
  double lever_doubt_;
  Knots lever_ = {};
  Knots ratio_ = {};
  Knots spread_ = {};
};

// Adds doubt for a knob that no training job moved; its ratio stays 1. Known cards get no doubt.
void doubt_unmoved(Knob knob, Target target, std::span<const RelativeSetting> settings,
                   const Asking& asking, std::vector<Effect>& out) {
  if (!asking.distances) return;
  const double share = kDistanceDoubt * (*asking.distances)[static_cast<std::size_t>(knob)];
  for (std::size_t i = 0; i < settings.size(); ++i) {
    out[i].doubt += lever(knob, target, settings[i]) * share * out[i].ratio;
  }
}

// The effects of all `settings` on one target. The SM clock has one curve for each memory clock.
void follow(const Model& model, Target target, Inputs& inputs,
            std::span<const RelativeSetting> settings, const Asking& asking,
            std::vector<Effect>& out) {
  for (Effect& effect : out) effect = {1, 0};
  for (const Knob knob : kAllKnobs) {
    const Relation* relation = model.find(knob, target, !asking.distances);
    if (relation == nullptr || relation->members.empty()) {
      doubt_unmoved(knob, target, settings, asking, out);
      continue;
    }
    std::vector<std::pair<double, EffectCurve>> curves;  // with the memory clock of each
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (lever(knob, target, settings[i]) <= 0) continue;
      const double memory = knob == Knob::kSmClock ? settings[i].memory : 1;
      auto found = std::ranges::find(curves, memory, &std::pair<double, EffectCurve>::first);
      if (found == curves.end()) {
        RelativeSetting at;
        at.memory = memory;
        curves.emplace_back(memory, EffectCurve(*relation, inputs, at, asking));
        found = curves.end() - 1;
      }
      const Effect effect = found->second.at(settings[i]);
      out[i].doubt += effect.doubt * out[i].ratio;
      out[i].ratio *= effect.ratio;
    }
  }
  // Every measurement has an error, even under a limit that the job never reaches.
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (settings[i] == RelativeSetting{}) continue;
    out[i].doubt += asking.distances && !settings[i].limit ? kNewCardFloor : kFloor;
  }
}

Bounded bounded(double value, double doubt, double scale) {
  return {value, std::max(0.0, value - scale * doubt), value + scale * doubt};
}

}  // namespace

std::vector<RawEstimate> raw_estimates(const Model& model, const Features& features,
                                       std::span<const RelativeSetting> settings,
                                       const Asking& asking) {
  Inputs inputs = inputs_of(features, {});
  std::vector<Effect> time(settings.size());
  std::vector<Effect> energy(settings.size());
  follow(model, Target::kTime, inputs, settings, asking, time);
  follow(model, Target::kEnergy, inputs, settings, asking, energy);
  std::vector<RawEstimate> out;
  out.reserve(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    out.push_back({time[i].ratio, energy[i].ratio, time[i].doubt, energy[i].doubt});
  }
  return out;
}

std::vector<RatioEstimate> ModelPredictor::predict(
    const Features& features, std::string_view gpu,
    std::span<const RelativeSetting> settings) const {
  const bool known = std::ranges::find(model_.cards, gpu, &CardProfile::card) != model_.cards.end();
  Asking asking;
  if (!known) asking.distances = card_distances(model_.cards, features);
  const double under_limit = known ? 0 : limit_distance(*asking.distances);
  const Calibration& calibration = known ? model_.calibration : model_.new_card;
  std::vector<RawEstimate> raw = raw_estimates(model_, features, settings, asking);
  lean_on_mean(model_.mean, calibration, asking.distances, settings, raw);
  const auto own = known ? model_.own_scales.find(std::string(gpu)) : model_.own_scales.end();
  std::vector<RatioEstimate> out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool has_own = own != model_.own_scales.end() && !settings[i].limit;
    const BoundScales& scales = has_own ? own->second : calibration.of(settings[i]);
    out.push_back({bounded(raw[i].time, raw[i].time_doubt, scales.time_at(under_limit)),
                   bounded(raw[i].energy, raw[i].energy_doubt, scales.energy_at(under_limit))});
  }
  return out;
}

}  // namespace hypermile
