// SPDX-License-Identifier: Apache-2.0
#include "lease/lock_holder.h"

#include <cerrno>
#include <charconv>
#include <csignal>

#include "base/proc_file.h"

namespace hypermile {

bool names_living_keeper(std::string_view holder) {
  constexpr std::string_view kBefore = "(pid ";
  const std::size_t at = holder.rfind(kBefore);
  if (at == holder.npos) return false;
  const std::string_view digits = holder.substr(at + kBefore.size());
  pid_t pid = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (problem != std::errc() || pid <= 0) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  // Where /proc hides the process, it counts as a keeper.
  return read_proc_file(pid, "comm").value_or("hypermile").starts_with("hypermile");
}

}  // namespace hypermile
