// SPDX-License-Identifier: Apache-2.0
//
// The folder of the journals; see daemon_process.h.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lease/daemon/daemon_process.h"

namespace hypermile {

std::string default_state_folder() {
  const char* folder = std::getenv("HYPERMILE_STATE");
  return folder != nullptr && *folder != '\0' ? folder : "/run/hypermile/state";
}

Result<void> prepare_state_folder(const std::string& folder) {
  std::error_code problem;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, problem);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kIo, fmt::format("cannot create {}: {}", folder, std::strerror(errno)),
                 "the daemon and guardians run as root"};
  }
  struct stat facts = {};
  if (::lstat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) ||
      facts.st_uid != ::geteuid() || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{ErrorCode::kPermission, folder + " is not a folder that only this user can write",
                 "find out who created it, then remove it"};
  }
  return {};
}

}  // namespace hypermile
