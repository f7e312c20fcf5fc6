// SPDX-License-Identifier: Apache-2.0
#include "record/serve/access.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace hypermile {
namespace {

constexpr std::size_t kShortestToken = 16;

// Takes the same time wherever the two texts differ, so that the token cannot be guessed by timing.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  }
  return differs == 0;
}

// The name in a Host header; "" where what follows the name is no port.
std::string_view without_port(std::string_view host) {
  const bool v6 = host.starts_with('[');
  const std::size_t end = host.find(v6 ? ']' : ':');
  if (end == std::string_view::npos) return v6 ? "" : host;
  const std::string_view name = host.substr(v6 ? 1 : 0, v6 ? end - 1 : end);
  const std::string_view port = host.substr(v6 ? end + 1 : end);
  const bool digits = std::ranges::all_of(port.substr(std::min<std::size_t>(1, port.size())),
                                          [](unsigned char c) { return std::isdigit(c) != 0; });
  return port.empty() || (port.front() == ':' && digits) ? name : "";
}

}  // namespace

Result<Access> Access::make(const ListenAddress& address, std::string token) {
  if (!address.loopback() && token.empty()) {
    return Error{
        ErrorCode::kUsage,
        fmt::format("{} can be reached from other machines, so it needs a token", address.host),
        "write one to a file of mode 600 and name it with --token-file, or listen on "
        "127.0.0.1"};
  }
  return Access(address.loopback(), std::move(token));
}

Access::Verdict Access::judge(std::string_view host, std::string_view authorization) const {
  if (!token_.empty()) {
    constexpr std::string_view kBearer = "Bearer ";
    const bool shown =
        authorization.starts_with(kBearer) && same(authorization.substr(kBearer.size()), token_);
    return shown ? Verdict::kAllowed : Verdict::kNoToken;
  }
  const ListenAddress named{std::string(without_port(host)), 0};
  return !loopback_ || named.loopback() ? Verdict::kAllowed : Verdict::kStrangeHost;
}

Result<std::string> read_token_file(const std::string& path) {
  struct stat info = {};
  std::ifstream file(path);
  std::string token;
  if (::stat(path.c_str(), &info) != 0 || !file || !std::getline(file, token)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: no token can be read: {}", path,
                             errno != 0 ? std::strerror(errno) : "it is empty"),
                 "make one: (umask 77; head -c 24 /dev/urandom | base64 > " + path + ")"};
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{ErrorCode::kPermission, fmt::format("{}: others may read this token", path),
                 "chmod 600 " + path};
  }
  if (token.size() < kShortestToken) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: a token has at least {} characters", path, kShortestToken),
                 "make one: (umask 77; head -c 24 /dev/urandom | base64 > " + path + ")"};
  }
  return token;
}

}  // namespace hypermile
