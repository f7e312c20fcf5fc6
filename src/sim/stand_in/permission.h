// SPDX-License-Identifier: Apache-2.0
//
// Decides who may change settings on the stand-in: root, and the users in the permission file, one
// user id or name per line; "#" starts a comment. Real cards require a capability instead; the file
// lets tests try both cases without being root. Cannot fail.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hypermile {

// True if `text`, the content of a permission file, names the user with this id and name. An empty
// `name` means a user unknown to the system.
bool permission_names(std::string_view text, uid_t uid, std::string_view name);

// True if the effective user of this process may change settings. An unreadable file names nobody.
bool process_may_set(const std::string& permission_file);

}  // namespace hypermile
