// SPDX-License-Identifier: Apache-2.0
//
// hypermiled.toml, the daemon's only configuration: the allow-list, the site's baseline and a few
// limits (docs/guide/administrator.md). Read at start and on reload by the daemon, and for its
// baseline by a guardian. A file with any mistake in it is refused as a whole, with the line.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lease/daemon/allow_list.h"

namespace hypermile {

// What "restored" means for some GPUs: the administrator's own cap rather than the driver's
// default.
struct Baseline {
  std::set<GpuUuid> gpus = {};  // empty: all of them
  Setting setting;
};

struct DaemonConfig {
  AllowList allow;
  std::vector<Baseline> baselines;
  std::size_t connections = 2048;         // at one time
  std::size_t connections_per_user = 64;  // root is not counted
  Seconds longest_ttl = Seconds(60);      // between two renewals
  std::vector<std::string> warnings;      // users and groups this machine does not know

  // That of the first entry that names the GPU; empty where none does.
  Setting baseline(const GpuUuid& gpu) const;
};

// How names become numbers. Tests and the fuzzer bring their own.
struct AccountNames {
  std::function<std::optional<uid_t>(const std::string&)> user;
  std::function<std::optional<gid_t>(const std::string&)> group;
};
AccountNames machine_accounts();

// `file` is for messages.
Result<DaemonConfig> parse_daemon_config(std::string_view text, const std::string& file,
                                         const AccountNames& names);

// The file must belong to root or to this process's user and be writable by nobody else. One that
// is not there is an empty configuration: nobody but root is allowed anything.
Result<DaemonConfig> read_daemon_config(const std::string& path, const AccountNames& names);

}  // namespace hypermile
