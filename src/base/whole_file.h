// SPDX-License-Identifier: Apache-2.0
//
// Writes what a person asked for into the path that the person gave.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

// Writes `text` to `path`. A plain file is replaced when its successor is whole, so that a full
// disk leaves the earlier one unchanged; behind a symbolic link, the file that the link names is
// replaced. A file that cannot be replaced, as in a folder that takes no new files, is written to.
// A device or a pipe, such as /dev/null or /dev/stdout, is written to and never replaced.
// kIo with one line about `path` otherwise.
Result<void> write_whole_file(const std::string& path, std::string_view text);

}  // namespace hypermile
