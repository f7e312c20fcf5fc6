// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/process_life.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>

#include "base/proc_file.h"

namespace hypermile {
namespace {

// nullopt where /proc does not show the process.
std::optional<std::string> read_stat(std::int32_t pid) {
  return read_proc_file(pid, "stat");
}

}  // namespace

std::optional<std::uint64_t> start_time_of(std::string_view stat) {
  constexpr int kFieldsBetween = 18;  // from field 3, the state, to field 22
  const std::size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return std::nullopt;
  std::istringstream fields{std::string(stat.substr(name_end + 1))};
  char state = 0;
  fields >> state;
  if (state == 'Z' || state == 'X') return std::nullopt;
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  std::uint64_t started = 0;
  if (!(fields >> started)) return std::nullopt;
  return started;
}

std::uint64_t own_start_time() {
  const auto stat = read_stat(::getpid());
  return stat ? start_time_of(*stat).value_or(0) : 0;
}

bool process_lives(std::int32_t pid, std::uint64_t started) {
  if (pid <= 0) return false;
  if (const auto stat = read_stat(pid)) return start_time_of(*stat) == started;
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace hypermile
