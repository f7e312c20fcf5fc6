// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace hypermile {
namespace {

// Time stamps of files move in steps of a timer tick: a file made within the same step as the last
// change we saw would not show.
constexpr double kSettleSeconds = 0.05;

double seconds_between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) +
         static_cast<double>(to.tv_nsec - from.tv_nsec) * 1e-9;
}

template <class Visit>
void for_each_name(int folder, Visit visit) {
  // A descriptor of its own, because closedir() closes it and readdir() moves it.
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  DIR* entries = ::fdopendir(fd);
  if (!entries) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(std::string(name))) break;
  }
  ::closedir(entries);
}

}  // namespace

RingFolder::RingFolder(std::string path, FileDescriptor folder, uid_t owner, bool ours)
    : path_(std::move(path)), folder_(std::move(folder)), owner_(owner), ours_(ours) {}

RingFolder::RingFolder(RingFolder&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::move(other.folder_)),
      owner_(other.owner_),
      ours_(std::exchange(other.ours_, false)),
      seen_change_(other.seen_change_),
      settled_(other.settled_),
      rings_(std::move(other.rings_)),
      refused_(std::move(other.refused_)),
      left_(std::move(other.left_)) {}

RingFolder::~RingFolder() {
  if (!ours_) return;
  for_each_name(folder_.get(), [this](const std::string& name) {
    ::unlinkat(folder_.get(), name.c_str(), 0);
    return true;
  });
  ::rmdir(path_.c_str());
}

Result<RingFolder> RingFolder::make() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  for (const char* parent : {runtime, "/dev/shm", "/tmp"}) {
    if (!parent || *parent != '/') continue;
    std::string path = fmt::format("{}/hypermile-XXXXXX", parent);
    if (!::mkdtemp(path.data())) continue;  // makes it 0700
    auto folder = open(path);
    if (!folder) return folder.error();
    folder->ours_ = true;
    return folder;
  }
  return Error{ErrorCode::kIo,
               "no folder for shared memory can be made in $XDG_RUNTIME_DIR, /dev/shm or /tmp",
               "make one of them writable"};
}

Result<RingFolder> RingFolder::make_for(uid_t owner, gid_t group) {
  auto folder = make();
  if (!folder) return folder;
  if (::fchown(folder->folder_.get(), owner, group) != 0)
    return Error{ErrorCode::kPermission,
                 fmt::format("the folder {} cannot be given to user {}: {}", folder->path(), owner,
                             std::strerror(errno)),
                 "run hypermile without sudo"};
  folder->owner_ = owner;
  return folder;
}

Result<RingFolder> RingFolder::open(const std::string& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0)
    return Error{ErrorCode::kNotFound,
                 fmt::format("cannot open the folder {}: {}", path, std::strerror(errno)),
                 "start the job with `hypermile run`, which makes one"};
  if ((status.st_mode & 022U) != 0)
    return Error{ErrorCode::kPermission, fmt::format("others may write to the folder {}", path),
                 "use a folder that only its owner can write to (chmod 700)"};
  return RingFolder(path, std::move(folder), status.st_uid, false);
}

bool RingFolder::known(const std::string& name) const {
  return std::any_of(rings_.begin(), rings_.end(),
                     [&](const auto& ring) { return ring->file_name() == name; }) ||
         std::find(refused_.begin(), refused_.end(), name) != refused_.end() ||
         std::find(left_.begin(), left_.end(), name) != left_.end();
}

std::vector<RingReader*> RingFolder::discover() {
  struct stat status {};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (::fstat(folder_.get(), &status) != 0) return {};
  if (settled_ && seconds_between(seen_change_, status.st_mtim) == 0) return {};
  seen_change_ = status.st_mtim;
  settled_ = seconds_between(status.st_mtim, now) > kSettleSeconds;

  std::vector<RingReader*> found;
  for_each_name(folder_.get(), [&](const std::string& name) {
    if (rings_.size() >= kMostRings || refused_.size() >= kMostRings) return false;
    if (!name.ends_with(kRingSuffix) || known(name)) return true;
    auto ring = RingReader::open(folder_.get(), name, owner_, !ours_);
    if (ring) {
      rings_.push_back(std::make_unique<RingReader>(std::move(*ring)));
      found.push_back(rings_.back().get());
    } else {
      refused_.push_back(name);
    }
    return true;
  });
  return found;
}

void RingFolder::forget(const RingReader* ring) {
  const auto at = std::find_if(rings_.begin(), rings_.end(),
                               [&](const auto& held) { return held.get() == ring; });
  if (at == rings_.end()) return;
  if (ours_) {
    ::unlinkat(folder_.get(), (*at)->file_name().c_str(), 0);
  } else {
    left_.push_back((*at)->file_name());
  }
  rings_.erase(at);
}

}  // namespace hypermile
