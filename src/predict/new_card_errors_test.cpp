// SPDX-License-Identifier: Apache-2.0
//
// How errors on left-out cards widen the bounds for unknown cards.
#include "predict/new_card_errors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/card_pairs.h"
#include "testing/predicted_jobs.h"

namespace hypermile {
namespace {

constexpr BoundScales kOtherwise = {7, 8};

// Cards 100, 101, … are each a family of their own with five rows. The time errors of card k are
// 1/5, 2/5 … 5/5 of `off[k]` doubts.
NewCardErrors errors_of(const std::vector<double>& off) {
  NewCardErrors errors(RowKind::kClocks);
  for (std::size_t card = 0; card < off.size(); ++card) {
    const Example job = job_for_test("job", 0.5, 0.5, "card " + std::to_string(100 + card));
    std::vector<RawEstimate> estimates;
    for (const MeasuredRatio& point : job.points) {
      const double share = static_cast<double>(1 + estimates.size()) / 5;
      estimates.push_back({point.time + 0.01 * off[card] * share, point.energy, 0.01, 0.01});
    }
    errors.add(job, job.key.gpu, 0.5 * static_cast<double>(card), estimates);
  }
  return errors;
}

TEST(NewCardErrors, LieWithinTheScaleInNineOfTenRows) {
  const NewCardErrors errors = errors_of({1, 1, 1, 1, 1, 1, 1, 1});

  const BoundScales scales = errors.scales(kOtherwise);

  EXPECT_NEAR(scales.time, 1, 1e-6);
  EXPECT_NEAR(scales.energy, 0, 1e-6);
  EXPECT_EQ(errors.scores(scales).rows, 40U);
  EXPECT_EQ(errors.scores({0.81, 1}).coverage90, 0.9);
}

TEST(NewCardErrors, WidenTheScaleWhereFamiliesDiffer) {
  // Nine of ten of these rows lie within 4.8, but the first three families alone would set 3.2 for
  // the last family.
  EXPECT_NEAR(errors_of({1, 2, 4, 8}).scales(kOtherwise).time, 8, 1e-6);
}

TEST(NewCardErrors, KeepTheGivenScaleWithTooFewFamilies) {
  EXPECT_EQ(errors_of({1, 2, 3}).scales(kOtherwise).time, kOtherwise.time);
  EXPECT_EQ(NewCardErrors(RowKind::kLimits).scales(kOtherwise).energy, kOtherwise.energy);
}

TEST(NewCardErrors, WidenWithDistanceWhereFewCardsShowThatTheyDo) {
  const BoundScales scales = errors_of({1, 2, 3, 4, 5, 6}).sloped_scales({0.5, 3});

  EXPECT_NEAR(scales.time_slope, 2, 1e-6);
  EXPECT_NEAR(scales.time_at(2.5), 6, 1);
  EXPECT_EQ(scales.energy, 3);  // the lower bound
  EXPECT_EQ(scales.energy_slope, 0);
  EXPECT_EQ(errors_of({1, 2, 3}).sloped_scales({0.5, 3}).time_slope, 0);
}

std::vector<Example> jobs_of_cards(std::size_t cards, double exponent) {
  std::vector<Example> jobs;
  for (std::size_t card = 0; card < cards; ++card) {
    for (Example job : jobs_for_test(10, "card " + std::to_string(100 + card))) {
      for (MeasuredRatio& point : job.points) {
        point.time = std::pow(point.time, 1 + exponent * static_cast<double>(card));
      }
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

TEST(CardPairScales, AreWiderWhereCardsFollowRulesOfTheirOwn) {
  TrainingOptions options;
  options.kind = ModelKind::kAnalytic;

  const auto alike = card_pair_scales(jobs_of_cards(4, 0), options);
  const auto unlike = card_pair_scales(jobs_of_cards(4, 0.5), options);

  ASSERT_TRUE(alike && unlike);
  EXPECT_GT(unlike->time, 2 * alike->time);
}

}  // namespace
}  // namespace hypermile
