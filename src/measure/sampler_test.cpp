// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "testing/fake_gpu.h"

namespace hypermile {
namespace {

// A card like an H200: its counter moves every 100 ms and its power buffer holds 2.4 s. Counts the
// requests.
class SteppingGpu final : public FakeGpu {
 public:
  explicit SteppingGpu(const Clock& clock) : FakeGpu(clock), now_(clock) {}

  Result<Sample> read(SensorSet wanted) override {
    ASSIGN_OR_RETURN(Sample sample, FakeGpu::read(wanted));
    ++reads;
    energy_reads += wanted.has(Sensor::kEnergy);
    sample.energy.reset();
    const double steps = std::floor((now_.now().since_origin().value() - 0.033) * 10);
    if (wanted.has(Sensor::kEnergy) && has_counter) sample.energy = Joules(30 * steps + 100);
    return sample;
  }
  Result<std::vector<TimedPower>> power_history(Instant after) override {
    ++drains;
    if (history_error) return *history_error;
    std::vector<TimedPower> samples;
    for (int i = kBuffer; i > 0; --i) {
      const Instant time = Instant::from_nanoseconds((newest_sample() - i + 1) * kSampleNs);
      if (time > after) samples.push_back({time, Watts(300)});
    }
    return samples;
  }
  std::int64_t newest_sample() const { return now_.now().nanoseconds() / kSampleNs; }

  // With `late`, behaves like a card behind its own thread: the next poll returns a round.
  PolledRounds poll(const SensorWish& wish) override {
    if (!late) return FakeGpu::poll(wish);
    std::optional<SensorRound> next;
    if (!wish.empty()) next = read_round(*this, wish);
    return {true, std::exchange(started_, std::move(next))};
  }

  static constexpr int kBuffer = 119;
  static constexpr std::int64_t kSampleNs = 20'000'000;
  bool late = false;
  int reads = 0;
  int energy_reads = 0;
  int drains = 0;
  bool has_counter = true;
  std::optional<Error> history_error;

 private:
  const Clock& now_;
  std::optional<SensorRound> started_;
};

struct SamplerTest : public ::testing::Test {
  // Polls until `until` (seconds) and returns the counter steps.
  std::vector<EnergyCounterStep> poll_until(double until) {
    std::vector<EnergyCounterStep> steps;
    for (; sampler.due().since_origin().value() < until;) {
      clock.sleep_until(sampler.due());
      const auto reading = sampler.poll();
      EXPECT_TRUE(reading.ok());
      if (reading->step) steps.push_back(*reading->step);
    }
    return steps;
  }

  VirtualClock clock;
  SteppingGpu gpu{clock};
  Sampler sampler;

 protected:
  explicit SamplerTest(const SamplerOptions& options = {}) : sampler(gpu, clock, options) {}
};

TEST_F(SamplerTest, ReadsCheapSensorsFiftyTimesASecondAndTheCounterEveryTwoSeconds) {
  poll_until(1);
  const int learning = gpu.energy_reads;
  poll_until(61);

  EXPECT_LE(learning, 40);
  EXPECT_NEAR(gpu.reads, 61 * 50, 2);
  EXPECT_LE(gpu.energy_reads - learning, 30);
  EXPECT_GE(gpu.energy_reads - learning, 28);
  EXPECT_EQ(sampler.counter_reads(), static_cast<std::uint64_t>(gpu.energy_reads));
}

TEST_F(SamplerTest, EveryReadOfTheCounterGivesAStep) {
  poll_until(1);
  const int before = gpu.energy_reads;

  const auto steps = poll_until(21);

  EXPECT_EQ(steps.size(), static_cast<std::size_t>(gpu.energy_reads - before));
  const Watts mean =
      (steps.back().energy - steps.front().energy) / (steps.back().time - steps.front().time);
  EXPECT_NEAR(mean.value(), 300, 0.01);
}

TEST_F(SamplerTest, ReadsTheCounterAtOnceWhenItIsWanted) {
  poll_until(2);
  const int before = gpu.energy_reads;

  sampler.want_energy_counter();
  poll_until(2.09);

  EXPECT_EQ(gpu.energy_reads, before + 1);
}

TEST_F(SamplerTest, ReadsTheCounterWhereAWindowWillEndAndNotBefore) {
  poll_until(2);
  const int before = gpu.energy_reads;

  sampler.want_energy_counter_at(Instant() + Seconds(2.3));
  sampler.want_energy_counter_at(Instant() + Seconds(2.5));
  poll_until(2.29);
  const int early = gpu.energy_reads;
  poll_until(2.4);

  EXPECT_EQ(early, before);
  EXPECT_EQ(gpu.energy_reads, before + 1);
}

TEST_F(SamplerTest, DrainsReturnEverySampleOnceAndComeWithACounterRead) {
  poll_until(1);
  std::vector<TimedPower> told;
  bool with_the_counter = true;
  for (; clock.now().since_origin() < Seconds(30);) {
    clock.sleep_until(sampler.due());
    const auto reading = sampler.poll();
    told.insert(told.end(), reading->history.begin(), reading->history.end());
    with_the_counter = with_the_counter && (!reading->step || !reading->history.empty());
  }

  ASSERT_GT(told.size(), 28U * 50);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_EQ(told[i].time.nanoseconds() - told[i - 1].time.nanoseconds(), SteppingGpu::kSampleNs);
  }
  EXPECT_TRUE(with_the_counter);
  EXPECT_LE(gpu.drains, 32);
}

TEST_F(SamplerTest, PollingAheadReturnsTheSameReadingsOnePollLater) {
  gpu.late = true;
  std::vector<SamplerReading> told;
  for (; sampler.due().since_origin() < Seconds(10.5);) {
    clock.sleep_until(sampler.due());
    auto reading = sampler.poll_ahead();
    ASSERT_TRUE(reading.ok());
    if (*reading) told.push_back(**std::move(reading));
  }
  const int reads = gpu.reads;
  for (SamplerReading& reading : sampler.poll_last()) told.push_back(std::move(reading));

  EXPECT_EQ(gpu.reads, reads + 1);
  EXPECT_EQ(told.size(), static_cast<std::size_t>(gpu.reads)) << "each of them";
  std::vector<EnergyCounterStep> steps;
  std::int64_t samples = 0;
  for (const SamplerReading& reading : told) {
    if (reading.step) steps.push_back(*reading.step);
    samples += static_cast<std::int64_t>(reading.history.size());
  }
  EXPECT_EQ(samples, gpu.newest_sample());
  EXPECT_NEAR((steps.back().energy - steps.front().energy) /
                  (steps.back().time - steps.front().time) / Watts(1),
              300, 0.01);
}

struct CalmSamplerTest : public SamplerTest {
  CalmSamplerTest() : SamplerTest({.calm_period = milliseconds(80)}) {}
};

TEST_F(CalmSamplerTest, PollsRarelyWhereTheCardBuffersPowerAndMissesNoScheduledStep) {
  poll_until(3);
  const int before = gpu.reads;

  const auto steps = poll_until(33);

  EXPECT_NEAR(gpu.reads - before, 30 * 12.5, 2);
  EXPECT_GE(steps.size(), 14U);
  EXPECT_NEAR((steps.back().energy - steps.front().energy) /
                  (steps.back().time - steps.front().time) / Watts(1),
              300, 0.01);
}

TEST_F(CalmSamplerTest, PollsAtTheUsualPeriodWhereTheCardHasNoBuffer) {
  gpu.history_error = Error{ErrorCode::kUnsupported, "none"};

  poll_until(10);

  EXPECT_NEAR(gpu.reads, 500, 2);
}

TEST_F(SamplerTest, TriesAMissingCounterOrBufferOnlyOnce) {
  gpu.has_counter = false;
  gpu.history_error = Error{ErrorCode::kUnsupported, "none"};

  poll_until(10);

  EXPECT_EQ(gpu.energy_reads, 1);
  EXPECT_EQ(gpu.drains, 1);
}

TEST_F(SamplerTest, ContinuesWithAnEmptyBufferAndFailsWithALostGpu) {
  gpu.history_error = Error{ErrorCode::kNotReady, "later"};
  EXPECT_TRUE(sampler.poll().ok());

  gpu.history_error = Error{ErrorCode::kGpuLost, "gone"};
  sampler.want_history();
  EXPECT_EQ(sampler.poll().error().code, ErrorCode::kGpuLost);
}

TEST_F(SamplerTest, ALatePollIsNotFollowedByABurst) {
  poll_until(1);
  clock.advance(Seconds(3));

  ASSERT_TRUE(sampler.poll().ok());

  EXPECT_NEAR((sampler.due() - clock.now()).value(), 0.02, 1e-9);
}

}  // namespace
}  // namespace hypermile
