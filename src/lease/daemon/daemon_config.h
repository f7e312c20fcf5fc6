// SPDX-License-Identifier: Apache-2.0
//
// Reads hypermiled.toml, the daemon's only configuration: the allow-list, the site's baseline and a
// few limits (docs/guide/administrator.md). The daemon reads it at start and on reload, a guardian
// for the baseline. A file with any mistake is refused as a whole, with the line.
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

// The values to which some GPUs are restored: the administrator's own caps instead of the driver's
// defaults.
struct Baseline {
  std::set<GpuUuid> gpus = {};  // empty means all
  Setting setting;
};

struct DaemonConfig {
  AllowList allow;
  std::vector<Baseline> baselines;
  // What a user may do with the GPUs of their running batch job (job_rights.h), where [slurm] says
  // so.
  std::optional<Rights> job_rights = {};
  std::size_t connections = 2048;         // open at one time
  std::size_t connections_per_user = 64;  // root is exempt
  Seconds longest_ttl = Seconds(60);      // between two renewals
  std::vector<std::string> warnings;      // users and groups that this machine does not know

  // The setting of the first entry that names the GPU; empty if none does.
  Setting baseline(const GpuUuid& gpu) const;
};

// Looks up user and group names. Tests and the fuzzer supply their own.
struct AccountNames {
  std::function<std::optional<uid_t>(const std::string&)> user;
  std::function<std::optional<gid_t>(const std::string&)> group;
};
AccountNames machine_accounts();

// `file` is the name used in messages.
Result<DaemonConfig> parse_daemon_config(std::string_view text, const std::string& file,
                                         const AccountNames& names);

// The file must belong to root or to this process's user and be writable by nobody else. A missing
// file is an empty configuration, which allows nothing to anybody except root.
Result<DaemonConfig> read_daemon_config(const std::string& path, const AccountNames& names);

}  // namespace hypermile
