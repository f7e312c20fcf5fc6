// SPDX-License-Identifier: Apache-2.0
#include "cli/knob_trial.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kWhole = Seconds(15);
constexpr Seconds kLastKnob = Seconds(9);  // no knob is begun later, so that all can be given back
constexpr Seconds kAnswer = Seconds(2.5);  // for one request
constexpr Seconds kShows = Seconds(1);     // a request acts 5 to 150 ms after the call
constexpr Seconds kLookAgain = milliseconds(10);
constexpr Seconds kTtl = Seconds(10);
constexpr double kStepWatts = 5;   // drivers take whole watts; 5 W are seen above rounding
constexpr double kComputes = 0.5;  // share of time with a kernel
constexpr SensorSet kTrialSensors =
    Sensor::kClocks | Sensor::kPowerLimit | Sensor::kUtilization | Sensor::kEventReasons;

std::optional<double> reading(Knob knob, const Sample& sample) {
  const auto number = [](const auto& value) {
    return value ? std::optional(value->value()) : std::nullopt;
  };
  if (knob == Knob::kSmClock) return number(sample.sm_clock);
  if (knob == Knob::kMemoryClock) return number(sample.memory_clock);
  return number(sample.requested_power_limit);
}

bool computes(const Sample& sample) {
  return sample.gpu_utilization.value_or(0) >= kComputes;
}

class Trial {
 public:
  Trial(Gpu& gpu, DaemonConnection connection, Clock& clock)
      : gpu_(gpu), connection_(std::move(connection)), clock_(clock), begun_(clock.now()) {}

  Result<void> acquire() {
    const wire::AcquireRequest request{{gpu_.identity().uuid}, kTtl, "hypermile doctor --try", ""};
    ASSIGN_OR_RETURN(lease_, connection_.ask<wire::Granted>(request, kWhole));
    begun_ = clock_.now();  // a guardian may have loaded a driver first
    return {};
  }

  KnobTrial try_knob(Knob knob) {
    KnobTrial trial;
    trial.knob = knob;
    const Result<void> tried = attempt(trial);
    if (!tried) trial.problem = tried.error().line();
    return trial;
  }

  Result<void> release() {
    RETURN_IF_ERROR(connection_.ask<wire::Done>(wire::ReleaseRequest{lease_.lease}, left()));
    return {};
  }
  Seconds took() const { return clock_.now() - begun_; }

 private:
  Seconds left() const { return std::clamp(kWhole - took(), milliseconds(100), kAnswer); }

  Result<void> attempt(KnobTrial& trial) {
    ASSIGN_OR_RETURN(const Sample now, gpu_.read(kTrialSensors));
    trial.before = reading(trial.knob, now);
    const std::optional<double> step = one_step_down(trial.knob, gpu_.capabilities(), now);
    if (!step) {
      trial.note = "the card lists no lower value";
      return {};
    }
    if (took() > kLastKnob) {
      trial.note = "not tried: the knobs before it took too long";
      return {};
    }
    trial.asked = step;
    Setting setting;
    setting.set(trial.knob, *step);
    ASSIGN_OR_RETURN(trial.set_took, set(setting));
    RETURN_IF_ERROR(watch(trial));
    ASSIGN_OR_RETURN(trial.restore_took, set({}));
    return check_given_back(trial);
  }

  // How long the driver took. A knob's problem is this call's.
  Result<Seconds> set(const Setting& setting) {
    const Instant before = clock_.now();
    ASSIGN_OR_RETURN(const auto applied,
                     connection_.ask<wire::Applied>(
                         wire::SetRequest{lease_.lease, gpu_.identity().uuid, setting}, left()));
    if (!applied.problems.empty()) return applied.problems.front();
    return clock_.now() - before;
  }

  // A power limit must read what was asked. A clock must not be above its ceiling; a card that ran
  // below it before shows nothing of the lock.
  Result<void> watch(KnobTrial& trial) {
    const Instant begin = clock_.now();
    const auto shows = [&](double value) {
      if (trial.knob == Knob::kPowerLimit) return std::abs(value - *trial.asked) <= 1;
      return value <= *trial.asked + 1;
    };
    for (;;) {
      ASSIGN_OR_RETURN(const Sample sample, gpu_.read(kTrialSensors));
      trial.seen = reading(trial.knob, sample);
      if (!trial.seen) {
        trial.note = "the card does not report it";
        return {};
      }
      if (shows(*trial.seen)) break;
      if (clock_.now() - begin > kShows) {
        trial.note = "accepted, but an idle card does not show it";
        not_seen_ = computes(sample) || trial.knob == Knob::kPowerLimit;
        return {};
      }
      clock_.sleep_for(kLookAgain);
    }
    trial.seen_after = clock_.now() - begin;
    if (trial.knob != Knob::kPowerLimit && trial.before && *trial.before <= *trial.asked) {
      trial.note = "the clock was not above this value before: run it while the GPU computes";
    }
    return {};
  }

  Result<void> check_given_back(KnobTrial& trial) {
    const Instant begin = clock_.now();
    const bool limit = trial.knob == Knob::kPowerLimit;
    // An idle card changes its clocks by itself, so only a higher one means something.
    const auto as_before = [&] {
      if (!trial.after || !trial.before) return true;
      return limit ? std::abs(*trial.after - *trial.before) <= 1
                   : *trial.after + 1 >= *trial.before;
    };
    for (;;) {
      ASSIGN_OR_RETURN(const Sample sample, gpu_.read(kTrialSensors));
      trial.after = reading(trial.knob, sample);
      if (as_before() || clock_.now() - begin > kShows) break;
      clock_.sleep_for(kLookAgain);
    }
    const bool seen = !std::exchange(not_seen_, false);
    if (!as_before() && limit) {
      return Error{ErrorCode::kNotReady, "it does not read as before, after it was given back"};
    }
    if (!as_before()) trial.note = "lower than before; that means nothing unless the GPU computes";
    if (!seen)
      return Error{ErrorCode::kNotReady, "the driver accepted it, but the card did not show it"};
    return {};
  }

  Gpu& gpu_;
  DaemonConnection connection_;
  Clock& clock_;
  Instant begun_;
  wire::Granted lease_;
  bool not_seen_ = false;
};

}  // namespace

bool CardTrial::held() const {
  return problem.empty() &&
         std::ranges::all_of(knobs, [](const KnobTrial& knob) { return knob.problem.empty(); });
}

std::optional<double> one_step_down(Knob knob, const Capabilities& can, const Sample& now) {
  if (knob == Knob::kPowerLimit) {
    const std::optional<double> limit = reading(knob, now);
    if (!limit || !can.power_limit_range || can.power_limit_set == Support::kNo)
      return std::nullopt;
    const double lower = *limit - kStepWatts;
    return lower >= can.power_limit_range->min.value() ? std::optional(lower) : std::nullopt;
  }
  const bool sm = knob == Knob::kSmClock;
  const std::vector<Mhz>& clocks = sm ? can.sm_clocks : can.memory_clocks;
  const Support lock = sm ? can.sm_clock_lock : can.memory_clock_lock;
  if (lock == Support::kNo || clocks.size() < 2) return std::nullopt;
  // A card that computes need not reach its highest clock, so the step is taken from what it reads.
  const double from =
      computes(now) ? reading(knob, now).value_or(clocks.front().value()) : clocks.front().value();
  const auto lower =
      std::ranges::find_if(clocks, [&](const Mhz& clock) { return clock.value() < from - 1; });
  return lower != clocks.end() ? std::optional(lower->value()) : std::nullopt;
}

CardTrial try_knobs(Gpu& gpu, DaemonConnection connection, bool guarded, Clock& clock) {
  CardTrial card;
  card.identity = gpu.identity();
  card.guarded = guarded;
  Trial trial(gpu, std::move(connection), clock);
  if (const auto acquired = trial.acquire(); !acquired) {
    card.problem = acquired.error().line();
    return card;
  }
  for (const Knob knob : kAllKnobs) card.knobs.push_back(trial.try_knob(knob));
  // Where this fails the connection closes, which ends the lease as well.
  if (const auto released = trial.release(); !released) {
    card.problem = "the lease was not given back in time: " + released.error().line();
  }
  card.took = trial.took();
  return card;
}

}  // namespace hypermile
