// SPDX-License-Identifier: Apache-2.0
//
// The path and address of the daemon's socket, for clients and the daemon.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "base/result.h"

namespace hypermile {

inline constexpr const char* kInstalledSocket = "/run/hypermile/hypermiled.sock";

// $HYPERMILE_SOCKET, else the path that the systemd unit uses.
std::string default_socket_path();

class SocketAddress {
 public:
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t length() const { return sizeof(address_); }

 private:
  friend Result<SocketAddress> socket_address(const std::string& path);
  sockaddr_un address_ = {};
};

// kUsage when the path is empty or too long for the kernel.
Result<SocketAddress> socket_address(const std::string& path);

}  // namespace hypermile
