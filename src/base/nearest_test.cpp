// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const std::vector<std::string> kGpus = {"rtx3080ti", "a4000", "v100-sxm2", "v100-pcie", "h200"};

TEST(NearestNames, FindsASlipOfOneLetter) {
  EXPECT_EQ(nearest_names("h20", kGpus), std::vector<std::string>{"h200"});
  EXPECT_EQ(nearest_names("RTX3080", kGpus), std::vector<std::string>{"rtx3080ti"});
}

TEST(NearestNames, OffersEveryNameThatContainsWhatWasTyped) {
  EXPECT_EQ(nearest_names("v100", kGpus), (std::vector<std::string>{"v100-pcie", "v100-sxm2"}));
}

TEST(Suggestion, ListsWhatIsKnownWhenNothingIsNear) {
  EXPECT_EQ(suggestion("banana", kGpus), "known: rtx3080ti, a4000, v100-sxm2, v100-pcie, h200");
  EXPECT_EQ(suggestion("h201", kGpus), "did you mean h200?");
  EXPECT_EQ(suggestion("h201", {}), "");
}

}  // namespace
}  // namespace hypermile
