// SPDX-License-Identifier: Apache-2.0
#include "gpu/deadline_gpu.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "testing/fake_gpu.h"
#include "testing/faulty_gpu.h"

namespace hypermile {
namespace {

// Deadlines in real time: one that no healthy call exceeds, one that a healthy call meets even on a
// busy machine, and a short one for calls that hang anyway.
constexpr Seconds kPatient(60);
constexpr Seconds kUsual(0.25);
constexpr Seconds kImpatient(0.005);

// Counts its living objects, so that a test sees when a GPU is closed.
class CountedGpu final : public FakeGpu {
 public:
  CountedGpu(const Clock& clock, std::atomic<int>& alive) : FakeGpu(clock), alive_(alive) {
    ++alive_;
  }
  ~CountedGpu() override { --alive_; }

 private:
  std::atomic<int>& alive_;
};

class DeadlineGpuTest : public ::testing::Test {
 protected:
  // Lets every abandoned thread end before the fixture is destroyed.
  ~DeadlineGpuTest() override { gate_->open(); }

  DeadlineGpu::Opener opener(std::vector<ScriptedFault> script) {
    return [this, script]() -> Result<std::unique_ptr<Gpu>> {
      ++opened_;
      return std::unique_ptr<Gpu>(std::make_unique<FaultyGpu>(
          std::make_unique<CountedGpu>(*clock_, *alive_), *clock_, script));
    };
  }
  // A GPU whose every read hangs.
  std::unique_ptr<DeadlineGpu> hanging(Seconds deadline, int most_abandoned = 3) {
    return DeadlineGpu::open(opener({{GpuCall::kRead, fault::Hangs{gate_}}}), *clock_,
                             {.deadline = deadline,
                              .open_deadline = kPatient,
                              .first_pause = Seconds(5),
                              .most_abandoned = most_abandoned})
        .value();
  }

  // Not members, because an abandoned thread may still use them.
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  VirtualClock* clock_ = forever<VirtualClock>();
  std::atomic<int>* alive_ = forever<std::atomic<int>>();
  std::atomic<int> opened_ = 0;

 private:
  template <class T>
  static T* forever() {
    auto thing = std::make_shared<T>();
    keep_forever(thing);
    return thing.get();
  }
};

TEST_F(DeadlineGpuTest, PassesCallsThroughAndClosesTheGpuAtItsEnd) {
  auto gpu = DeadlineGpu::open(opener({}), *clock_, {.deadline = kPatient}).value();

  EXPECT_EQ(gpu->identity().uuid, GpuUuid("GPU-fake"));
  EXPECT_TRUE(all_applied(gpu->apply({.sm_clock = Mhz(1410)})).ok());
  EXPECT_EQ(gpu->read(SensorSet::all())->sm_clock, Mhz(1410));
  EXPECT_TRUE(gpu->reset(Knob::kSmClock).ok());
  EXPECT_EQ(gpu->processes()->size(), 1U);
  EXPECT_EQ(gpu->power_history(Instant())->size(), 1U);
  EXPECT_EQ(gpu->activity().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(*alive_, 1);
  gpu.reset();

  EXPECT_EQ(*alive_, 0);
}

TEST_F(DeadlineGpuTest, AHangingCallReturnsATimeoutAndLaterOnesFailAtOnce) {
  const auto gpu = hanging(kImpatient);

  EXPECT_EQ(gpu->read(SensorSet::all()).error().code, ErrorCode::kTimeout);
  clock_->advance(Seconds(3));
  const auto next = gpu->processes();

  EXPECT_FALSE(gpu->healthy());
  EXPECT_EQ(next.error().message, "GPU GPU-fake has not answered for 3 s");
  EXPECT_EQ(all_applied(gpu->apply({.sm_clock = Mhz(1410)})).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(opened_, 1);
}

TEST_F(DeadlineGpuTest, PollNeverWaitsAndGivesARoundOnceItIsDone) {
  const auto gpu = hanging(kPatient);

  const PolledRounds first = gpu->poll({SensorSet::all(), Instant()});
  const PolledRounds meanwhile = gpu->poll({SensorSet::all(), Instant()});
  gate_->open();
  PolledRounds later = gpu->poll({});
  for (; !later.done; later = gpu->poll({})) std::this_thread::yield();

  EXPECT_TRUE(first.started);
  EXPECT_FALSE(first.done);
  EXPECT_FALSE(meanwhile.started);
  EXPECT_FALSE(meanwhile.done);
  EXPECT_EQ(later.done->sample->sm_clock, Mhz(1980));
  EXPECT_EQ(later.done->history->size(), 1U);
  EXPECT_FALSE(gpu->poll({}).done) << "a round is returned once";
}

TEST_F(DeadlineGpuTest, ARoundThatHangsIsATimeout) {
  const auto gpu = hanging(kImpatient);

  (void)gpu->poll({SensorSet::all(), std::nullopt});
  PolledRounds later = gpu->poll({});
  for (; !later.done; later = gpu->poll({})) std::this_thread::yield();
  const PolledRounds next = gpu->poll({SensorSet::all(), std::nullopt});

  EXPECT_EQ(later.done->sample.error().code, ErrorCode::kTimeout);
  EXPECT_FALSE(gpu->healthy());
  EXPECT_EQ(next.done->sample.error().message, "GPU GPU-fake has not answered for 0 s");
  EXPECT_EQ(opened_, 1);
}

TEST_F(DeadlineGpuTest, AnotherCallWaitsForTheRunningRoundAndDoesNotLoseIt) {
  const auto gpu = DeadlineGpu::open(opener({}), *clock_, {.deadline = kPatient}).value();

  (void)gpu->poll({SensorSet::all(), std::nullopt});
  const bool applied = all_applied(gpu->apply({.sm_clock = Mhz(1410)})).ok();
  const PolledRounds later = gpu->poll({});

  EXPECT_TRUE(applied);
  ASSERT_TRUE(later.done);
  EXPECT_EQ(later.done->sample->sm_clock, Mhz(1980)) << "the value at the time of the read";
  EXPECT_TRUE(later.done->history->empty());
  EXPECT_EQ(gpu->call_times().at("read").counts.size(), kCallBounds.size() + 1);
}

TEST_F(DeadlineGpuTest, AfterThePauseANewThreadOpensTheGpuAgain) {
  const auto gpu = hanging(kUsual);
  (void)gpu->read(SensorSet::all());
  clock_->advance(Seconds(5));

  EXPECT_TRUE(gpu->processes().ok());

  EXPECT_TRUE(gpu->healthy());
  EXPECT_EQ(opened_, 2);
}

TEST_F(DeadlineGpuTest, AHungCallThatReturnsMakesTheGpuHealthyAgain) {
  const auto gpu = hanging(kUsual, 0);  // no second thread, so only the first can recover
  (void)gpu->read(SensorSet::all());
  clock_->advance(Seconds(5));
  EXPECT_FALSE(gpu->processes().ok());

  gate_->open();
  while (!gpu->processes().ok()) std::this_thread::yield();

  EXPECT_TRUE(gpu->healthy());
  EXPECT_EQ(opened_, 1);
}

TEST_F(DeadlineGpuTest, IsNotSettledWhileATimedOutCallMayTakeEffect) {
  const auto gpu =
      DeadlineGpu::open(opener({{GpuCall::kApply, fault::Hangs{gate_}}}), *clock_,
                        {.deadline = kUsual, .open_deadline = kPatient, .first_pause = Seconds(5)})
          .value();
  Setting setting;
  setting.sm_clock = Mhz(1410);

  EXPECT_FALSE(all_applied(gpu->apply(setting)));
  clock_->advance(Seconds(6));
  const bool answers_again = gpu->reset(Knob::kSmClock).ok();
  const bool settled_early = gpu->settled();
  gate_->open();
  while (!gpu->settled()) std::this_thread::yield();

  EXPECT_TRUE(answers_again) << "a second thread answers";
  EXPECT_FALSE(settled_early);
}

TEST_F(DeadlineGpuTest, GivesUpAfterThreeThreadsWereLeftBehind) {
  const auto gpu = hanging(kImpatient);
  for (int attempt = 0; attempt < 10; ++attempt) {
    EXPECT_EQ(gpu->read(SensorSet::all()).error().code, ErrorCode::kTimeout);
    clock_->advance(Seconds(1000));
  }

  EXPECT_EQ(opened_, 4) << "once at first, and three more times";
  EXPECT_FALSE(gpu->healthy());
}

TEST_F(DeadlineGpuTest, CanBeDestroyedWhileACallHangsAndLeavesItsGpuOpen) {
  auto gpu = hanging(kImpatient);
  (void)gpu->read(SensorSet::all());

  gpu.reset();
  EXPECT_EQ(*alive_, 1);
  gate_->open();
}

TEST_F(DeadlineGpuTest, OneHungGpuDoesNotDelayAnother) {
  const auto sick = hanging(kImpatient);
  const auto well = DeadlineGpu::open(opener({}), *clock_, {.deadline = kPatient}).value();
  (void)sick->read(SensorSet::all());
  gate_->await_visitors(1);

  EXPECT_TRUE(well->read(SensorSet::all()).ok());
}

TEST_F(DeadlineGpuTest, AHungOpeningIsATimeout) {
  const auto gate = gate_;
  Clock& clock = *clock_;

  const auto gpu = DeadlineGpu::open(
      [gate, &clock]() -> Result<std::unique_ptr<Gpu>> {
        gate->pass();
        return std::unique_ptr<Gpu>(std::make_unique<FakeGpu>(clock));
      },
      clock, {.open_deadline = kImpatient});

  EXPECT_EQ(gpu.error().code, ErrorCode::kTimeout);
}

TEST_F(DeadlineGpuTest, ReturnsTheErrorOfAFailedOpening) {
  const auto gpu = DeadlineGpu::open(
      []() -> Result<std::unique_ptr<Gpu>> {
        return Error{ErrorCode::kNoDriver, "no driver"};
      },
      *clock_, {.deadline = kPatient});

  EXPECT_EQ(gpu.error().code, ErrorCode::kNoDriver);
}

TEST_F(DeadlineGpuTest, RecordsHowLongEachKindOfCallTook) {
  const auto gpu = DeadlineGpu::open(opener({}), *clock_, {.deadline = kPatient}).value();

  ASSERT_TRUE(gpu->read(Sensor::kClocks).ok());
  ASSERT_TRUE(gpu->read(Sensor::kEnergy).ok());
  ASSERT_TRUE(gpu->processes().ok());

  const CallTimes times = gpu->call_times();
  ASSERT_EQ(times.size(), 2U);
  const CallHistogram& reads = times.at("read");
  EXPECT_EQ(std::accumulate(reads.counts.begin(), reads.counts.end(), std::uint64_t{0}), 2U);
  EXPECT_EQ(reads.counts.size(), reads.bounds_s.size() + 1);
  EXPECT_GT(reads.sum_s, 0);
}

TEST_F(DeadlineGpuTest, CountsATimedOutCallWhenItReturns) {
  const auto gpu = hanging(kImpatient);

  ASSERT_FALSE(gpu->read(Sensor::kClocks).ok());
  EXPECT_TRUE(gpu->call_times().empty());
  gate_->open();
  while (!gpu->settled()) std::this_thread::yield();

  EXPECT_GE(gpu->call_times().at("read").sum_s, kImpatient.value());
}

// Runs a whole program's end, static destructors included, while a thread is still in its call.
TEST(DeadlineGpuDeathTest, AProcessEndsInOrderWhileACallHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");

  EXPECT_EXIT(
      {
        VirtualClock clock;
        const auto gate = std::make_shared<Gate>();
        auto gpu = DeadlineGpu::open(
            [gate]() -> Result<std::unique_ptr<Gpu>> {
              const auto own_clock = std::make_shared<VirtualClock>();
              keep_forever(own_clock);
              return std::unique_ptr<Gpu>(std::make_unique<FaultyGpu>(
                  std::make_unique<FakeGpu>(*own_clock), *own_clock,
                  std::vector<ScriptedFault>{{GpuCall::kRead, fault::Hangs{gate}}}));
            },
            clock, {.deadline = kImpatient, .open_deadline = kPatient});
        const bool hung = !(*gpu)->read(SensorSet::all()).ok();
        gpu->reset();
        std::exit(hung ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(CallWithDeadline, ReturnsTheResultOrNamesWhatHung) {
  const auto gate = std::make_shared<Gate>();

  const Result<int> quick = call_with_deadline("count", kPatient, [] { return Result<int>(7); });
  const Result<int> hung = call_with_deadline("start NVML", kImpatient, [gate]() -> Result<int> {
    gate->pass();
    return 8;
  });
  gate->open();

  EXPECT_EQ(*quick, 7);
  EXPECT_EQ(hung.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(hung.error().message, "cannot start NVML: no answer within 0.005 s");
}

}  // namespace
}  // namespace hypermile
