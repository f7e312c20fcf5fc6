// SPDX-License-Identifier: Apache-2.0
//
// Reads files whose content a privileged process may trust.
#pragma once

#include <string>

#include "base/result.h"

namespace hypermile {

// The content of a regular file, not a link, that belongs to root or to this process's user, is
// writable by nobody else, and has at most `most` bytes. kNotFound when it is missing; kPermission,
// with the reason, when it cannot be trusted.
Result<std::string> read_trusted_file(const std::string& path, std::size_t most);

}  // namespace hypermile
