// SPDX-License-Identifier: Apache-2.0
//
// GPOEO as its repository has it, uncorrected: NVML traces, its period detector with the test for
// aperiodic jobs, counters, a model's prediction, the local search over memory and SM clock, and a
// watch on power that searches or predicts again. It sees no iterations, only Window::trace and,
// where a job has no period, the rate of instructions that counters tell.
//
// Kept from the authors' program: detection at 0.9 of the default's clocks first, then the default,
// 4 s of settling (8 s at first, 2 s for the first memory clock); 30 W subtracted from every power
// on an RTX 3080 Ti; E*T^2 minimised under "energy"; the default measured once for all searches;
// power's extremes never forgotten; an underdetermined cubic; a job whose GPU waits for a sixth of
// the time left alone; an aperiodic job watched with a spread of 30 %.
//
// Not as in the authors' program: counters are read at the default, since our models learnt from
// features there, and our models stand in for theirs, which were never published; an idle GPU is
// not parked at its lowest clocks; and our session, not this, gives the clocks back at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/sensor_trace.h"
#include "policy/baselines/gpoeo_meter.h"
#include "policy/baselines/gpoeo_search.h"
#include "policy/baselines/power_watch.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr double kBaseClock = 1800.0 / 1995.0;   // of the default's SM clock
constexpr double kBaseMemory = 9251.0 / 9501.0;  // of the default's memory clock
constexpr Seconds kSettle = Seconds(4);
constexpr Seconds kSettleBase = Seconds(8);         // clocks are set twice
constexpr Seconds kSettleFirstMemory = Seconds(2);  // for the first memory clock
constexpr double kSearchAgainAperiodic = 0.30;      // power spread, where the job has no period
constexpr int kCalmChecks = 3;                      // alike, before the checks become rarer
constexpr int kMostDoublings = 5;                   // 32 periods between two checks at most
constexpr int kBlindInARow = 3;  // measurements that cannot be made, before it gives up

Watts static_power(std::string_view gpu) {
  if (gpu.find("3080 Ti") != std::string_view::npos) return Watts(30);
  if (gpu.find("2080 Ti") != std::string_view::npos) return Watts(1.65);
  return Watts(0);
}

class GpoeoPublished final : public Policy {
 public:
  explicit GpoeoPublished(const PolicyContext& context)
      : context_(context),
        search_(context, GpoeoFit::kUnderdetermined),
        meter_(static_power(context.gpu)),
        start_(search_.usual_start()),
        predicted_(start_) {
    if (context.settings.size() < 2) {
      give_up("there is no other setting");
    } else {
      predict_anew();
    }
  }

  Step next() override {
    Step step;
    step.iterations = context_.window_iterations;
    step.reason = reason_;
    step.setting = setting_;
    step.confidence = setting_ == 0 ? 1 : 0.5;
    if (stage_ == Stage::kGivenUp) return step;
    step.exploring = stage_ != Stage::kWatch;
    step.trace_for = stage_ == Stage::kWatch && watching_ ? watch_for_ : meter_.wanted();
    // Counters only where they are needed: to predict, and where nothing else tells the pace.
    step.features = (stage_ == Stage::kDefault && !counted_) || (meter_.aperiodic() && !watching_);
    return step;
  }

  void observe(const Window& window) override {
    if (stage_ == Stage::kGivenUp) return;
    if (stage_ == Stage::kDefault && window.features) counted_ = window.features;
    if (stage_ == Stage::kWatch && watching_) {
      check_power(window);
      return;
    }
    switch (meter_.add(window)) {
      case GpoeoMeter::Outcome::kMore:
        return;
      case GpoeoMeter::Outcome::kBlind:
        if (++blind_ < kBlindInARow) return;
        give_up(meter_.aperiodic() ? "no period shows in power and utilisation, and the rate of "
                                     "instructions cannot be read"
                                   : "power and utilisation cannot be read");
        return;
      case GpoeoMeter::Outcome::kAperiodic:
        blind_ = 0;
        take_aperiodic();
        return;
      case GpoeoMeter::Outcome::kDone:
        blind_ = 0;
        take(window);
    }
  }

 private:
  enum class Stage { kBase, kDefault, kSearch, kWatch, kGivenUp };

  void measure(Stage stage, std::size_t setting, GpoeoStrictness strictness, Seconds settle,
               std::string reason) {
    stage_ = stage;
    setting_ = setting;
    reason_ = std::move(reason);
    const auto clock = context_.settings[setting].sm_clock;
    meter_.begin(strictness, settle, clock ? clock : context_.default_values.sm_clock);
  }

  void predict_anew() {
    meter_.forget_aperiodic();
    watching_ = false;
    counted_.reset();
    measure(Stage::kBase, base_setting(), GpoeoStrictness::kStrict, kSettleBase,
            "looking for the job's period at the base clocks");
  }

  void measure_default() {
    measure(Stage::kDefault, 0, GpoeoStrictness::kRelaxed, kSettle,
            fmt::format("the default and its counters; {}", meter_.text()));
  }

  std::size_t base_setting() const {
    const SettingGrid& grid = search_.grid();
    std::size_t memory = 0;
    for (std::size_t m = 1; m < grid.memory_height.size(); ++m) {
      if (std::abs(grid.memory_height[m] - kBaseMemory) <
          std::abs(grid.memory_height[memory] - kBaseMemory)) {
        memory = m;
      }
    }
    const Ladder& ladder = grid.by_memory[memory];
    return ladder[nearest_rung(ladder, kBaseClock)].setting;
  }

  // The detector gave up: the whole round is measured by instructions.
  void take_aperiodic() {
    if (meter_.mostly_waits()) {
      give_up("the GPU waits for much of the time, and such jobs are left alone");
    } else {
      measure_default();
    }
  }

  void take(const Window& window) {
    switch (stage_) {
      case Stage::kBase:
        if (meter_.mostly_waits()) {
          give_up("the GPU waits for much of the time, and such jobs are left alone");
        } else {
          measure_default();
        }
        return;
      case Stage::kDefault:
        base_ = meter_.result();
        predict(window);
        trials_.clear();
        search();
        return;
      case Stage::kSearch:
        trials_.add(meter_.result());
        search();
        return;
      case Stage::kWatch:  // one detection, then power alone
        watching_ = true;
        watch_for_ = meter_.look() + Seconds(1);
        check(meter_.mean_power());
        return;
      case Stage::kGivenUp:
        return;
    }
  }

  void predict(const Window& window) {
    start_ = predicted_ = search_.usual_start();
    guessed_ = !context_.predict;
    if (!context_.predict || !window.power) return;
    Window with_counters = window;
    with_counters.features = counted_;
    const std::vector<PredictedRatio> ratios = context_.predict(with_counters);
    guessed_ = ratios.empty();
    if (guessed_) return;
    Objective objective = context_.objective;
    if (objective.goal == Goal::kEnergy) objective.goal = Goal::kEd2p;
    objective.max_slowdown = search_.limit();
    const std::size_t best = predicted_best(ratios, objective, *window.power);
    if (best != 0 && search_.grid().memory_of(best)) {
      start_ = predicted_ = best;
    } else {
      start_ = predicted_ = search_.grid().main().front().setting;  // none is feasible: the top
    }
  }

  void search() {
    watching_ = false;
    trials_.restart();
    if (const auto kept = search_.search(trials_, base_, start_)) {
      kept_ = *kept;
      calm_ = 0;
      measure(Stage::kWatch, kept_, GpoeoStrictness::kRelaxed, Seconds(0),
              fmt::format("kept; {}", meter_.text()));
      return;
    }
    const std::string_view where =
        guessed_ ? "no model: begun at 86 % of the clock" : "begun where the model says";
    const bool first_memory = trials_.count() == 0 && search_.grid().by_memory.size() > 1;
    measure(Stage::kSearch, trials_.wanted(), GpoeoStrictness::kRelaxed,
            first_memory ? kSettleFirstMemory : kSettle,
            fmt::format("{}; {}; {}", trials_.reason(), where, meter_.text()));
  }

  void check_power(const Window& window) {
    if (!window.trace || window.trace->size() == 0) return;
    const std::vector<double>& power = window.trace->power_w;
    const auto wanted = static_cast<std::size_t>(std::lround(meter_.look() / kTraceStep));
    const std::size_t count = std::clamp<std::size_t>(wanted, 1, power.size());
    double sum = 0;
    for (std::size_t i = power.size() - count; i < power.size(); ++i) sum += power[i];
    const double mean = sum / static_cast<double>(count);
    if (std::isfinite(mean)) check(Watts(mean) - static_power(context_.gpu));
  }

  void check(Watts power) {
    const double spread = power_.spread(power);
    if (spread > (meter_.aperiodic() ? kSearchAgainAperiodic : kGpoeoSearchAgain)) {
      if (spread >= kGpoeoPredictAgain) {
        predict_anew();
      } else {
        start_ = kept_;
        trials_.clear();
        search();
      }
      return;
    }
    ++calm_;
    const int doublings =
        calm_ < kCalmChecks ? 0 : std::min(calm_ - kCalmChecks + 1, kMostDoublings);
    const double rest = doublings > 0 ? std::exp2(doublings - 1) : 0;
    watch_for_ = (1 + rest) * meter_.look() + Seconds(1);
  }

  void give_up(std::string why) {
    stage_ = Stage::kGivenUp;
    setting_ = 0;
    reason_ = "the default is kept: " + std::move(why);
  }

  PolicyContext context_;
  GpoeoSearch search_;
  GpoeoMeter meter_;
  Trials trials_;
  PowerWatch power_;
  Measured base_;
  Stage stage_ = Stage::kBase;
  std::size_t setting_ = 0;
  std::size_t start_, predicted_;
  std::size_t kept_ = 0;
  std::string reason_;
  std::shared_ptr<const Features> counted_;  // at the default, in this round
  bool guessed_ = true;                      // no model said where to begin
  bool watching_ = false;                    // power alone, after one detection at the Setting kept
  Seconds watch_for_;
  int calm_ = 0;
  int blind_ = 0;
};

}  // namespace

Result<std::unique_ptr<Policy>> make_gpoeo_published_policy(const PolicyContext& context) {
  if (!context.traces) {
    return Error{ErrorCode::kUsage,
                 "policy 'gpoeo-published' needs NVML's power and utilisation over time, which a "
                 "table of settings does not hold",
                 "use it with `simulate`, `run`, or `evaluate --controller`"};
  }
  return std::unique_ptr<Policy>(std::make_unique<GpoeoPublished>(context));
}

}  // namespace hypermile
