// SPDX-License-Identifier: Apache-2.0
//
// Who may set on the stand-in: root, and whoever the permission file names, one user id or user
// name a line, "#" starts a comment. Real cards ask the kernel for a capability instead; here a
// file plays the administrator so that both answers can be tested without being one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace hypermile {

// Does `text`, a permission file's content, name the user with this id and name? A name of "" is
// that of a user the system does not know.
bool permission_names(std::string_view text, uid_t uid, std::string_view name);

// May the calling process, by its effective user, set? A file that cannot be read names nobody.
bool process_may_set(const std::string& permission_file);

}  // namespace hypermile
