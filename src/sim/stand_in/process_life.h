// SPDX-License-Identifier: Apache-2.0
//
// Is a process that was seen before still there? Told by pid and start time, because pids are used
// again. A zombie counts as gone: it runs nothing any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hypermile {

// The start time (clock ticks since boot) from the text of /proc/PID/stat; nullopt for a zombie and
// for text that is not one. The program's name in it may hold blanks and parentheses.
std::optional<std::uint64_t> start_time_of(std::string_view stat);

// Of the calling process.
std::uint64_t own_start_time();

// Where /proc does not show the process (hidepid) only its pid counts.
bool process_lives(std::int32_t pid, std::uint64_t started);

}  // namespace hypermile
