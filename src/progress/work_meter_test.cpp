// SPDX-License-Identifier: Apache-2.0
#include "progress/work_meter.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hypermile {
namespace {

// A solver that draws its rounds at random: a short one of kernels 1 and 2, a long one of kernels
// 3 and 4. The GPU time of a round scatters.
class WorkMeterTest : public ::testing::Test {
 protected:
  void launch(std::uint32_t kernel, Seconds takes) {
    NumberedLaunch made;
    made.launch.kernel = kernel;
    made.launch.time = Instant() + gpu_;
    made.number = ++records_;
    if (const auto done = meter_.add(made)) {
      work_ += *done;
      if (!first_work_) first_work_ = gpu_;
      last_work_ = gpu_;
    }
    // At most one event every 50 ms, as the injected library does.
    if (meter_.mark() == kernel && gpu_ - event_ >= milliseconds(50)) {
      event_ = gpu_;
      meter_.add(GpuTime{made.number, gpu_, 1, 0});
    }
    gpu_ += takes;
  }

  // `slower` is how much longer the GPU takes at another clock.
  void play(Seconds lasting, double long_rounds, double slower = 1, double scatter = 0.3) {
    const Seconds end = gpu_ + lasting;
    while (gpu_ < end) {
      const double takes = slower * (1 + scatter * random_.uniform(-1, 1));
      const bool is_long = random_.uniform() < long_rounds;
      for (int i = 0; i < 10; ++i)
        launch(is_long ? 3 : 1, microseconds(is_long ? 500 : 20) * takes);
      launch(is_long ? 4 : 2, microseconds(200) * takes);
    }
  }

  WorkMeter meter_;
  Random random_{1};
  Seconds gpu_, event_ = Seconds(-1);
  std::uint64_t records_ = 0;
  double work_ = 0;
  std::optional<Seconds> first_work_, last_work_;
};

TEST_F(WorkMeterTest, WorkIsGpuTimeAtTheDefaultWhateverTheRounds) {
  play(Seconds(25), 0.2);
  ASSERT_EQ(meter_.state(), WorkMeter::State::kTrusted) << meter_.why();

  play(Seconds(60), 0.25);

  const Seconds lasted = *last_work_ - *first_work_;
  EXPECT_NEAR(work_ * WorkMeter::kUnit.value() / lasted.value(), 1, 0.02);
}

TEST_F(WorkMeterTest, ASlowerClockTakesLongerForTheSameWork) {
  play(Seconds(25), 0.2);
  ASSERT_EQ(meter_.state(), WorkMeter::State::kTrusted) << meter_.why();
  const Seconds begin = gpu_;
  work_ = 0;

  play(Seconds(60), 0.2, 1.1);

  EXPECT_NEAR((gpu_ - begin).value() / (work_ * WorkMeter::kUnit.value()), 1.1, 0.02);
}

TEST_F(WorkMeterTest, RefusesWhereLaunchesDoNotTellTheWork) {
  for (int i = 0; i < 20 && meter_.state() != WorkMeter::State::kRefused; ++i) {
    play(Seconds(1.5), 0.2, i % 2 == 0 ? 1 : 2);  // another amount of work by the same launches
  }

  EXPECT_EQ(meter_.state(), WorkMeter::State::kRefused);
  EXPECT_NE(meter_.why().find("do not tell how much work"), std::string::npos) << meter_.why();
}

TEST_F(WorkMeterTest, RefusesWhenTheMixtureWanders) {
  play(Seconds(25), 0.2);
  ASSERT_EQ(meter_.state(), WorkMeter::State::kTrusted) << meter_.why();

  play(Seconds(40), 0.02);

  EXPECT_EQ(meter_.state(), WorkMeter::State::kRefused);
  EXPECT_NE(meter_.why().find("of another kind"), std::string::npos) << meter_.why();
}

TEST_F(WorkMeterTest, RefusesWhenItsMarkDoesNotComeAnyMore) {
  play(Seconds(25), 0.2);
  ASSERT_EQ(meter_.state(), WorkMeter::State::kTrusted) << meter_.why();

  play(Seconds(40), meter_.mark() == 3U || meter_.mark() == 4U ? 0.0 : 1.0);

  EXPECT_EQ(meter_.state(), WorkMeter::State::kRefused);
  EXPECT_NE(meter_.why().find("does not come any more"), std::string::npos) << meter_.why();
}

TEST_F(WorkMeterTest, RefusesWithoutGpuTimes) {
  NumberedLaunch made;
  for (int i = 0; i < 70 * 100; ++i) {
    made.launch.kernel = 1;
    made.launch.time = Instant() + i * milliseconds(10);
    EXPECT_FALSE(meter_.add(made));
    if (meter_.state() == WorkMeter::State::kRefused) break;
  }

  EXPECT_EQ(meter_.state(), WorkMeter::State::kRefused);
  EXPECT_NE(meter_.why().find("too few GPU times"), std::string::npos) << meter_.why();
}

TEST_F(WorkMeterTest, KeepsWhatItLearntAcrossATimeWithoutLaunches) {
  play(Seconds(25), 0.2);
  ASSERT_EQ(meter_.state(), WorkMeter::State::kTrusted) << meter_.why();
  work_ = 0;

  meter_.restart();
  play(Seconds(0.02), 0.2);

  EXPECT_EQ(meter_.state(), WorkMeter::State::kTrusted);
  EXPECT_LT(work_ * WorkMeter::kUnit.value(), 0.03);
}

}  // namespace
}  // namespace hypermile
