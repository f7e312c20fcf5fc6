// SPDX-License-Identifier: Apache-2.0
//
// The folder of the journals and the folder of the socket; see daemon_process.h.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lease/daemon/daemon_process.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr mode_t kPrivate = 0700;
constexpr mode_t kShared = 0755;

// Modes are set explicitly, because the file mask is the starter's or ours.
Result<void> make_folder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    if (::chmod(path.c_str(), mode) == 0) return {};
  } else if (errno == EEXIST) {
    return {};
  }
  return Error{ErrorCode::kIo, fmt::format("cannot create {}: {}", path, std::strerror(errno)),
               "the daemon and guardians run as root"};
}

// Nobody else may be able to replace what lies in the folder. A sticky folder such as /tmp is open
// to all, but keeps each file to its owner.
Result<void> check_level(const std::string& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return Error{ErrorCode::kIo, fmt::format("cannot look at {}: {}", path, std::strerror(errno))};
  }
  const auto owned = [&] { return facts.st_uid == 0 || facts.st_uid == ::geteuid(); };
  const bool trusted_link = S_ISLNK(facts.st_mode) && owned() && ::stat(path.c_str(), &facts) == 0;
  const bool open_to_others =
      (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (facts.st_mode & S_ISVTX) == 0;
  if ((!trusted_link && S_ISLNK(facts.st_mode)) || !S_ISDIR(facts.st_mode) || !owned() ||
      open_to_others) {
    return Error{ErrorCode::kPermission, path + " is not a folder that only this user can write",
                 "find out who created it, then remove it or run 'chmod go-w'"};
  }
  return {};
}

// Creates what is missing and checks every level above the last one.
Result<void> make_levels(const std::filesystem::path& folder, mode_t mode) {
  std::filesystem::path level;
  for (const std::filesystem::path& part : folder) {
    level /= part;
    const bool last = level == folder;
    RETURN_IF_ERROR(make_folder(level.string(), last ? mode : kShared));
    if (!last) RETURN_IF_ERROR(check_level(level.string()));
  }
  return {};
}

// Whether nothing else than journals and locks lies there, so that the folder is ours to close.
bool holds_only_journals(const std::string& folder) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    const bool ours =
        name.ends_with(".lock") || name == "jobs" || name.find(".journal") != std::string::npos;
    if (!ours) return false;
  }
  return !problem;
}

}  // namespace

std::string default_state_folder() {
  const char* folder = std::getenv("HYPERMILE_STATE");
  return folder != nullptr && *folder != '\0' ? folder : "/run/hypermiled";
}

Result<void> prepare_state_folder(const std::string& folder) {
  RETURN_IF_ERROR(make_levels(folder, kPrivate));
  struct stat facts = {};
  const bool plain = ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
  if (!plain || facts.st_uid != ::geteuid()) {
    return Error{ErrorCode::kPermission, folder + " is not a folder of this user",
                 "find out who created it, then remove it"};
  }
  if ((facts.st_mode & 07777) == kPrivate) return {};
  // Whatever mask or older version made the folder, nobody else needs to look into it. A folder of
  // the machine, such as /tmp or /run, was named by mistake and must not be closed to all.
  if (!holds_only_journals(folder)) {
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
    return Error{ErrorCode::kUsage, folder + " is open to others and holds more than journals",
                 "name a folder of its own with --state"};
  }
  if (::chmod(folder.c_str(), kPrivate) != 0) return check_level(folder);
  return {};
}

Result<void> prepare_socket_folder(const std::string& socket) {
  const std::string folder = std::filesystem::path(socket).parent_path().string();
  if (folder.empty()) return {};
  RETURN_IF_ERROR(make_levels(folder, kShared));
  // The installed folder is the daemon's own; one that an administrator chose keeps its mode.
  if (socket == kInstalledSocket) ::chmod(folder.c_str(), kShared);
  return {};
}

}  // namespace hypermile
