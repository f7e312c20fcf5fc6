// SPDX-License-Identifier: Apache-2.0
//
// How far a job lies from the training, and what that does to bounds on cards that nobody has seen.
#include "predict/card_distance.h"

#include <gtest/gtest.h>

#include "predict/jobs_for_test.h"
#include "predict/new_card_errors.h"

namespace hypermile {
namespace {

TEST(CardDistance, IsSmallAmongTheCardsOwnJobsAndGrowsWithWhatIsUnlike) {
  const auto jobs = jobs_for_test(20);
  const auto profiles = card_profiles(jobs);
  Features far = jobs[0].features;
  far.set(Feature::kDramActive, 5);
  Features unlike = jobs[0].features;
  for (const Feature other : {Feature::kL2Active, Feature::kIssueActive, Feature::kSmActive}) {
    unlike.set(other, 0.5);
  }

  const double near = card_distance(profiles, job_for_test("x", 0.45, 0.45).features);

  EXPECT_LT(near, 0.5);
  EXPECT_GT(card_distance(profiles, far), near + 0.5);
  EXPECT_GT(card_distance(profiles, unlike), near + 0.5);
  EXPECT_GT(card_distance(profiles, {}), 1);
}

TEST(CardDistance, IsToTheNearestCardButTheOneLeftOut) {
  auto jobs = jobs_for_test(10, "one");
  Example odd = job_for_test("odd", 5, 5, "two");
  jobs.push_back(odd);
  const auto profiles = card_profiles(jobs);

  EXPECT_EQ(profiles.size(), 2U);
  EXPECT_LT(card_distance(profiles, odd.features), 0.01);
  EXPECT_GT(card_distance(profiles, odd.features, "two"), 2);
  EXPECT_EQ(card_distance({}, odd.features), 0);
}

// Of cards 0, 1, 2, …, each a distance farther, with an error that grows by `step` doubts a card.
NewCardErrors errors_of(int cards, double step) {
  NewCardErrors errors(RowKind::kClocks);
  for (int card = 0; card < cards; ++card) {
    const Example job = job_for_test("job", 0.5, 0.5, "card" + std::to_string(card));
    std::vector<RawEstimate> estimates;
    for (const MeasuredRatio& point : job.points) {
      estimates.push_back({point.time + 0.01 * (1 + step * card), point.energy, 0.01, 0.01});
    }
    errors.add(job, 0.5 * card, estimates);
  }
  return errors;
}

TEST(NewCardErrors, WidenBoundsWithDistanceWhereErrorsGrowWithIt) {
  const DistanceScale scale = errors_of(6, 1).time_scale(0.5);

  EXPECT_NEAR(scale.slope, 2, 1e-6);
  EXPECT_NEAR(scale.at(0.5), 2, 1e-6);
  EXPECT_NEAR(scale.at(4), 9, 1e-6);
}

TEST(NewCardErrors, GuessNoSlopeFromFewCardsOrWhereThereIsNone) {
  EXPECT_EQ(errors_of(3, 1).time_scale(0.5).slope, 0);
  EXPECT_NEAR(errors_of(6, 0).time_scale(0.5).slope, 0, 1e-9);
  EXPECT_NEAR(errors_of(6, 0).time_scale(0.5).base, 1, 1e-9);
}

TEST(NewCardErrors, AreNeverNarrowerThanBoundsOnKnownCards) {
  EXPECT_EQ(errors_of(6, 0).energy_scale(3).base, 3);
  EXPECT_EQ(NewCardErrors(RowKind::kLimits).time_scale(3).base, 3);
}

TEST(NewCardErrors, ScoreWhatLiesWithinTheirBounds) {
  const NewCardErrors errors = errors_of(6, 1);

  const Scores scores = errors.scores(errors.time_scale(0.5), errors.energy_scale(0.5));

  EXPECT_GT(scores.coverage90, 0.9);
  EXPECT_EQ(scores.rows, 30U);
}

}  // namespace
}  // namespace hypermile
