// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Controller over a real Session in virtual time. A process writes its ring, a card
// answers its clock with time and power by a simple law, and a port stands between that can refuse,
// fail, clamp, keep silent and be lost.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/controller.h"
#include "testing/fake_gpu.h"
#include "testing/session_fixture.h"

namespace hypermile {

// Half of an iteration scales with the clock; power is half static. Its sensors can fail.
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
    energy_ += power() * (clock_.now() - last_);
    last_ = clock_.now();
    ASSIGN_OR_RETURN(Sample sample, FakeGpu::read(wanted));
    sample.power_instant = sample.power_average = power();
    sample.energy = energy_;
    if (shown_clock) sample.sm_clock = shown_clock;
    if (blind) sample.power_instant = sample.power_average = std::nullopt;
    if (blind) sample.energy.reset();
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
  std::optional<Mhz> shown_clock;  // whatever it was told
  double work = 1;
  double drag = 0;  // how much slower than that, off the default
  double draw = 300;

 private:
  static Capabilities listed() {
    Capabilities card;
    for (int mhz = 1980; mhz >= 600; mhz -= 60) card.sm_clocks.push_back(Mhz(mhz));
    card.memory_clocks = {Mhz(3201)};
    card.default_power_limit = Watts(700);
    card.may_set = true;
    return card;
  }
  Capabilities listed_ = listed();
  const Clock& clock_;
  Instant last_;
  Joules energy_;
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
        answers.push_back({gpu, setting, Error{ErrorCode::kPermission, "not permitted"}});
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
  // As when a daemon dies: it has restored the card.
  void lose() {
    card_.held = {};
    problem_ = Error{ErrorCode::kIo, "the daemon is gone"};
    state_ = PortState::kLost;
  }

  std::vector<GpuUuid> claimed;
  std::vector<Setting> asked;
  int claims = 0, releases = 0;
  int fails = 0;  // of the next answers
  bool refuses = false;
  bool silent = false;
  std::optional<Mhz> least;  // allowed

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

  void begin() {
    controller_ = std::make_unique<Controller>(
        ControllerParts{.port = port_, .counters = counters_}, options_);
    session_controller_ = controller_.get();
    start();
    job_ = std::make_unique<RingJob>(at(0));
  }
  // The job trains until then, at the pace of its card.
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
  // Until it holds a Setting other than the default.
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
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<RingJob> job_;
  int launches_ = 40;  // in an iteration of training
  int odd_ = 0;
};

}  // namespace hypermile
