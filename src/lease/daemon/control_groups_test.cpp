// SPDX-License-Identifier: Apache-2.0
//
// Reading where a process is; tests/lease/inherited_test.cpp leaves real groups.
#include "lease/daemon/control_groups.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(ControlGroups, ReadsV1AndV2Memberships) {
  const auto all = parse_memberships(
      "9:name=systemd:/user.slice/session-1.scope\n4:cpu,cpuacct:/slurm/uid_1/job_7\n"
      "0::/a:b\nnonsense\n");

  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].controllers, "name=systemd");
  EXPECT_EQ(all[1].controllers, "cpu,cpuacct");
  EXPECT_EQ(all[1].path, "/slurm/uid_1/job_7");
  EXPECT_EQ(all[2].controllers, "") << "cgroup v2";
  EXPECT_EQ(all[2].path, "/a:b");
}

TEST(ControlGroups, FindsMountsThatShowTheirWholeHierarchy) {
  const auto all = parse_hierarchies(
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
      "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime shared:9 - cgroup cgroup rw,freezer\n"
      "38 31 0:35 /docker/1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\nnonsense\n");

  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].folder, "/sys/fs/cgroup/freezer");
  EXPECT_EQ(all[0].controllers, "rw,freezer");
  EXPECT_EQ(all[1].folder, "/sys/fs/cgroup/unified");
  EXPECT_EQ(all[1].controllers, "");
}

}  // namespace
}  // namespace hypermile
