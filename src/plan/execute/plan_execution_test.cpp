// SPDX-License-Identifier: Apache-2.0
//
// A job in virtual time that posts its boundaries, and a card that records its requests and their
// times.
#include "plan/execute/plan_execution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "control/direct_port.h"
#include "plan/execute/silent_port.h"
#include "testing/fake_gpu.h"

namespace hypermile {
namespace {

const Setting kLow{.sm_clock = Mhz(1410)};

// Draws 300 W, and 200 W at the low clock.
class TwoPowerGpu : public FakeGpu {
 public:
  explicit TwoPowerGpu(const Clock& clock) : FakeGpu(clock), clock_(clock) {}

  Result<Sample> read(SensorSet wanted) override {
    advance();
    auto sample = FakeGpu::read(wanted);
    sample->energy = Joules(energy_);
    sample->power_instant = sample->power_average = Watts(power());
    return sample;
  }
  ApplyOutcome apply(const Setting& setting) override {
    advance();
    told.push_back({clock_.now(), setting});
    return FakeGpu::apply(setting);
  }
  Result<void> reset(Knob knob) override {
    advance();
    if (knob == Knob::kSmClock && held.sm_clock) told.push_back({clock_.now(), {}});
    return FakeGpu::reset(knob);
  }

  struct Told {
    Instant at;
    Setting setting;
  };
  std::vector<Told> told;

 private:
  double power() const { return held.sm_clock ? 200 : 300; }
  void advance() {
    energy_ += power() * (clock_.now() - last_).value();
    last_ = clock_.now();
  }

  const Clock& clock_;
  double energy_ = 0;
  Instant last_;
};

class PlanExecutionTest : public ::testing::Test {
 protected:
  PlanExecutionOptions two_segments() {
    PlanExecutionOptions options;
    options.segments = {{Setting{}, milliseconds(50)}, {kLow, milliseconds(50)}};
    options.uniform = Setting{};
    options.latency = milliseconds(20);
    options.trial.reset();
    return options;
  }

  // Runs iterations of two segments, 50 ms each, and calls round() whenever it is due.
  void train(PlanExecution& execution, int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (std::uint32_t segment = 0; segment < 2; ++segment) {
        execution.post(segment, clock_.now());
        const Instant end = clock_.now() + milliseconds(50);
        while (next_ < end) {
          if (next_ > clock_.now()) clock_.sleep_until(next_);
          next_ = execution.round();
        }
        clock_.sleep_until(end);
      }
    }
  }

  VirtualClock clock_;
  TwoPowerGpu gpu_{clock_};
  DirectPort port_{{&gpu_}};
  Instant next_;
};

TEST_F(PlanExecutionTest, AsksAheadByTheLatency) {
  PlanExecution execution(two_segments(), port_, gpu_, clock_);

  train(execution, 10);

  ASSERT_GE(gpu_.told.size(), 12U);
  for (std::size_t i = 4; i < 12; ++i) {
    const bool low = gpu_.told[i].setting == kLow;
    const double in_iteration = std::fmod(gpu_.told[i].at.since_origin().value(), 0.1);
    EXPECT_NEAR(in_iteration, low ? 0.030 : 0.080, 0.0025) << i;
  }
  EXPECT_EQ(execution.report().state, "keeping");
  EXPECT_EQ(execution.report().iterations, 10U);
}

TEST_F(PlanExecutionTest, AsksNoMoreOftenThanAllowed) {
  auto options = two_segments();
  options.most_per_second = 4;
  PlanExecution execution(options, port_, gpu_, clock_);

  train(execution, 50);

  EXPECT_LE(execution.report().requests, 21U);
  EXPECT_GE(execution.report().requests, 5U);
}

TEST_F(PlanExecutionTest, AJobThatStandsStillGetsItsDefaultBack) {
  PlanExecution execution(two_segments(), port_, gpu_, clock_);
  train(execution, 10);

  for (int i = 0; i < 2000; ++i) {
    clock_.sleep_until(next_);
    next_ = execution.round();
  }

  EXPECT_FALSE(gpu_.held.sm_clock.has_value());
}

TEST_F(PlanExecutionTest, GivesTheGpuBackAtTheEnd) {
  PlanExecution execution(two_segments(), port_, gpu_, clock_);
  train(execution, 10);

  execution.finish();

  EXPECT_FALSE(gpu_.held.sm_clock.has_value());
  EXPECT_EQ(execution.report().state, "over");
  EXPECT_TRUE(execution.done());
}

TEST_F(PlanExecutionTest, TriesThePlanAndKeepsItWhereItPays) {
  auto options = two_segments();
  options.trial = PlanTrialOptions{};
  PlanExecution execution(options, port_, gpu_, clock_);

  train(execution, 1500);

  const ExecutionReport report = execution.report();
  ASSERT_TRUE(report.verdict) << report.state << " " << report.blocks;
  EXPECT_EQ(report.verdict->kept, PlanArm::kPlan) << report.reason;
  EXPECT_NEAR(report.verdict->plan_energy.mean, 250.0 / 300, 0.01);
  EXPECT_EQ(report.state, "keeping");
}

TEST_F(PlanExecutionTest, GivesTheGpuBackWhereThePlanDoesNotPay) {
  auto options = two_segments();
  options.segments[1].setting = Setting{.power_limit = Watts(650)};  // saves nothing here
  options.trial = PlanTrialOptions{};
  PlanExecution execution(options, port_, gpu_, clock_);

  train(execution, 1500);

  ASSERT_TRUE(execution.report().verdict);
  EXPECT_EQ(execution.report().verdict->kept, PlanArm::kDefault);
  EXPECT_EQ(execution.report().state, "over");
  EXPECT_EQ(port_.state(), PortState::kUnclaimed);
}

TEST_F(PlanExecutionTest, CountsTheBoundariesThatAFullQueueDrops) {
  PlanExecution execution(two_segments(), port_, gpu_, clock_);

  for (int i = 0; i < 5000; ++i) execution.post(static_cast<std::uint32_t>(i % 2), clock_.now());
  execution.post(7, clock_.now());  // no such segment
  execution.round();

  EXPECT_EQ(execution.report().dropped, 5000U - 4096U);
  EXPECT_EQ(execution.report().boundaries, 4096U);
}

TEST_F(PlanExecutionTest, WithASilentPortRequestsChangeNoGpu) {
  SilentPort port;
  PlanExecution execution(two_segments(), port, gpu_, clock_);

  train(execution, 10);
  execution.finish();

  EXPECT_GE(execution.report().requests, 12U);
  EXPECT_EQ(execution.report().failed, 0U);
  EXPECT_TRUE(gpu_.told.empty());
}

TEST_F(PlanExecutionTest, ARefusalIsReportedAndEndsTheExecution) {
  DirectPort nobody{{}};
  PlanExecution execution(two_segments(), nobody, gpu_, clock_);

  train(execution, 3);
  execution.finish();

  EXPECT_EQ(execution.report().state, "refused");
  EXPECT_FALSE(execution.report().reason.empty());
  EXPECT_TRUE(execution.done());
  EXPECT_TRUE(gpu_.told.empty());
}

}  // namespace
}  // namespace hypermile
