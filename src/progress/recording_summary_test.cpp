// SPDX-License-Identifier: Apache-2.0
//
// What `detect` answers for the kinds of jobs that were met in the field, on synthetic streams.
#include "progress/recording_summary.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hypermile {
namespace {

class Stream {
 public:
  void launch(std::uint32_t kernel, Seconds after) {
    Launch made;
    made.kernel = kernel;
    time_ = time_ + after;
    made.time = time_;
    launches_.push_back(made);
  }
  // Kernels `first` to `first` + `count` - 1, once each.
  void run(std::uint32_t first, std::uint32_t count, Seconds each) {
    for (std::uint32_t i = 0; i < count; ++i) launch(first + i, each);
  }
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  Instant time_;
  std::vector<Launch> launches_;
};

// A start-up of thousands of launches, then one graph per step; the host dispatches ten and blocks.
TEST(RecordingSummary, CountsGraphsThatAreDispatchedInBursts) {
  Stream stream;
  Random random(1);
  for (int i = 0; i < 2400; ++i) {
    stream.launch(static_cast<std::uint32_t>(random.uniform(0, 40)), milliseconds(0.7));
  }
  for (int burst = 0; burst < 60; ++burst) {
    for (int i = 0; i < 10; ++i) stream.launch(51, i == 0 ? milliseconds(120) : milliseconds(1.5));
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 600, 2);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_NEAR(found.levels[0].period.value(), 0.01335, 0.0002);
}

// Epochs of 32 steps; then 32 forward passes of the evaluation.
TEST(RecordingSummary, CountsTheStepsOfShortEpochsWithoutTheirEvaluations) {
  Stream stream;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (int step = 0; step < 32; ++step) stream.run(100, 200, milliseconds(0.1));
    for (int step = 0; step < 32; ++step) stream.run(100, 50, milliseconds(0.2));
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 320, 2);
}

// The same where the recording begins in the middle of an epoch, so that no stretch of training
// lasts half a second before an evaluation comes.
TEST(RecordingSummary, CountsTheStepsOfShortEpochsWhereverItBegins) {
  for (const int first : {10, 16, 24, 31}) {
    Stream stream;
    const auto forward = [&] {
      stream.run(1, 4, milliseconds(0.03));
      for (int block = 0; block < 8; ++block) stream.run(10, 20, milliseconds(0.03));
      stream.run(40, 5, milliseconds(0.03));
    };
    for (int epoch = 0; epoch < 9; ++epoch) {
      for (int step = epoch == 0 ? first : 0; step < 32; ++step) {
        forward();
        for (int block = 0; block < 8; ++block) stream.run(60, 34, milliseconds(0.04));
        stream.run(100, 10, milliseconds(0.03));
      }
      for (int step = 0; step < 32; ++step) {
        forward();
        stream.run(200, 3, milliseconds(2));
      }
    }

    const RecordingSummary found = summarize_recording(stream.launches());

    EXPECT_NEAR(found.iterations, 288 - first, 3) << "from step " << first << found.reason;
  }
}

// The evaluation behind the training lasts long enough to be a pattern of its own.
TEST(RecordingSummary, LeavesOutTheEvaluationBehindTheTraining) {
  Stream stream;
  for (int step = 0; step < 100; ++step) stream.run(100, 200, milliseconds(0.1));
  for (int step = 0; step < 300; ++step) stream.run(100, 70, milliseconds(0.1));

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 100, 2) << found.reason;
}

// A network of a hundred launches whose host waits for three large kernels. The layers of a long
// pass are not like that, so it need not repeat as often as they may.
TEST(RecordingSummary, FindsStepsOfFewLaunchesThatWaitForLargeKernels) {
  Stream stream;
  Random random(1);
  std::vector<std::uint32_t> kernels;
  for (int i = 0; i < 129; ++i) {
    kernels.push_back(i < 45 ? static_cast<std::uint32_t>(i)
                             : static_cast<std::uint32_t>(random.uniform(0, 45)));
  }
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 129; ++i) {
      const bool large = i == 30 || i == 70 || i == 110;
      stream.launch(kernels[static_cast<std::size_t>(i)],
                    large ? milliseconds(10) : milliseconds(0.03));
    }
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 60, 2) << found.reason;
}

// Micro-batches of any padding: the same launches, and times that differ by a factor of three. The
// optimizer follows after every fourth.
TEST(RecordingSummary, CountsTheStepsOfMicroBatchesOfDifferentLengths) {
  Stream stream;
  Random random(1);
  for (int step = 0; step < 56; ++step) {
    for (int batch = 0; batch < 4; ++batch) {
      const Seconds each = milliseconds(random.uniform(0.015, 0.045));
      for (int layer = 0; layer < 12; ++layer) stream.run(10, 30, each);
      for (int layer = 0; layer < 12; ++layer) stream.run(60, 62, each);
      stream.run(200, 16, each);
    }
    for (int chunk = 0; chunk < 8; ++chunk) stream.run(300, 4, milliseconds(0.05));
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 56, 2) << found.reason;
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_NEAR(found.levels[0].iterations, 224, 8);
}

// The scaler of mixed precision skips the optimizer now and then.
TEST(RecordingSummary, CountsStepsWhoseOptimizerIsSkipped) {
  Stream stream;
  Random random(1);
  for (int step = 0; step < 400; ++step) {
    stream.run(10, 120, milliseconds(0.02));
    stream.run(200, 220, milliseconds(0.02));
    stream.run(500, 3, milliseconds(0.02));
    if (random.uniform() > 0.1) stream.run(600, 24, milliseconds(0.02));
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 400, 4) << found.reason;
}

// Sequences of three lengths at random: the kernels of the time steps come more or less often.
TEST(RecordingSummary, AStepIsAStepWhateverItsLength) {
  Stream stream;
  Random random(1);
  double seconds = 0;
  for (int step = 0; step < 300; ++step) {
    const double drawn = random.uniform();
    const int length = drawn < 0.33 ? 32 : drawn < 0.67 ? 128 : 512;
    stream.run(1, 8, milliseconds(0.02));
    for (int i = 0; i < length; ++i) stream.run(20, 4, milliseconds(0.01));
    for (int i = 0; i < length; ++i) stream.run(30, 6, milliseconds(0.01));
    stream.run(50, 15, milliseconds(0.02));
    seconds += 23 * 20e-6 + length * 10 * 10e-6;
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 300, 2) << found.reason;
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_NEAR(found.levels[0].period.value() / (seconds / 300), 1, 0.05);
}

// Steps of the game until it ends, then a fixed number of updates.
TEST(RecordingSummary, CountsTheRoundsOfAReinforcementLearner) {
  Stream stream;
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    stream.launch(1, milliseconds(0.05));
    const int played = 100 + static_cast<int>(random.uniform(0, 150));
    for (int i = 0; i < played; ++i) stream.run(10, 8, milliseconds(0.05));
    for (int i = 0; i < 60; ++i) {
      stream.run(10, 7, milliseconds(0.05));
      stream.run(30, 20, milliseconds(0.05));
    }
  }

  const RecordingSummary found = summarize_recording(stream.launches());

  EXPECT_NEAR(found.iterations, 40, 2) << found.reason;
}

}  // namespace
}  // namespace hypermile
