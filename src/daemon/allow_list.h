// SPDX-License-Identifier: Apache-2.0
//
// Who may do what: the rules an administrator wrote down, asked by the daemon before every lease
// and every setting. Nothing is allowed that no rule allows. Pure data and decisions: reading the
// rules from a file is daemon_config's, knowing who calls is the socket's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"
#include "base/units.h"
#include "gpu/gpu.h"
#include "gpu/setting.h"

namespace hypermile {

// The process at the other end of a connection as the kernel vouches for it, never as it says.
struct Peer {
  uid_t uid = 0;
  std::vector<gid_t> groups = {};  // primary and supplementary
  pid_t pid = 0;                   // 0: not visible from here
};

// Inclusive, in the knob's unit (MHz or W).
struct Bounds {
  double min = 0;
  double max = 0;
  bool operator==(const Bounds&) const = default;
};

enum class Beyond { kDeny, kClamp };  // what becomes of a request outside the bounds

// What one caller may do with one GPU. A knob without bounds may not be moved.
struct Rights {
  std::optional<Bounds> sm_clock = {};
  std::optional<Bounds> memory_clock = {};
  std::optional<Bounds> power_limit = {};
  Beyond beyond = Beyond::kDeny;
  Seconds longest_lease = Seconds(24 * 3600.0);

  std::optional<Bounds> bounds(Knob knob) const;
  bool operator==(const Rights&) const = default;
};

// Every knob, any value the card takes: root's, and the owner's of a guardian.
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
  Subjects administrators;  // besides root

  // May end other people's leases, and close the machine to new ones.
  bool administrator(const Peer& peer) const;

  // Those of the first rule that names both; kPermission when there is none. Root is unlimited
  // unless a rule names it.
  Result<Rights> rights(const Peer& peer, const GpuUuid& gpu) const;
};

// `wanted` as far as `rights` and the site's `baseline` let it: the same, or clamped to the nearest
// clock that is both supported and allowed, or kPermission that names the bounds. Nobody gets above
// the baseline: it is the site's own cap.
Result<Setting> permitted(const Setting& wanted, const Rights& rights, const Setting& baseline,
                          const Capabilities& capabilities);

}  // namespace hypermile
