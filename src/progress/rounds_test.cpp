// SPDX-License-Identifier: Apache-2.0
//
// Reinforcement learners, which play for a while and then learn, on synthetic streams after
// recordings of real ones. A step of their play repeats evenly, but a round is the iteration.
#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "evidence/progress/detector_trial.h"
#include "progress/recording_summary.h"

namespace hypermile {
namespace {

using Number = std::function<int(Random&)>;

Number always(int count) {
  return [count](Random&) { return count; };
}
Number between(int least, int most) {
  return [least, most](Random& random) {
    return least + static_cast<int>(random.uniform() * (most - least + 1));
  };
}

class Learner {
 public:
  // `begin` is the part of the first round's play that was not seen. The first two rounds play
  // slowly, as jobs do whose kernels are not loaded yet, so that the steps of the play are followed
  // first.
  LabelledStream rounds(int count, const Number& steps, const Number& updates, double begin = 0) {
    for (int i = 0; i < count; ++i) {
      if (i > 0 || begin == 0) made_.starts.push_back(made_.launches.size());
      const int seen = i == 0 ? static_cast<int>((1 - begin) * steps(random_)) : steps(random_);
      for (int step = 0; step < seen; ++step) play(i < 2 ? kSlow : kPace);
      run(50, 3, kPace);
      for (int update = updates(random_); update > 0; --update) learn();
    }
    return made_;
  }

  // Then the job trains a network that does not play.
  LabelledStream train(int iterations) {
    for (int i = 0; i < iterations; ++i) run(200, 400, kPace);
    return made_;
  }

 private:
  static constexpr Seconds kPace = microseconds(25);  // time per launch
  static constexpr Seconds kSlow = microseconds(75);

  void run(std::uint32_t first, std::uint32_t count, Seconds pace) {
    for (std::uint32_t i = 0; i < count; ++i) {
      time_ = time_ + random_.uniform(0.7, 1.3) * pace;
      Launch launch;
      launch.kernel = first + i;
      launch.time = time_;
      made_.launches.push_back(launch);
    }
  }
  // 40 launches of 29 kernels.
  void play(Seconds pace) {
    run(1, 29, pace);
    run(1, 11, pace);
  }
  // 112 launches: a forward pass of kernels that play launches too, and 44 others.
  void learn() {
    run(1, 12, kPace);
    run(100, 44, kPace);
    run(1, 12, kPace);
    run(100, 44, kPace);
  }

  Random random_{7};
  Instant time_;
  LabelledStream made_;
};

struct Game {
  const char* name;
  Number steps, updates;
};

class Rounds : public ::testing::TestWithParam<Game> {
 protected:
  LabelledStream play(double begin = 0) const {
    return Learner().rounds(90, GetParam().steps, GetParam().updates, begin);
  }
};

TEST_P(Rounds, AreCountedExactlyInEveryWindow) {
  for (const double begin : {0.0, 0.3, 0.6, 0.9}) {
    const LabelledStream stream = play(begin);

    const DetectorTrace told = trace(stream, 0);

    ASSERT_FALSE(told.locks.empty());
    const std::size_t first = told.locks.back().first_boundary;
    ASSERT_GT(told.boundaries.size(), first + 80);
    for (std::size_t i = first + 1; i < told.boundaries.size(); ++i) {
      EXPECT_EQ(told.boundaries[i].iterations, 1);
      const double passed = stream.iterations_at(told.boundaries[i].launch) -
                            stream.iterations_at(told.boundaries[i - 1].launch);
      EXPECT_NEAR(passed, 1, 0.999);
    }
    EXPECT_NEAR(summarize_recording(stream.launches).iterations, 90 - begin, 2);
  }
}

TEST_P(Rounds, StepsOfThePlayAreFollowedForTwoRoundsAtMost) {
  for (const double begin : {0.0, 0.3, 0.6, 0.9}) {
    const LabelledStream stream = play(begin);

    const DetectorTrace told = trace(stream, 0);

    for (const DetectorTrace::Locked& lock : told.locks) {
      if (lock.pattern.launches_per_iteration > 1000) continue;
      EXPECT_LT(stream.iterations_at(lock.lock.launch), 4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Games, Rounds,
    ::testing::Values(Game{"AlwaysAsLong", always(128), always(16)},
                      Game{"PlayOfVaryingLength", between(32, 128), always(32)},
                      Game{"PlayOfAlmostTheSameLength", between(40, 60), always(16)},
                      Game{"LearningThatStopsEarly", always(64), between(4, 40)}),
    [](const auto& each) { return std::string(each.param.name); });

// The ring does not hold enough rounds of such different lengths. What is left is their work.
TEST(LongRounds, AreRefusedRatherThanCountedBySteps) {
  const LabelledStream stream = Learner().rounds(40, between(100, 1200), always(30));

  const RecordingSummary found = summarize_recording(stream.launches);

  EXPECT_TRUE(found.levels.empty());
  EXPECT_FALSE(found.reason.empty());
}

TEST(AfterRounds, AShorterIterationIsFollowedOnceTheyAreForgotten) {
  Learner learner;
  learner.rounds(20, always(128), always(16));
  const LabelledStream stream = learner.train(800);

  const DetectorTrace told = trace(stream, 0);

  ASSERT_FALSE(told.locks.empty());
  EXPECT_NEAR(told.locks.back().pattern.launches_per_iteration, 400, 1);
}

}  // namespace
}  // namespace hypermile
