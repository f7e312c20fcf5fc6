// SPDX-License-Identifier: Apache-2.0
#include "progress/confirmation.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Evidence good() {
  return {.quality = 0.97,
          .segments = 8,
          .lasting = Seconds(0.6),
          .agreeing = 1,
          .explained = 8000,
          .searched = 9000,
          .searching = Seconds(0.7),
          .gaps = 8,
          .gap_cv = 0.01,
          .launches = 1000,
          .waits = 1,
          .distinct = 60};
}

TEST(Confirmation, BelievesASimilarEvenAndLastingPattern) {
  EXPECT_EQ(judge(good()), Verdict::kBelieved);
}

TEST(Confirmation, AsksForAnotherAnalysisIfOnlyThatIsMissing) {
  Evidence evidence = good();
  evidence.agreeing = 0;

  EXPECT_EQ(judge(evidence), Verdict::kAnalyse);
}

TEST(Confirmation, WaitsIfAnythingElseIsMissing) {
  Evidence few = good();
  few.segments = 5;
  Evidence brief = good();
  brief.lasting = Seconds(0.4);
  Evidence unexplained = good();
  unexplained.searched = 20000;
  Evidence uneven = good();
  uneven.gap_cv = 0.5;

  for (const Evidence& evidence : {few, brief, unexplained, uneven}) {
    EXPECT_EQ(judge(evidence), Verdict::kNotYet);
  }
}

// Rounds of which nobody knows yet how much their lengths vary.
TEST(Confirmation, WaitsForMoreIterationsWhereFewAreUneven) {
  Evidence rounds = good();
  rounds.segments = rounds.gaps = 12;
  rounds.gap_cv = 0.15;
  EXPECT_EQ(judge(rounds), Verdict::kNotYet);

  rounds.segments = rounds.gaps = 20;
  EXPECT_EQ(judge(rounds), Verdict::kBelieved);
}

TEST(Confirmation, AcceptsManySimilarIterationsInAShortTime) {
  Evidence epoch = good();  // an epoch of a small data set, between two evaluations
  epoch.lasting = Seconds(0.2);
  epoch.segments = epoch.gaps = 60;
  epoch.agreeing = 2;
  Evidence poorer = epoch;
  poorer.quality = 0.9;
  Evidence fewer = epoch;
  fewer.segments = 30;

  EXPECT_EQ(judge(epoch), Verdict::kBelieved);
  EXPECT_EQ(judge(poorer), Verdict::kNotYet);
  EXPECT_EQ(judge(fewer), Verdict::kNotYet);
}

TEST(Confirmation, AJobOfFewLaunchesMayFollowAStartUpOfMany) {
  Evidence graph = good();
  graph.launches = 1;
  graph.distinct = 1;
  graph.explained = 600;
  graph.searched = 50000;
  graph.searching = Seconds(2.5);
  graph.lasting = Seconds(1);
  EXPECT_EQ(judge(graph), Verdict::kNotYet);

  graph.lasting = Seconds(1.6);
  graph.searching = Seconds(3.1);
  EXPECT_EQ(judge(graph), Verdict::kBelieved);
}

TEST(Confirmation, RequiresMoreEvidenceForPoorerPatterns) {
  Evidence poor = good();
  poor.quality = 0.72;
  poor.gaps = 40;
  poor.segments = 40;
  poor.lasting = Seconds(3);
  poor.agreeing = 9;
  EXPECT_EQ(judge(poor), Verdict::kNotYet);

  poor.segments = 48;
  EXPECT_EQ(judge(poor), Verdict::kBelieved);

  poor.gap_cv = 0.45;
  EXPECT_EQ(judge(poor), Verdict::kNotYet) << "it is uneven as well";
}

// Rounds that are drawn at random from a few kinds reach 0.6 to 0.7; no recorded or simulated job
// with a period stays below 0.75.
TEST(Confirmation, NeverBelievesAPatternOfTooLowQuality) {
  Evidence poor = good();
  poor.quality = 0.66;
  poor.segments = poor.gaps = 5000;
  poor.lasting = Seconds(100);
  poor.agreeing = 20;

  EXPECT_EQ(judge(poor), Verdict::kNotYet);
}

TEST(Confirmation, TreatsFewSlowEvenLaunchesAsLayersUntilThereAreTooMany) {
  Evidence layers = good();
  layers.launches = 24;
  layers.distinct = 16;
  layers.waits = 0.2;
  layers.segments = 80;
  layers.gaps = 80;
  layers.explained = 80 * 24;
  layers.searched = layers.explained;
  layers.lasting = Seconds(2.5);
  EXPECT_EQ(judge(layers), Verdict::kNotYet);

  Evidence graph = layers;
  graph.waits = 0.95;
  EXPECT_EQ(judge(graph), Verdict::kBelieved);

  layers.segments = 131;
  EXPECT_EQ(judge(layers), Verdict::kBelieved);
}

}  // namespace
}  // namespace hypermile
