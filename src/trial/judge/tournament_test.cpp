// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/tournament.h"

#include <gtest/gtest.h>

#include "testing/made_curves.h"

namespace hypermile {
namespace {

std::vector<Curve> two_curves() {
  std::vector<Curve> curves;
  for (const double share : {0.3, 0.9}) {
    curves.push_back(clock_curve([=](double y) { return 1 - share + share / y; },
                                 [](double y) { return 0.3 + 0.7 * y * y * y; }));
    curves.back().key.workload = share < 0.5 ? "light" : "heavy";
  }
  return curves;
}

TEST(Tournament, GivesTheSameResultsInTheSameOrderWhateverTheThreads) {
  const std::vector<Curve> curves = two_curves();
  const std::vector<std::string> policies = {"default", "fixed:90%", "oracle"};
  const auto one = hold_tournament(curves, policies, 3, Conditions{}, 1);
  const auto many = hold_tournament(curves, policies, 3, Conditions{}, 5);

  ASSERT_TRUE(one.ok() && many.ok());
  ASSERT_EQ(one->size(), 18U);
  for (std::size_t i = 0; i < one->size(); ++i) {
    EXPECT_EQ((*one)[i].policy, policies[i / 3 % 3]);
    EXPECT_EQ((*one)[i].repeat, i % 3);
    EXPECT_EQ((*one)[i].saved, (*many)[i].saved);
    EXPECT_EQ((*one)[i].probes, (*many)[i].probes);
  }
}

TEST(Tournament, NamesTheCurveOnWhichAPolicyIsRefused) {
  const std::vector<Curve> curves = two_curves();
  const std::vector<std::string> policies = {"fixed:sm=1"};
  const auto held = hold_tournament(curves, policies, 1, Conditions{}, 2);

  ASSERT_FALSE(held.ok());
  EXPECT_NE(held.error().message.find("test GPU/light"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
