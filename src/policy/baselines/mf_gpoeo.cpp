// SPDX-License-Identifier: Apache-2.0
//
// MF-GPOEO (Wang, Hao, Zhang, Wang, IEEE T. Sustainable Computing 2023): no model; a PID controller
// moves the SM ceiling until the slowdown is the bound less 0.3 points, and the best step is kept.
// Only the control loop is here; slowdown is time per iteration in place of its comparison of
// kernel records.
//
// Constants, from the authors' code and its shipped settings: Kp 2.8, Ki 0.002, Kd 0.9, with the
// schedule of pid_gain.cpp; start at 95 % of the list; the default measured again after 2 steps and
// then every 5, merged with the old one at weight 0.8 when within 2 %, down to 0.2 when far off. It
// stops when a gear comes up again, when two feasible gears in a row lie within 3 of each other, or
// after 12 steps (5 to 6 as shipped, where a step takes longer). The choice is the best score of a
// step, plus 1 beyond the target. Watching: power off by more than 0.1 of the sum in most of the
// last five Windows starts again.
//
// Memory, where the list has lower clocks: with the SM clock at its highest (95 % of the authors'
// list is more than their card runs at), those below 0.9 and above 0.05 of the default's (they try
// 5001 and 810 of 9501 MHz, not 9251 nor 405), kept when within the bound and better; a negative
// slowdown is measured twice. Their test of memory utilisation is not made, a Window has none.
// After a lower memory clock SM starts at 65 to 90 %, higher the more of the bound is used up.
//
// Corrected: the flag that compounds the gain is cleared (a comparison stood for an assignment); a
// job with nothing to match cannot read as slowdown 0, since iterations are counted. Goals without
// a bound have no set point: then it steers for 5 %, its default, and keeps the best score met.
#include <algorithm>
#include <array>
#include <cmath>

#include "policy/baselines/ladder.h"
#include "policy/baselines/pid_gain.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr double kMargin = 0.003;
constexpr double kFallbackBound = 0.05;
constexpr int kMostSteps = 12;
constexpr double kStartHeight = 0.95;
constexpr double kListBottom = 0.1;      // its list of gears begins at a tenth of the top clock
constexpr double kGear = 15.0 / 1995.0;  // of the default's value
constexpr double kSameGears = 3;
constexpr double kPenalty = 1;

// Power at the Setting kept, against the mean of its first Windows.
class DriftWatch {
 public:
  bool drifted(Watts power) {
    if (seen_ < kBase) {
      base_ += power / kBase;
      ++seen_;
      return false;
    }
    off_[next_] = std::abs((power - base_) / (power + base_)) > 0.1;
    next_ = (next_ + 1) % off_.size();
    return std::ranges::count(off_, true) > 2;
  }

 private:
  static constexpr int kBase = 3;
  int seen_ = 0;
  Watts base_;
  std::array<bool, 5> off_ = {};
  std::size_t next_ = 0;
};

// The new measurement of the default into the old one.
Measured merge(const Measured& old, const Measured& fresh) {
  const double change = std::abs(fresh.time / old.time - 1);
  const double keep = std::clamp(0.8 - (change - 0.02) * 10, 0.2, 0.8);
  return {old.time * keep + fresh.time * (1 - keep), old.power * keep + fresh.power * (1 - keep)};
}

class MfGpoeo : public SearchMethod {
 public:
  explicit MfGpoeo(const PolicyContext& context)
      : objective_(context.objective),
        grid_(make_grid(context, kClockFirst)),
        bound_(effective_bound(context.objective).value_or(kFallbackBound)) {}

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, "baseline");
    if (!base) return std::nullopt;
    Start start;
    if (!search_memory(trials, TrialReference(objective_, *base), start)) return std::nullopt;
    return control(trials, *base, start);
  }

  bool changed(std::size_t, const Measured& window) override {
    if (!watch_.drifted(window.power)) return false;
    watch_ = DriftWatch();
    return true;
  }

 private:
  // What the memory step leaves for the controller.
  struct Start {
    std::size_t memory = 0;
    double height = kStartHeight;
    std::size_t best = 0;  // Setting
    double best_value = 1;
  };

  // False: a measurement is missing.
  bool search_memory(Trials& trials, const TrialReference& reference, Start& start) const {
    for (std::size_t memory = 1; memory < grid_.by_memory.size(); ++memory) {
      if (grid_.memory_height[memory] > 0.9 || grid_.memory_height[memory] < 0.05) continue;
      const Ladder& ladder = grid_.by_memory[memory];
      const std::size_t setting = ladder.front().setting;
      auto m = trials.measure(setting, "memory clock");
      if (!m) return false;
      if (reference.slowdown(*m) < 0) {
        const auto again = trials.measure(setting, "memory clock, too good to be true");
        if (!again) return false;
        if (again->time > m->time) m = again;
      }
      const double slowdown = reference.slowdown(*m);
      if (slowdown > bound_ || reference.score(*m) >= start.best_value) break;
      start.memory = memory;
      start.height = 0.65 + 0.25 * std::clamp(slowdown / bound_, 0.0, 1.0);
      start.best = setting;
      start.best_value = reference.score(*m);
    }
    return true;
  }

  std::optional<std::size_t> control(Trials& trials, Measured base, const Start& start) const {
    const Ladder& ladder = grid_.by_memory[start.memory];
    std::size_t rung = nearest_rung(ladder, start.height);
    std::size_t best = start.best;
    double best_value = start.best_value;
    const double target = bound_ - kMargin;
    std::vector<std::size_t> visited;
    PidGain pid(target);
    for (int step = 0; step < kMostSteps; ++step) {
      if (step == 2 || (step > 2 && (step - 2) % 5 == 0)) {
        const auto again = trials.measure(0, "baseline again");
        if (!again) return std::nullopt;
        base = merge(base, *again);
      }
      const auto m = trials.measure(ladder[rung].setting, "PID step");
      if (!m) return std::nullopt;
      const TrialReference reference(objective_, base);
      const double loss = reference.slowdown(*m);
      const bool infeasible = objective_.max_slowdown && loss > target;
      const double value = reference.score(*m) + (infeasible ? kPenalty : 0);
      if (value < best_value) {
        best = ladder[rung].setting;
        best_value = value;
      }
      const std::size_t to =
          move(ladder, rung, pid.delta(loss, ladder[rung].height), pid.settled());
      visited.push_back(rung);
      if (std::ranges::find(visited, to) != visited.end()) break;
      if (step > 0 && loss <= target && near(ladder, visited[visited.size() - 2], rung)) break;
      rung = to;
    }
    return best;
  }

  static bool near(const Ladder& ladder, std::size_t a, std::size_t b) {
    return std::abs(ladder[a].height - ladder[b].height) <= kSameGears * kGear;
  }

  // The rung that the controller's relative change leads to: at least one in its direction, none
  // inside the dead band.
  static std::size_t move(const Ladder& ladder, std::size_t rung, double delta, bool settled) {
    if (settled) return rung;
    const double height = ladder[rung].height;
    const std::size_t to = nearest_rung(ladder, height - (height - kListBottom) * delta);
    if (to != rung) return to;
    if (delta > 0) return std::min(rung + 1, ladder.size() - 1);
    return rung == 0 ? 0 : rung - 1;
  }

  Objective objective_;
  SettingGrid grid_;
  double bound_;
  DriftWatch watch_;
};

}  // namespace

std::unique_ptr<Policy> make_mf_gpoeo_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<MfGpoeo>(context));
}

}  // namespace hypermile
