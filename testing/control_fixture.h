// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Controller on the virtual rig. The job writes a ring as a real process does, a
// card's time and power follow its clock by a simple law, and the port to the card can refuse,
// fail, clamp, keep silent and be lost.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/fake_gpu.h"
#include "testing/session_fixture.h"

namespace hypermile {

// Of an iteration at the default 40 % scale with the clock, and 40 % of the power is static. The
// card's sensors can fail.
class CardForTest final : public FakeGpu {
 public:
  explicit CardForTest(const Clock& clock) : FakeGpu(clock), clock_(clock), last_(clock.now()) {}

  double ratio() const { return held.sm_clock.value_or(Mhz(1980)).value() / 1980; }
  Seconds iteration() const {
    return milliseconds(40) * work * (0.6 + 0.4 / ratio()) * (held.empty() ? 1 : 1 + drag);
  }
  Watts power() const { return Watts(draw * (0.4 + 0.6 * ratio() * ratio() * ratio())); }

  const Capabilities& capabilities() const override { return listed_; }
  Result<Sample> read(SensorSet wanted) override {
    if (lost) return Error{ErrorCode::kGpuLost, "the GPU has fallen off the bus"};
    drawn += power() * (clock_.now() - last_);
    last_ = clock_.now();
    ASSIGN_OR_RETURN(Sample sample, FakeGpu::read(wanted));
    sample.power_instant = sample.power_average = power();
    sample.energy = drawn;
    if (shown_clock) sample.sm_clock = shown_clock;
    if (blind) sample.power_instant = sample.power_average = std::nullopt;
    if (blind) sample.energy.reset();
    if (lie) lie(sample);
    return sample;
  }
  Result<std::vector<TimedPower>> power_history(Instant) override {
    return Error{ErrorCode::kUnsupported, "no buffer"};
  }
  ApplyOutcome apply(const Setting& setting) override {
    held = overlay(held, setting);
    return {};
  }

  bool lost = false;
  bool blind = false;
  std::optional<Mhz> shown_clock;    // what its sensor shows, whatever the clock is
  double work = 1;                   // of an iteration, against 40 ms at the default
  double drag = 0;                   // relative time that an iteration takes more off the default
  double draw = 300;                 // W at the default
  std::function<void(Sample&)> lie;  // changes what the sensors show
  Joules drawn;                      // in truth

 private:
  static Capabilities listed() {
    Capabilities card;
    for (int mhz = 1980; mhz >= 600; mhz -= 60) card.sm_clocks.push_back(Mhz(mhz));
    card.memory_clocks = {Mhz(3201), Mhz(2619)};
    card.default_power_limit = Watts(700);
    card.may_set = true;
    return card;
  }
  Capabilities listed_ = listed();
  const Clock& clock_;
  Instant last_;
};

class PortForTest final : public SettingPort {
 public:
  explicit PortForTest(CardForTest& card) : card_(card) {}

  void claim(const std::vector<GpuUuid>& gpus) override {
    claimed = gpus;
    ++claims;
    state_ = refuses ? PortState::kRefused : PortState::kHeld;
  }
  PortState state() const override { return state_; }
  std::optional<Error> problem() const override { return problem_; }
  bool allows(const Setting& setting) const override {
    return !tells || std::ranges::all_of(forbidden, [&](Knob knob) { return !setting.has(knob); });
  }
  void ask(const GpuUuid& gpu, const Setting& setting) override {
    asked.push_back(setting);
    wanted_.insert_or_assign(gpu, setting);
  }
  std::vector<PortAnswer> take_answers() override {
    std::vector<PortAnswer> answers;
    if (silent) return answers;
    for (const auto& [gpu, setting] : std::exchange(wanted_, {})) {
      if (fails > 0) {
        --fails;
        answers.push_back({gpu, setting, Error{ErrorCode::kTimeout, "no answer in time"}});
        continue;
      }
      const auto asks_for = [&wanted = setting](Knob knob) { return wanted.has(knob); };
      if (std::ranges::any_of(forbidden, asks_for)) {
        answers.push_back({gpu, setting, Error{ErrorCode::kPermission, "this lease may not"}});
        continue;
      }
      Setting told = setting;
      if (least && told.sm_clock) told.sm_clock = std::max(*told.sm_clock, *least);
      card_.held = told;
      answers.push_back({gpu, setting, told});
    }
    return answers;
  }
  Result<void> release() override {
    card_.held = {};
    ++releases;
    if (state_ == PortState::kHeld) state_ = PortState::kUnclaimed;
    return {};
  }

  void refuse(Error why) {
    refuses = true;
    problem_ = std::move(why);
  }
  // As when a daemon dies after it has restored the card.
  void lose() {
    card_.held = {};
    problem_ = Error{ErrorCode::kIo, "the daemon is gone"};
    state_ = PortState::kLost;
  }

  std::vector<GpuUuid> claimed;
  std::vector<Setting> asked;
  int claims = 0, releases = 0;
  int fails = 0;  // so many of the next answers are errors that may pass
  bool refuses = false;
  bool silent = false;
  std::optional<Mhz> least;  // SM clock that is allowed
  std::vector<Knob> forbidden;
  bool tells = true;  // says beforehand what is forbidden, as a daemon does

 private:
  CardForTest& card_;
  PortState state_ = PortState::kUnclaimed;
  std::optional<Error> problem_;
  std::map<GpuUuid, Setting> wanted_;
};

class ControllerTest : public SessionTest {
 protected:
  ControllerTest() : card_(std::make_shared<CardForTest>(clock_)), port_(*card_) {
    open_gpu_ = [this]() -> OpenedFake { return std::shared_ptr<Gpu>(card_); };
    options_.knobs = {Knob::kSmClock};
  }

  // An empty `make_policy`: the Controller makes the policy that options_ names.
  void begin(MakePhasePolicy make_policy = {}) {
    start({.control = options_,
           .make_policy = std::move(make_policy),
           .counters = counters_,
           .port = &port_});
    controller_ = &rig_->controller();
    job_ = std::make_unique<RingJob>(clock_.now());
  }
  // The job trains at the pace of its card until `seconds` after the start.
  void train(double seconds, const std::string& kernels = "train", double length = 1) {
    run_until(seconds, [&](Instant now) {
      job_->train_until(now, {iteration_of(kernels, launches_, card_->iteration() * length)});
    });
  }
  void pause(double seconds) {
    run_until(seconds, [&](Instant) {});
    job_->pause_until(at(seconds));
  }
  void launch_at_random(double seconds) {
    run_until(seconds, [&](Instant now) {
      job_->train_until(
          now, {iteration_of("odd" + std::to_string(++odd_) + "_", 40, card_->iteration())});
    });
  }
  // True once the Controller holds a setting other than the default; false after `most` seconds.
  bool train_until_held(double most) {
    double seconds = (clock_.now() - begin_).value();
    while (seconds < most) {
      train(seconds += 5);
      if (controller_->state() == ControlState::kHold && !card_->held.empty()) return true;
    }
    return false;
  }
  std::vector<std::string> states() const {
    std::vector<std::string> names;
    for (const Event& event : events("state")) {
      const std::string& state = std::get<StateChange>(event.body).state;
      if (names.empty() || names.back() != state) names.push_back(state);
    }
    return names;
  }
  bool was(const std::string& state) const { return std::ranges::count(states(), state) > 0; }

  std::shared_ptr<CardForTest> card_;
  PortForTest port_;
  ControllerOptions options_;
  PerformanceCounters* counters_ = nullptr;
  Controller* controller_ = nullptr;  // the rig's
  std::unique_ptr<RingJob> job_;
  int launches_ = 40;  // in an iteration of training
  int odd_ = 0;
};

}  // namespace hypermile
