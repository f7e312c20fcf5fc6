// SPDX-License-Identifier: Apache-2.0
//
// The daemon's listening socket: creates it and accepts connections, even when no descriptors are
// left. Used by Server on the loop's thread.
#pragma once

#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

class Listener {
 public:
  // A Unix socket at `path` to which everybody may connect; the allow-list decides what they may
  // do. The lock at `lock_path`, a file of the state folder, ensures one daemon at a time, and a
  // socket left by a dead daemon is replaced. kBusy when another daemon serves there; kUsage
  // when something else than a socket lies at `path`, which stays as it is.
  static Result<std::unique_ptr<Listener>> open(const std::string& path,
                                                const std::string& lock_path);
  // Removes the socket's file.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return socket_.get(); }

  // The next connection, or kNotReady when there is none. Without free descriptors it refuses the
  // client at once instead of leaving it waiting, and returns kIo.
  Result<Descriptor> accept();

 private:
  Listener(std::string path, Descriptor lock, Descriptor socket);

  std::string path_;
  Descriptor lock_;
  Descriptor socket_;
  Descriptor spare_;  // released for a moment to refuse a client
};

}  // namespace hypermile
