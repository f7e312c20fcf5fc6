// SPDX-License-Identifier: Apache-2.0
//
// Whether this process may change a GPU's settings. NVIDIA's kernel module requires CAP_SYS_ADMIN
// in the initial user namespace, not user 0: root in a container often lacks it, and a service user
// may have it. Nothing here fails; in doubt the answer is no.
#pragma once

#include <string_view>

namespace hypermile {

// Whether `status`, the text of /proc/PID/status, lists CAP_SYS_ADMIN as an effective capability.
bool has_admin_capability(std::string_view status);

// Whether `uid_map`, the text of /proc/PID/uid_map, belongs to the initial user namespace.
bool in_initial_user_namespace(std::string_view uid_map);

// Both of the above for this process; false if /proc cannot be read.
bool process_is_admin();

}  // namespace hypermile
