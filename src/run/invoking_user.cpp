// SPDX-License-Identifier: Apache-2.0
#include "run/invoking_user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <charconv>

namespace hypermile {
namespace {

constexpr std::size_t kMostPasswdBytes = 1 << 16;
constexpr int kMostGroups = 1 << 16;

Error nobody(const std::string& what) {
  return Error{ErrorCode::kPermission, what + ", and a job is never run as root for somebody else",
               "run hypermile without sudo, or from a root shell if the job is to run as root"};
}

Result<uid_t> parse_uid(const std::string& text) {
  uid_t uid = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (problem != std::errc() || end != text.data() + text.size()) {
    return nobody(fmt::format("SUDO_UID is '{}', not a user's number", text));
  }
  return uid;
}

std::vector<gid_t> groups_of(const char* name, gid_t gid) {
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  // Where there is no room for all groups, the call sets `count` to their number.
  while (::getgrouplist(name, gid, groups.data(), &count) < 0 && count < kMostGroups) {
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

Result<std::optional<JobUser>> invoking_user(uid_t effective, const Environment& environment) {
  const std::optional<std::string> text = environment.get("SUDO_UID");
  if (effective != 0 || !text) return std::optional<JobUser>();
  ASSIGN_OR_RETURN(const uid_t uid, parse_uid(*text));
  if (uid == 0) return std::optional<JobUser>();
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> storage(kMostPasswdBytes);
  if (::getpwuid_r(uid, &entry, storage.data(), storage.size(), &found) != 0 || found == nullptr) {
    return nobody(fmt::format("SUDO_UID names user {}, whom the user database does not know", uid));
  }
  JobUser user;
  user.uid = uid;
  user.gid = found->pw_gid;
  user.groups = groups_of(found->pw_name, found->pw_gid);
  user.name = found->pw_name;
  user.home = found->pw_dir;
  user.shell = found->pw_shell;
  return std::optional(std::move(user));
}

void become(const JobUser& user, Environment& environment) {
  environment.set("HOME", user.home);
  environment.set("USER", user.name);
  environment.set("LOGNAME", user.name);
  environment.set("SHELL", user.shell);
  for (const char* name : {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_HOME"}) {
    environment.unset(name);
  }
}

}  // namespace hypermile
