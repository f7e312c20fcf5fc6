// SPDX-License-Identifier: Apache-2.0
//
// Files that a privileged process may believe.
#pragma once

#include <string>

#include "base/result.h"

namespace hypermile {

// The content of a regular file, not a link, that belongs to root or to this process's user, that
// nobody else may write, and that has at most `most` bytes. kNotFound when there is none;
// kPermission, saying why, when it cannot be trusted.
Result<std::string> read_trusted_file(const std::string& path, std::size_t most);

}  // namespace hypermile
