// SPDX-License-Identifier: Apache-2.0
//
// How far a job lies from the training, by card and by knob.
#include "predict/card_distance.h"

#include <gtest/gtest.h>

#include "testing/predicted_jobs.h"

namespace hypermile {
namespace {

double clock_distance(std::span<const CardProfile> profiles, const Features& features,
                      std::string_view except = {}) {
  return card_distances(profiles, features, except)[static_cast<std::size_t>(Knob::kSmClock)];
}

TEST(CardDistances, AreSmallAmongTheCardsOwnJobsAndGrowWithWhatIsUnlike) {
  const auto jobs = jobs_for_test(20);
  const auto profiles = card_profiles(jobs);
  Features far = jobs[0].features;
  far.set(Feature::kDramActive, 5);
  Features unlike = jobs[0].features;
  for (const Feature other : {Feature::kL2Active, Feature::kIssueActive, Feature::kSmActive}) {
    unlike.set(other, 0.5);
  }

  const double near = clock_distance(profiles, job_for_test("x", 0.45, 0.45).features);

  EXPECT_LT(near, 0.5);
  EXPECT_GT(clock_distance(profiles, far), near + 0.5);
  EXPECT_GT(clock_distance(profiles, unlike), near + 0.5);
  EXPECT_GT(clock_distance(profiles, {}), 1);
}

TEST(CardDistances, AreToTheNearestCardOutsideTheFamilyLeftOut) {
  auto jobs = jobs_for_test(10, "RTX 3080");
  const Example odd = job_for_test("odd", 5, 5, "Tesla V100-SXM2-16GB");
  jobs.push_back(odd);
  const auto profiles = card_profiles(jobs);

  EXPECT_EQ(profiles.size(), 2U);
  EXPECT_LT(clock_distance(profiles, odd.features), 0.01);
  EXPECT_GT(clock_distance(profiles, odd.features, "V100"), 2);
}

TEST(CardDistances, AreTheFarthestForAKnobThatNobodyMoved) {
  auto jobs = jobs_for_test(10, "RTX 3080");
  const auto still = card_profiles(jobs);
  Example moved = job_for_test("moved", 5, 5, "V100");
  moved.points.push_back({{1, 0.5, {}}, 1.2, 0.9});
  jobs.push_back(moved);
  const auto profiles = card_profiles(jobs);
  const auto memory = static_cast<std::size_t>(Knob::kMemoryClock);
  const Features near = job_for_test("x", 0.45, 0.45).features;

  EXPECT_EQ(card_distances(still, near)[memory], 3);
  EXPECT_EQ(card_distances({}, near)[memory], 3);
  // The nearest card has not moved the knob, but a distant card has.
  EXPECT_LT(clock_distance(profiles, near), 0.5);
  EXPECT_GT(card_distances(profiles, near)[memory], 2);
  EXPECT_LT(card_distances(profiles, moved.features)[memory], 0.01);
}

TEST(CardFamily, IsWhatVariantsOfACardShare) {
  EXPECT_EQ(card_family("NVIDIA A100-SXM4-40GB"), "A100");
  EXPECT_EQ(card_family("A100-SXM4-80GB"), "A100");
  EXPECT_EQ(card_family("Tesla V100-PCIE-16GB"), "V100");
  EXPECT_EQ(card_family("GTX 980 (low P-state)"), "980");
  EXPECT_EQ(card_family("NVIDIA GeForce RTX 3080 Ti"), "3080");
  EXPECT_EQ(card_family("NVIDIA H200"), "H200");
  EXPECT_EQ(card_family("Titan X"), "Titan X");
  EXPECT_EQ(card_family(""), "");
}

}  // namespace
}  // namespace hypermile
