// SPDX-License-Identifier: Apache-2.0
//
// The folder in which the processes of one job leave their rings. The controller makes it, names it
// to the job in HYPERMILE_RING_DIR and looks into it now and then: every process that comes to use
// CUDA, forked, exec'ed or started by another, leaves a ring there and is found. Whoever uses a
// folder holds a shared lock on it, which ends with its process however that ends: ring_sweep.h
// removes what nobody holds.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "inject/ring_reader.h"

namespace hypermile {

class RingFolder {
 public:
  // A new folder (0700) below $XDG_RUNTIME_DIR, /dev/shm or /tmp, the first that can be had; it and
  // its rings go when this object does.
  static Result<RingFolder> make();
  // The same for a job of another user, who will write the rings; only root can.
  static Result<RingFolder> make_for(uid_t owner, gid_t group);
  // A folder that somebody else made and will remove, as of a job to attach to. Nothing is removed
  // from it here, because its maker may not have read it yet.
  static Result<RingFolder> open(const std::string& path);

  RingFolder(RingFolder&& other) noexcept;
  RingFolder& operator=(RingFolder&&) = delete;
  RingFolder(const RingFolder&) = delete;
  RingFolder& operator=(const RingFolder&) = delete;
  ~RingFolder();

  const std::string& path() const { return path_; }

  // Where folders are made, and how their names begin; six characters follow.
  static std::vector<std::string> parents();
  static constexpr const char* kPrefix = "hypermile-rings-";

  // Opens rings that appeared since the last call; costs one system call when none did. At most
  // kMostRings are held; broken files are passed over, once each. Returned pointers live until
  // forget().
  std::vector<RingReader*> discover();

  // Of a process that has ended and whose ring was drained: closes it and, in a folder that was
  // made here, removes its file.
  void forget(const RingReader* ring);

  const std::vector<std::unique_ptr<RingReader>>& rings() const { return rings_; }
  // Files that looked like rings and were refused.
  const std::vector<std::string>& refused() const { return refused_; }

  static constexpr std::size_t kMostRings = 256;

 private:
  RingFolder(std::string path, Descriptor folder, uid_t owner, bool ours);
  bool known(const std::string& name) const;

  std::string path_;
  Descriptor folder_;
  uid_t owner_ = 0;
  bool ours_ = false;
  timespec seen_change_{};
  bool settled_ = false;  // the last look came long enough after the folder's last change
  std::vector<std::unique_ptr<RingReader>> rings_;
  std::vector<std::string> refused_;
  std::vector<std::string> left_;  // forgotten, and left to the folder's maker
};

}  // namespace hypermile
