// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon is found.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/result.h"

namespace hypermile {

// $HYPERMILE_SOCKET, else where the systemd unit puts it.
std::string default_socket_path();

class SocketAddress {
 public:
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t length() const { return sizeof(address_); }

 private:
  friend Result<SocketAddress> socket_address(const std::string& path);
  sockaddr_un address_ = {};
};

// kUsage when the kernel cannot hold a path of that length.
Result<SocketAddress> socket_address(const std::string& path);

}  // namespace hypermile
