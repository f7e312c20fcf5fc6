// SPDX-License-Identifier: Apache-2.0
//
// The socket that clients find: made, and its connections accepted, also when there are no
// descriptors left.
#pragma once

#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

class Listener {
 public:
  // A Unix socket at `path` that everybody may connect to: who may do what the allow-list says. One
  // daemon at a time: the lock beside it ("PATH.lock") is held until this is gone, and a socket
  // left by a daemon that died is replaced. kBusy when another daemon serves there.
  static Result<std::unique_ptr<Listener>> open(const std::string& path);
  // Takes the socket's name away.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return socket_.get(); }

  // The next connection, or kNotReady when there is none. Without descriptors the client is turned
  // away at once rather than left waiting, which is kIo.
  Result<Descriptor> accept();

 private:
  Listener(std::string path, Descriptor lock, Descriptor socket);

  std::string path_;
  Descriptor lock_;
  Descriptor socket_;
  Descriptor spare_;  // given up for a moment to turn a client away
};

}  // namespace hypermile
