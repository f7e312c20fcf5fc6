// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "inject/folder_names.h"
#include "inject/free_bytes.h"

namespace hypermile {
namespace {

// File time stamps advance in timer ticks, so a file made in the same tick as the last change that
// we saw would go unnoticed.
constexpr double kSettleSeconds = 0.05;
constexpr int kAttempts = 8;
// As many rings as are followed, and as much again for the job.
constexpr std::uint64_t kPlenty = 2 * RingFolder::kMostRings * kLargeRing.file_size();

struct Parent {
  std::string path;
  std::uint64_t free = 0;  // bytes
};

// Where a folder may be made, the best place first.
std::vector<Parent> parents_with_room() {
  std::vector<Parent> found;
  for (std::string& path : RingFolder::parents()) {
    const std::uint64_t free = free_bytes_at(path.c_str());
    if (extent_for(free) != nullptr) found.push_back({std::move(path), free});
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const Parent& each) { return std::min(each.free, kPlenty); });
  return found;
}

double seconds_between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) +
         static_cast<double>(to.tv_nsec - from.tv_nsec) * 1e-9;
}

// Opens an existing folder and locks it against removal by stale_rings.h for as long as the
// descriptor is open.
Descriptor hold(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return folder;
  // On a file system without locks, stale_rings.h removes nothing either.
  const bool taken = ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat status {};
  const bool there = ::fstat(folder.get(), &status) == 0 && status.st_nlink > 0;
  return taken || !there ? Descriptor() : std::move(folder);
}

}  // namespace

RingFolder::RingFolder(std::string path, Descriptor folder, uid_t owner, bool ours)
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

std::vector<std::string> RingFolder::parents() {
  std::vector<std::string> found;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime && *runtime == '/') found.emplace_back(runtime);
  found.insert(found.end(), {"/dev/shm", "/tmp"});
  return found;
}

Result<RingFolder> RingFolder::make() {
  for (const Parent& parent : parents_with_room()) {
    // stale_rings.h may take the folder between mkdtemp() and hold(); then another one is made.
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::string path = fmt::format("{}/{}XXXXXX", parent.path, kPrefix);
      if (!::mkdtemp(path.data())) break;  // with mode 0700
      if (Descriptor folder = hold(path)) {
        return RingFolder(std::move(path), std::move(folder), ::geteuid(), true);
      }
    }
  }
  return Error{ErrorCode::kIo,
               "cannot make a folder for shared memory in $XDG_RUNTIME_DIR, /dev/shm or /tmp",
               fmt::format("make one of them writable, with {} MB free",
                           kFreeForOneRing * kSmallRing.file_size() / 1'000'000 + 1)};
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
  Descriptor folder = hold(path);
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0)
    return Error{ErrorCode::kNotFound,
                 fmt::format("cannot open the folder {}: {}", path, std::strerror(errno)),
                 "start the job with `hypermile run`, which makes one"};
  if ((status.st_mode & 022U) != 0)
    return Error{ErrorCode::kPermission,
                 fmt::format("other users can write to the folder {}", path),
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
