// SPDX-License-Identifier: Apache-2.0
//
// Reads a file as a whole, and writes what a person asked for into the path that the person gave.
// Every page, table, model and statement is written here: scripts/check-writers lets no other
// source write a file as a whole. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

// nullopt if it cannot be opened or read. A folder can be opened but not read, and so can a file
// of a process that has ended; a standard stream would throw there.
std::optional<std::string> read_whole_file(const std::string& path);

// Writes `text` to `path`. A plain file is replaced when its successor is whole, so that a full
// disk leaves the earlier one unchanged; the successor keeps its mode and owner. Behind a symbolic
// link, the file that the link names is replaced. What cannot be replaced is written to in its
// place: a device or a pipe, such as /dev/null or /dev/stdout, a file in a folder that we may not
// write, a file that is a mount of its own. kIo with one line about `path` otherwise.
Result<void> write_whole_file(const std::string& path, std::string_view text);

}  // namespace hypermile
