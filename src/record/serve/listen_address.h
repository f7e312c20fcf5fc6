// SPDX-License-Identifier: Apache-2.0
//
// The address on which a server listens: "127.0.0.1:9487", ":9487", "9487" or "[::1]:9487". Port 0
// means any free port.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

inline constexpr int kUsualPort = 9487;

struct ListenAddress {
  std::string host = "127.0.0.1";
  int port = kUsualPort;

  // Only this machine can reach it.
  bool loopback() const;
  std::string url() const;  // "http://127.0.0.1:9487/"
};

// Fails with kUsage and an example.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace hypermile
