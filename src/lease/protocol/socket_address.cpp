// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/socket_address.h"

#include <fmt/format.h>

#include <cstdlib>

namespace hypermile {

std::string default_socket_path() {
  const char* path = std::getenv("HYPERMILE_SOCKET");
  return path != nullptr && *path != '\0' ? path : kInstalledSocket;
}

Result<SocketAddress> socket_address(const std::string& path) {
  SocketAddress address;
  address.address_.sun_family = AF_UNIX;
  const std::size_t most = sizeof(address.address_.sun_path) - 1;
  if (path.empty() || path.size() > most) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid path for a socket", path),
                 fmt::format("use a path of 1 to {} bytes", most)};
  }
  path.copy(address.address_.sun_path, most);
  return address;
}

}  // namespace hypermile
