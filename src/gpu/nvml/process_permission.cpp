// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/process_permission.h"

#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>

#include "base/whole_file.h"

namespace hypermile {
namespace {

constexpr unsigned kCapSysAdmin = 21;

}  // namespace

bool has_admin_capability(std::string_view status) {
  constexpr std::string_view kKey = "CapEff:";
  const std::size_t line = status.find(kKey);
  if (line == status.npos) return false;
  std::string_view rest = status.substr(line + kKey.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bits, 16);
  return error == std::errc() && (bits >> kCapSysAdmin & 1U) != 0;
}

bool in_initial_user_namespace(std::string_view uid_map) {
  std::istringstream text{std::string(uid_map)};
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  return text >> inside >> outside >> count && inside == 0 && outside == 0 && count == 0xFFFFFFFFU;
}

bool process_is_admin() {
  return has_admin_capability(read_whole_file("/proc/self/status").value_or("")) &&
         in_initial_user_namespace(read_whole_file("/proc/self/uid_map").value_or(""));
}

}  // namespace hypermile
