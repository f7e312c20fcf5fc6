// SPDX-License-Identifier: Apache-2.0
#include "record/serve/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "base/parse.h"

namespace hypermile {
namespace {

Error bad(std::string_view text) {
  return Error{ErrorCode::kUsage, fmt::format("'{}' is no address to listen on", text),
               "give ADDRESS:PORT, for example 127.0.0.1:9487 or [::1]:9487"};
}

bool is_address(const std::string& host) {
  in_addr v4 = {};
  in6_addr v6 = {};
  return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), &v4) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

}  // namespace

bool ListenAddress::loopback() const {
  in_addr v4 = {};
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && ::inet_pton(AF_INET, host.c_str(), &v4) == 1);
}

std::string ListenAddress::url() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("http://[{}]:{}/", host, port) : fmt::format("http://{}:{}/", host, port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  std::string_view port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!host.empty()) address.host = host;
  }
  const auto number = parse_integer(port);
  if (!number || *number < 0 || *number > 65535 || !is_address(address.host)) return bad(text);
  address.port = static_cast<int>(*number);
  return address;
}

}  // namespace hypermile
