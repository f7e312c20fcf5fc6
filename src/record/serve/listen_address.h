// SPDX-License-Identifier: Apache-2.0
//
// Where a server listens: "127.0.0.1:9487", ":9487", "9487", "[::1]:9487"; port 0 is any free one.
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

// kUsage with an example.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace hypermile
