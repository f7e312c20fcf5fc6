// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/process_permission.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(AdminCapability, IsReadFromTheEffectiveSetNotTheUser) {
  EXPECT_TRUE(has_admin_capability("Uid:\t1000\nCapPrm:\t0\nCapEff:\t0000000000200000\n"));
  EXPECT_TRUE(has_admin_capability("Uid:\t0\nCapEff:\t000001ffffffffff\n"));
  EXPECT_FALSE(has_admin_capability("Uid:\t0\nCapEff:\t00000000a80425fb\n")) << "container root";
  EXPECT_FALSE(has_admin_capability("CapPrm:\t0000000000200000\nCapEff:\t0\n"));
  EXPECT_FALSE(has_admin_capability(""));
  EXPECT_FALSE(has_admin_capability("CapEff:"));
}

TEST(UserNamespace, OnlyTheInitialOneMapsEveryUserToItself) {
  EXPECT_TRUE(in_initial_user_namespace("         0          0 4294967295\n"));
  EXPECT_FALSE(in_initial_user_namespace("         0       1000          1\n"));
  EXPECT_FALSE(in_initial_user_namespace(""));
}

}  // namespace
}  // namespace hypermile
