// SPDX-License-Identifier: Apache-2.0
//
// The folder in which the processes of one job put their rings. The controller makes it, passes its
// path to the job in HYPERMILE_RING_DIR, and polls it: every process that starts to use CUDA,
// however it was started, puts a ring there. Everybody who uses a folder holds a shared lock on it,
// which the kernel releases when the process ends; stale_rings.h removes folders that nobody holds.
// One thread uses a RingFolder.
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
  // Makes a folder (mode 0700) in the first of parents() where that works: those with plenty of
  // room in their order, then the roomiest. Fails where none has room for a ring that the job would
  // not miss. Folder and rings are removed with this object.
  static Result<RingFolder> make();
  // The same for a job of another user, who will write the rings. Only root can do this.
  static Result<RingFolder> make_for(uid_t owner, gid_t group);
  // Opens a folder that another hypermile made and will remove, to attach to its job. This object
  // removes nothing from it, because the maker may not have read it yet.
  static Result<RingFolder> open(const std::string& path);

  RingFolder(RingFolder&& other) noexcept;
  RingFolder& operator=(RingFolder&&) = delete;
  RingFolder(const RingFolder&) = delete;
  RingFolder& operator=(const RingFolder&) = delete;
  ~RingFolder();

  const std::string& path() const { return path_; }

  // Where folders are made, and how their names begin; six random characters follow.
  static std::vector<std::string> parents();
  static constexpr const char* kPrefix = "hypermile-rings-";

  // Opens the rings that appeared since the last call; costs one system call if there are none. At
  // most kMostRings are open at once; broken files are refused once and then ignored. Pointers are
  // valid until forget().
  std::vector<RingReader*> discover();

  // For a process that has ended and whose ring was drained: closes the ring and, if make() made
  // the folder, removes its file.
  void forget(const RingReader* ring);

  const std::vector<std::unique_ptr<RingReader>>& rings() const { return rings_; }
  // Files that looked like rings but were refused.
  const std::vector<std::string>& refused() const { return refused_; }

  // Following one costs about 5 MB, so at most 0.7 GB. A machine of 16 GPUs runs fewer processes.
  static constexpr std::size_t kMostRings = 128;

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
  std::vector<std::string> left_;  // forgotten rings whose files the folder's maker will remove
};

}  // namespace hypermile
