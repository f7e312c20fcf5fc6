// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/permission.h"

#include <gtest/gtest.h>

#include "sim/stand_in/process_life.h"

namespace hypermile {
namespace {

TEST(Permission, NamesUsersByIdOrNameOneALine) {
  const char* file = "# who may set\n1000\n  ada \t# the administrator\r\n\n";

  EXPECT_TRUE(permission_names(file, 1000, "bob"));
  EXPECT_TRUE(permission_names(file, 1, "ada"));
  EXPECT_FALSE(permission_names(file, 100, "bob"));
  EXPECT_FALSE(permission_names(file, 1, "admin"));
}

TEST(Permission, AnEmptyLineNamesNobodyNotEvenAUserWithoutName) {
  EXPECT_FALSE(permission_names("\n\n", 1000, ""));
  EXPECT_FALSE(permission_names("", 1000, ""));
}

TEST(ProcessLife, ReadsTheStartTimeBehindAnyProgramName) {
  const char* tail = " S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 2000";

  EXPECT_EQ(start_time_of(std::string("42 (python3)") + tail), 98765U);
  EXPECT_EQ(start_time_of(std::string("42 (a) b (c)") + tail), 98765U);
}

TEST(ProcessLife, AZombieIsGone) {
  EXPECT_FALSE(start_time_of("42 (x) Z 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765"));
  EXPECT_FALSE(start_time_of(""));
  EXPECT_FALSE(start_time_of("42 (x) S 1"));
}

TEST(ProcessLife, KnowsItselfAndNotAnotherProcessWithItsPid) {
  const auto pid = static_cast<std::int32_t>(::getpid());

  EXPECT_TRUE(process_lives(pid, own_start_time()));
  EXPECT_FALSE(process_lives(pid, own_start_time() + 1));
  EXPECT_FALSE(process_lives(0, 0));
  EXPECT_FALSE(process_lives(-1, 0));
}

}  // namespace
}  // namespace hypermile
