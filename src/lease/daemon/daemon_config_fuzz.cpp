// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the daemon's configuration: any text gives an error with file and line, or rules that
// answer for every user, where a user that is not named is denied.
#include <cstdlib>
#include <string_view>

#include "lease/daemon/daemon_config.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace hypermile;
  const AccountNames names{[](const std::string& name) {
                             return name.size() == 1 ? std::optional<uid_t>(1000) : std::nullopt;
                           },
                           [](const std::string& name) {
                             return name.size() == 1 ? std::optional<gid_t>(1000) : std::nullopt;
                           }};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = parse_daemon_config(text, "f.toml", names);
  if (!config) {
    if (!config.error().message.starts_with("f.toml:")) std::abort();
    return 0;
  }
  const GpuUuid gpu("GPU-1");
  const uid_t nobody = 4'000'000'001;
  bool named = config->allow.administrators.users.contains(nobody) ||
               config->allow.administrators.groups.contains(nobody);
  for (const Rule& rule : config->allow.rules) {
    named = named || rule.subjects.everyone || rule.subjects.users.contains(nobody) ||
            rule.subjects.groups.contains(nobody);
    for (const auto& range : {rule.rights.bounds.sm_clock, rule.rights.bounds.memory_clock,
                              rule.rights.bounds.power_limit}) {
      if (range && !(range->min > 0 && range->min <= range->max)) std::abort();
    }
    if (!(rule.rights.longest_lease > Seconds(0))) std::abort();
    (void)capped(rule.rights.bounds, config->baseline(gpu));
  }
  const Peer stranger{nobody, {nobody}, 1, false};
  if (!named && config->allow.rights(stranger, gpu).ok()) std::abort();
  if (!named && config->allow.administrator(stranger)) std::abort();
  return 0;
}
