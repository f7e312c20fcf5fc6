// SPDX-License-Identifier: Apache-2.0
#include "inject/stale_rings.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "inject/folder_names.h"
#include "inject/ring_folder.h"

namespace hypermile {
namespace {

constexpr std::size_t kRandomPart = 6;  // random characters that mkdtemp() adds

bool is_folder_name(std::string_view name) {
  const std::string_view prefix = RingFolder::kPrefix;
  return name.starts_with(prefix) && name.size() == prefix.size() + kRandomPart &&
         std::ranges::all_of(name.substr(prefix.size()),
                             [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool lives(pid_t pid) {
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

bool has_living_writer(int folder, uid_t owner) {
  bool found = false;
  for_each_name(folder, [&](const std::string& name) {
    const Result<RingReader> ring = RingReader::open(folder, name, owner);
    const Result<RingInfo> info = ring ? ring->info() : Result<RingInfo>(ring.error());
    found = info && lives(info->pid);
    return !found;
  });
  return found;
}

// Whether the folder belongs to this user and nobody uses it. The exclusive lock lasts until the
// descriptor is closed; whoever tries to hold the folder meanwhile makes another one.
bool is_stale(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & 0777U) == 0700U && ::flock(folder, LOCK_EX | LOCK_NB) == 0 &&
         !has_living_writer(folder, status.st_uid);
}

bool remove_if_stale(int parent, const std::string& name) {
  const Descriptor folder(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || !is_stale(folder.get())) return false;
  for_each_name(folder.get(), [&](const std::string& file) {
    ::unlinkat(folder.get(), file.c_str(), 0);
    return true;
  });
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace

std::size_t remove_stale_rings(const std::string& parent) {
  const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return 0;
  std::size_t removed = 0;
  for_each_name(folder.get(), [&](const std::string& name) {
    if (is_folder_name(name) && remove_if_stale(folder.get(), name)) ++removed;
    return true;
  });
  return removed;
}

std::size_t remove_stale_rings() {
  std::size_t removed = 0;
  for (const std::string& parent : RingFolder::parents()) removed += remove_stale_rings(parent);
  return removed;
}

}  // namespace hypermile
