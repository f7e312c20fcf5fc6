// SPDX-License-Identifier: Apache-2.0
//
// A stream socket that carries frames and never blocks: its owner polls the descriptor. Memory is
// bounded by the largest frame, whatever the other end sends. Both the daemon and its clients use
// it, each on one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

class FramedSocket {
 public:
  // Takes a connected stream socket; makes it non-blocking.
  explicit FramedSocket(Descriptor socket);

  int fd() const { return socket_.get(); }

  // Reads what has arrived, up to one frame. kNotReady when nothing has, kIo when the other end is
  // gone.
  Result<void> fill();
  // The body of the next frame, or nullopt while it is incomplete. kParse when the bytes are not a
  // frame; the connection is useless after that.
  Result<std::optional<std::string>> take();
  // True between the first and the last byte of a frame.
  bool in_frame() const { return !received_.empty(); }

  // Queues a frame for sending.
  void put(std::string_view frame) { to_send_ += frame; }
  // Sends as much as the socket accepts. True when nothing is left; kIo when the other end is gone.
  Result<bool> flush();

 private:
  Descriptor socket_;
  std::string received_;
  std::string to_send_;
};

}  // namespace hypermile
