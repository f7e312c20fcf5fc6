// SPDX-License-Identifier: Apache-2.0
//
// Takes a guardian out of every control group that a batch system, a login manager or a container
// engine may kill, freeze or starve. The guardian's session calls it once, before any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

// One line of /proc/PID/cgroup: a hierarchy and where in it the process is.
struct Membership {
  std::string controllers;  // "freezer", "cpu,cpuacct", "name=systemd"; "" is cgroup v2
  std::string path;
};
std::vector<Membership> parse_memberships(std::string_view proc_cgroup);

// A mounted hierarchy, from /proc/PID/mountinfo.
struct Hierarchy {
  std::string folder;       // mount point
  std::string controllers;  // as in Membership
};
// Mounts that show only a part of their hierarchy are left out: their top is no way out.
std::vector<Hierarchy> parse_hierarchies(std::string_view mountinfo);

// Leaves every hierarchy, v1 and v2: with systemd's help where it runs (a scope of its own), else
// by moving this process to the top, or in v2 to a group of its own. kPermission names the groups
// that could not be left: whoever ends such a group ends this process together with its owner.
Result<void> leave_control_groups();

}  // namespace hypermile
