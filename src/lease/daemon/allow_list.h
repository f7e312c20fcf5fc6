// SPDX-License-Identifier: Apache-2.0
//
// The administrator's rules on who may change which GPU. The Service consults them before every
// lease; whatever no rule allows is denied. Plain data and decisions: daemon_config.h reads the
// rules from a file, peer.h identifies the caller.
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

// The process at the other end of a connection, as identified by the kernel rather than by itself.
struct Peer {
  uid_t uid = 0;
  std::vector<gid_t> groups = {};  // primary and supplementary
  pid_t pid = 0;                   // 0: not visible from this namespace
  // User 0 with CAP_SYS_ADMIN, who can change GPUs without us anyway. Root in a container is
  // usually not.
  bool privileged = false;
};

// What one caller may do with one GPU.
struct Rights {
  Bounds bounds;  // a knob without a range may not be changed
  Seconds longest_lease = Seconds(24 * 3600.0);
};

// Every knob, any value that the card accepts: for root, and for a guardian's owner.
Rights unlimited_rights();

struct Subjects {
  std::set<uid_t> users = {};
  std::set<gid_t> groups = {};
  bool everyone = false;

  bool include(const Peer& peer) const;
};

struct Rule {
  Subjects subjects;
  std::set<GpuUuid> gpus = {};  // empty means all
  Rights rights;
};

struct AllowList {
  std::vector<Rule> rules;
  Subjects administrators;  // in addition to privileged root

  // Administrators may end other users' leases and close the machine to new ones.
  bool administrator(const Peer& peer) const;

  // The rights of the first rule that names both `peer` and `gpu`; kPermission when there is none.
  // Privileged root is unlimited unless a rule names it.
  Result<Rights> rights(const Peer& peer, const GpuUuid& gpu) const;
};

// Limits `bounds` to the site's own cap, whatever a rule says. A knob whose whole range lies above
// the cap may not be changed.
Bounds capped(Bounds bounds, const Setting& baseline);

// What both allow; a value that either would move is in neither's range.
Bounds both(const Bounds& a, const Bounds& b);

}  // namespace hypermile
