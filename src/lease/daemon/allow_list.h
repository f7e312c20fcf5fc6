// SPDX-License-Identifier: Apache-2.0
//
// Who may do what: the rules an administrator wrote down, asked by the daemon before every lease
// and every setting. Nothing is allowed that no rule allows. Pure data and decisions: reading the
// rules from a file is daemon_config's, knowing who calls is the socket's.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"
#include "base/units.h"
#include "gpu/setting.h"
#include "lease/lease.h"

namespace hypermile {

// The process at the other end of a connection as the kernel vouches for it, never as it says.
struct Peer {
  uid_t uid = 0;
  std::vector<gid_t> groups = {};  // primary and supplementary
  pid_t pid = 0;                   // 0: not visible from here
  // User 0 with CAP_SYS_ADMIN, who could change GPUs without us. Root in a container is mostly not.
  bool privileged = false;
};

// What one caller may do with one GPU.
struct Rights {
  Bounds bounds;  // a knob without a range may not be moved
  Seconds longest_lease = Seconds(24 * 3600.0);
};

// Every knob, any value the card takes: root's, and those of a guardian's owner.
Rights unlimited_rights();

struct Subjects {
  std::set<uid_t> users = {};
  std::set<gid_t> groups = {};
  bool everyone = false;

  bool include(const Peer& peer) const;
};

struct Rule {
  Subjects subjects;
  std::set<GpuUuid> gpus = {};  // empty: all of them
  Rights rights;
};

struct AllowList {
  std::vector<Rule> rules;
  Subjects administrators;  // besides privileged root

  // May end other people's leases, and close the machine to new ones.
  bool administrator(const Peer& peer) const;

  // Those of the first rule that names both; kPermission when there is none. Privileged root is
  // unlimited unless a rule names it.
  Result<Rights> rights(const Peer& peer, const GpuUuid& gpu) const;
};

// Nobody gets above the site's own cap, whatever a rule says; a knob whose whole range lies above
// it may not be moved.
Bounds capped(Bounds bounds, const Setting& baseline);

}  // namespace hypermile
