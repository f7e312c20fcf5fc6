// SPDX-License-Identifier: Apache-2.0
//
// Training that switches to evaluation and back: how soon the switch is reported, and that a phase
// that comes back has its old number.
#include <gtest/gtest.h>

#include <cstdlib>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/stream_edits.h"

namespace hypermile {
namespace {

// The fixture, repeated to make room for phases.
LabelledStream repeated(const std::string& name, int times) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::string folder = std::string(source ? source : ".") + "/tests/fixtures/launches";
  const auto loaded = load_recording(folder, name);
  EXPECT_TRUE(loaded.ok()) << loaded.error().line();
  LabelledStream made;
  if (!loaded) return made;
  const LabelledStream& once = *loaded;
  made.name = once.name;
  const std::uint64_t first = once.starts.front();
  const std::uint64_t end = once.starts.back();
  const Seconds length = once.launches[end].time - once.launches[first].time;
  for (int i = 0; i < times; ++i) {
    const std::uint64_t offset = made.launches.size() - first;
    for (std::size_t s = 0; s + 1 < once.starts.size(); ++s) {
      made.starts.push_back(once.starts[s] + offset);
    }
    for (std::uint64_t at = first; at < end; ++at) {
      made.launches.push_back(once.launches[at]);
      made.launches.back().time = once.launches[at].time + length * i;
    }
  }
  return made;
}

struct Job {
  const char* name;
  int times;
  std::size_t train, eval;
  double forward;
};

class PhaseSwitch : public ::testing::TestWithParam<Job> {
 protected:
  PhaseSwitch() {
    const Job& job = GetParam();
    phased_ = with_evaluation(repeated(job.name, job.times), job.train, job.eval, job.forward);
    told_ = trace(phased_.stream, 0);
  }
  Instant time(std::uint64_t launch) const { return phased_.stream.launches[launch].time; }

  PhasedStream phased_;
  DetectorTrace told_;
};

TEST_P(PhaseSwitch, IsDeclaredWithinThreeIterationsOrATenthOfASecond) {
  ASSERT_GE(told_.breaks.size(), 3U);
  ASSERT_EQ(told_.breaks.size(), phased_.switches.size());
  for (std::size_t i = 0; i < told_.breaks.size(); ++i) {
    const std::uint64_t began = phased_.switches[i];
    ASSERT_GE(told_.breaks[i].launch, began);
    const double iterations =
        phased_.stream.iterations_at(told_.breaks[i].launch) - phased_.stream.iterations_at(began);
    const Seconds after = told_.breaks[i].time - time(began);
    EXPECT_TRUE(iterations <= 3 || after <= milliseconds(100))
        << "switch " << i << ": " << iterations << " iterations, " << after.value() << " s";
  }
}

TEST_P(PhaseSwitch, KnownPhaseIsLockedAgainSoonUnderItsNumber) {
  ASSERT_EQ(told_.locks.size(), phased_.switches.size() + 1);
  for (std::size_t i = 0; i < told_.locks.size(); ++i) {
    EXPECT_EQ(told_.locks[i].pattern.phase, i % 2) << "lock " << i;
    EXPECT_EQ(told_.locks[i].lock.known, i >= 2) << "lock " << i;
    EXPECT_FALSE(told_.locks[i].lock.relevelled);
    if (i >= 2) {
      const Seconds after = told_.locks[i].lock.time - time(phased_.switches[i - 1]);
      EXPECT_LE(after, milliseconds(250)) << "lock " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TrainEval, PhaseSwitch,
                         ::testing::Values(Job{"mlp_tiny", 6, 800, 1500, 0.34},
                                           Job{"gin_small_batches", 9, 160, 400, 0.34},
                                           Job{"resnet50_bf16_b256", 10, 20, 50, 0.3}),
                         [](const auto& each) { return std::string(each.param.name); });

// Plays steps, each of which launches kernels in a row, to a detector.
class ShortEpochs : public ::testing::Test {
 protected:
  void run(std::uint32_t first, std::uint32_t kernels, Seconds each) {
    for (std::uint32_t i = 0; i < kernels; ++i) {
      launch_.kernel = first + i;
      launch_.time = launch_.time + each;
      detector_.add(launch_);
      detector_.analyse_if_due();
    }
  }

  DetectorTrace told_;
  LaunchDetector detector_{told_};
  Launch launch_;
};

// Epochs of 0.6 s with an evaluation of 0.3 s behind each: after the first they are one state.
TEST_F(ShortEpochs, AreOneStateInWhichEveryStepIsCounted) {
  for (int epoch = 0; epoch < 12; ++epoch) {
    for (int step = 0; step < 32; ++step) run(100, 200, milliseconds(0.1));
    for (int step = 0; step < 32; ++step) run(100, 50, milliseconds(0.2));
    if (epoch >= 2) {
      EXPECT_EQ(detector_.state(), DetectorState::kLocked) << epoch;
    }
  }

  EXPECT_LE(told_.breaks.size(), 1U);
  EXPECT_LE(told_.locks.size(), 2U);
  double steps = 0;
  for (const Boundary& boundary : told_.boundaries) steps += boundary.iterations;
  EXPECT_NEAR(steps, 12 * 32, 3);
}

// Evaluations of 0.8 s are long enough to be found as a phase. After a few of them they are part of
// the training all the same, and the boundary behind each says so.
TEST_F(ShortEpochs, AreOneStateWhereTheirEvaluationsAreFoundAsAPhase) {
  for (int epoch = 0; epoch < 16; ++epoch) {
    for (int step = 0; step < 32; ++step) run(100, 400, milliseconds(0.1));
    for (int step = 0; step < 32; ++step) run(100, 120, milliseconds(0.2));
  }

  EXPECT_LE(told_.breaks.size(), 8U);
  double steps = 0;
  int interludes = 0;
  for (const Boundary& boundary : told_.boundaries) {
    if (boundary.pattern.phase != 0) continue;
    steps += boundary.iterations;
    interludes += boundary.behind_interlude ? 1 : 0;
  }
  EXPECT_NEAR(steps, 16 * 32, 10);
  EXPECT_GE(interludes, 10);
}

TEST_F(ShortEpochs, AreOverWhenTrainingDoesNotComeBack) {
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int step = 0; step < 32; ++step) run(100, 200, milliseconds(0.1));
    for (int step = 0; step < 32; ++step) run(100, 50, milliseconds(0.2));
  }
  const std::size_t before = told_.breaks.size();
  for (int step = 0; step < 300; ++step) run(500, 100, milliseconds(0.1));

  EXPECT_EQ(told_.breaks.size(), before + 1);
  EXPECT_EQ(detector_.state(), DetectorState::kLocked);
  EXPECT_EQ(told_.locks.back().pattern.anchor.kernel / 100, 5U);
}

}  // namespace
}  // namespace hypermile
