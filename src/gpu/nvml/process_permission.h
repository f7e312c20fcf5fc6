// SPDX-License-Identifier: Apache-2.0
//
// May this process change a GPU's settings? NVIDIA's kernel module asks for CAP_SYS_ADMIN in the
// initial user namespace, not for user 0: root in a container often lacks it, and a service user
// may have it.
#pragma once

#include <string_view>

namespace hypermile {

// Is CAP_SYS_ADMIN among the effective capabilities of `status`, the text of /proc/PID/status?
bool has_admin_capability(std::string_view status);

// Is `uid_map`, the text of /proc/PID/uid_map, that of the initial user namespace?
bool in_initial_user_namespace(std::string_view uid_map);

// The two above for this process; false when /proc cannot be read.
bool process_is_admin();

}  // namespace hypermile
