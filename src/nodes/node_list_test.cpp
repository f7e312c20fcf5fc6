// SPDX-License-Identifier: Apache-2.0
#include "nodes/node_list.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

using Names = std::vector<std::string>;

TEST(NodeListTest, ExpandsWhatSlurmWrites) {
  EXPECT_EQ(*expand_node_list("n0"), Names({"n0"}));
  EXPECT_EQ(*expand_node_list("n[0-2,7],login"), Names({"n0", "n1", "n2", "n7", "login"}));
  EXPECT_EQ(*expand_node_list("gpu-[008-010]-ib"),
            Names({"gpu-008-ib", "gpu-009-ib", "gpu-010-ib"}));
  EXPECT_EQ(*expand_node_list("r[1-2]n[0-1]"), Names({"r1n0", "r1n1", "r2n0", "r2n1"}));
}

TEST(NodeListTest, RefusesWhatIsNoList) {
  for (const char* text : {"", "n[", "n[0-", "n[3-1]", "n[a]", "n0,,n1", "n[0-99999999]", "a b",
                           "n[0-9999]x[0-9999]", "../n0"}) {
    EXPECT_FALSE(expand_node_list(text)) << text;
  }
}

}  // namespace
}  // namespace hypermile
