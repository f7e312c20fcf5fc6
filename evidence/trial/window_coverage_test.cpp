// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/window_coverage.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hypermile {
namespace {

struct Sum {
  int given = 0, holding = 0;
  void add(const Covered& one) {
    given += one.given;
    holding += one.holding;
  }
  double share() const { return static_cast<double>(holding) / given; }
};

class WindowCoverage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* source = std::getenv("HYPERMILE_SOURCE_DIR")) {
      ::setenv("HYPERMILE_DATA", source, 1);
    }
  }
  // Several jobs on two cards with three seeds, 60 windows each.
  void cover_all(TickSource ticks) {
    for (const char* gpu : {"h200", "rtx3080ti"}) {
      for (const char* workload : {"resnet50", "bert_base", "bert_variable_length", "vgg16",
                                   "ai_speech_to_text", "gpt2_accumulated", "tgbm"}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          CoverageCase one;
          one.sheet = *load_gpu_sheet(gpu);
          one.workload = *load_workload(workload);
          one.ticks = ticks;
          one.seed = seed;
          one.windows = 60;
          const Coverage coverage = cover(one).value();
          time.add(coverage.time);
          energy.add(coverage.energy);
          power.add(coverage.power);
          refused += coverage.refused;
        }
      }
    }
  }
  Sum time, energy, power;
  int refused = 0;
};

TEST_F(WindowCoverage, NinetyFivePercentIntervalsHoldInNinetyThreeToNinetySevenOfAHundred) {
  cover_all(TickSource::kExact);

  EXPECT_GE(time.given, 2500);
  EXPECT_NEAR(time.share(), 0.95, 0.02);
  EXPECT_NEAR(energy.share(), 0.95, 0.02);
  EXPECT_GE(power.share(), 0.93);
}

TEST_F(WindowCoverage, TheyHoldForAHostThatRunsAheadWithEventsOfTheGpu) {
  cover_all(TickSource::kGpuEvents);

  EXPECT_NEAR(time.share(), 0.95, 0.02);
  EXPECT_NEAR(energy.share(), 0.95, 0.02);
}

TEST_F(WindowCoverage, WithoutEventsFewHostTimesAreRefusedAndTheOthersErrOnTheSafeSide) {
  cover_all(TickSource::kHostAlone);

  EXPECT_GT(refused, 100);
  EXPECT_GE(time.share(), 0.95);
  EXPECT_GE(energy.share(), 0.94);
}

}  // namespace
}  // namespace hypermile
