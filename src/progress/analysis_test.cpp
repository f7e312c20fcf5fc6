// SPDX-License-Identifier: Apache-2.0
#include "progress/analysis.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

class Analysed : public ::testing::Test {
 protected:
  void launch(KernelNumber kernel) {
    now_ = now_ + microseconds(10);
    ring_.push(now_, kernel);
  }
  // So many times the kernels `first` to `last`, once each.
  void repeat(int times, KernelNumber first, KernelNumber last) {
    for (int i = 0; i < times; ++i) {
      for (KernelNumber k = first; k <= last; ++k) launch(k);
    }
  }
  std::optional<Finding> run() { return analysis_.run(ring_, 0, ring_.end()); }

  LaunchRing ring_;
  Analysis analysis_;
  Instant now_;
};

TEST_F(Analysed, FindsTheIterationAndNotItsHalves) {
  // Four equal layers forward, four others backward, and an optimizer.
  for (int i = 0; i < 12; ++i) {
    launch(1);
    for (int layer = 0; layer < 4; ++layer) {
      for (KernelNumber k = 10; k < 15; ++k) launch(k);
    }
    launch(2);
    for (int layer = 0; layer < 4; ++layer) {
      for (KernelNumber k = 20; k < 29; ++k) launch(k);
    }
    launch(3);
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 59, 1e-6);
  EXPECT_NEAR(finding->reference.length(), 59, 1e-6);
  EXPECT_GT(finding->reference.quality, 0.99);
}

TEST_F(Analysed, FindsMicroBatchesInsideSteps) {
  for (int step = 0; step < 8; ++step) {
    for (int micro = 0; micro < 4; ++micro) {
      for (KernelNumber k = 1; k < 51; ++k) launch(k);
    }
    for (int k = 0; k < 3; ++k) launch(60);
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 50.75, 0.5);
}

TEST_F(Analysed, FindsEpochsWhereTrainingAndEvaluationAlternateTooFast) {
  for (int epoch = 0; epoch < 12; ++epoch) {
    repeat(18, 1, 110);
    repeat(12, 6, 45);
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 18 * 110 + 12 * 40, 1e-6);
}

// The evaluation begins with a kernel with which each step begins too, so that an epoch has nothing
// of its own but the launch at its end.
TEST_F(Analysed, FindsEpochsThatAgreeToTheLaunchAfterSixOfThem) {
  for (int epoch = 0; epoch < 7; ++epoch) {
    repeat(32, 1, 196);
    for (int i = 0; i < 8; ++i) {
      repeat(1, 1, 66);
      repeat(1, 201, 206);
    }
    launch(300);
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 32 * 196 + 8 * 72 + 1, 1e-6);
}

// Epochs of different lengths are no measure of progress.
TEST_F(Analysed, FindsNoEpochsOfDifferentLengths) {
  for (const int length : {18, 11, 25, 14, 30, 9, 21, 16}) {
    repeat(length, 1, 110);
    repeat(12, 6, 45);
  }

  const auto finding = run();

  EXPECT_TRUE(!finding || finding->gap < 120) << finding->gap;
}

TEST_F(Analysed, IgnoresAKernelThatComesThousandsOfTimesInARow) {
  // A recurrent network launches one kernel per time step; the stretch ends in the middle of them.
  for (int i = 0; i < 7; ++i) {
    for (KernelNumber k = 1; k < 60; ++k) launch(k);
    for (int step = 0; step < 6000; ++step) launch(70);
    for (KernelNumber k = 80; k < 140; ++k) launch(k);
    for (int step = 0; step < 6000; ++step) launch(71);
  }
  for (KernelNumber k = 1; k < 60; ++k) launch(k);
  for (int step = 0; step < 3000; ++step) launch(70);

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 12119, 1);
}

// 20 to 36 steps of play, four of learning, and one launch of its own for each round. Lengths are
// 0.9 alike, which alone would not let the shortest and the longest be followed.
TEST_F(Analysed, FollowsRoundsByTheKernelsThatComeInConstantNumbers) {
  for (int round = 0; round < 12; ++round) {
    launch(90);
    for (int step = 0; step < 20 + 7 * round % 17; ++step) {
      for (KernelNumber k = 1; k < 21; ++k) launch(k);
    }
    for (int update = 0; update < 4; ++update) {
      for (KernelNumber k = 30; k < 80; ++k) launch(k);
    }
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_GT(finding->gap, 600);
  EXPECT_TRUE(finding->reference.elastic);
  EXPECT_GE(finding->reference.witnesses.size(), 6U);
  for (const KernelNumber witness : finding->reference.witnesses) EXPECT_GE(witness, 30);
}

TEST_F(Analysed, AnchorsABurstByItsPair) {
  // Every kernel comes twice in a row, so only pairs are rare.
  for (int i = 0; i < 20; ++i) {
    for (KernelNumber k = 1; k <= 3; ++k) {
      launch(k);
      launch(k);
    }
  }

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 6, 1e-6);
  EXPECT_TRUE(finding->reference.anchor.pair);
}

TEST_F(Analysed, IgnoresAPhaseThatEndedInside) {
  for (int i = 0; i < 30; ++i) {
    for (KernelNumber k = 1; k < 11; ++k) launch(k);
  }
  for (int i = 0; i < 30; ++i) {
    for (KernelNumber k = 101; k < 121; ++k) launch(k);
  }

  EXPECT_FALSE(run().has_value());
}

TEST_F(Analysed, FindsNothingWithoutRepetition) {
  EXPECT_FALSE(run().has_value());
  for (int i = 0; i < 200; ++i) launch(static_cast<KernelNumber>(i));
  EXPECT_FALSE(run().has_value());
}

TEST_F(Analysed, FindsAGraphLaunchedAlone) {
  for (int i = 0; i < 40; ++i) launch(5);

  const auto finding = run();

  ASSERT_TRUE(finding.has_value());
  EXPECT_NEAR(finding->gap, 1, 1e-6);
}

}  // namespace
}  // namespace hypermile
