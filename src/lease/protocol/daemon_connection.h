// SPDX-License-Identifier: Apache-2.0
//
// A client's connection to the daemon or to a guardian: one request, one reply, each within a
// deadline in real time.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/units.h"
#include "lease/protocol/framed_socket.h"
#include "lease/protocol/message.h"

namespace hypermile {

// Used by one thread at a time. Destroying it closes the connection; the other end then restores
// what this client held.
class DaemonConnection {
 public:
  // kNotFound when no process serves at `path`, kTimeout when one does and takes nobody in within
  // half a second; also kPermission, kIo.
  static Result<DaemonConnection> connect(const std::string& path);
  // Takes a connected socket.
  explicit DaemonConnection(Descriptor socket) : stream_(std::move(socket)) {}

  // Returns the reply; a refusal becomes its error. kTimeout when the reply is late (the next call
  // skips it), kIo when the other end is gone.
  Result<wire::Reply> call(const wire::Request& request, Seconds deadline);

  // Like call(), where only one kind of reply is valid.
  template <class Wanted>
  Result<Wanted> ask(const wire::Request& request, Seconds deadline) {
    ASSIGN_OR_RETURN(wire::Reply reply, call(request, deadline));
    if (Wanted* wanted = std::get_if<Wanted>(&reply)) return std::move(*wanted);
    return Error{ErrorCode::kParse, "the daemon sent the wrong kind of reply",
                 "install the same version of hypermile and hypermiled"};
  }

 private:
  FramedSocket stream_;
  std::uint64_t sequence_ = 0;
};

}  // namespace hypermile
