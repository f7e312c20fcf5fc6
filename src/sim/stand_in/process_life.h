// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a process seen earlier still exists, by pid and start time, because pids are
// reused. A zombie counts as gone. Cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hypermile {

// The start time (clock ticks since boot) from the text of /proc/PID/stat; nullopt for a zombie or
// malformed text. The program name in it may contain blanks and parentheses.
std::optional<std::uint64_t> start_time_of(std::string_view stat);

// Start time of the calling process.
std::uint64_t own_start_time();

// Where /proc hides the process (hidepid), only its pid is checked.
bool process_lives(std::int32_t pid, std::uint64_t started);

}  // namespace hypermile
