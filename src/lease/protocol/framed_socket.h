// SPDX-License-Identifier: Apache-2.0
//
// A stream socket that carries frames, without ever waiting: whoever owns it polls. What is held in
// memory is bounded by the largest frame, whatever the other end sends. Both ends use it.
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

  // Reads what is there, up to one frame. kNotReady when nothing is, kIo when the other end is
  // gone.
  Result<void> fill();
  // The body of the next whole frame; nullopt when it is not complete yet; kParse when what has
  // come is no frame, after which the connection is of no use.
  Result<std::optional<std::string>> take();
  // A frame has begun and is not complete.
  bool in_frame() const { return !received_.empty(); }

  // Adds a frame to what is to be sent.
  void put(std::string_view frame) { to_send_ += frame; }
  // Sends what the socket takes now. True when nothing is left; kIo when the other end is gone.
  Result<bool> flush();

 private:
  Descriptor socket_;
  std::string received_;
  std::string to_send_;
};

}  // namespace hypermile
