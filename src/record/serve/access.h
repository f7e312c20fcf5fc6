// SPDX-License-Identifier: Apache-2.0
//
// Decides who may read from the server. On a loopback address everybody on this machine may, under
// a name of this machine, so that no web page can make a browser fetch it. On other addresses a
// reader must send the token. The page server calls it for every request.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "record/serve/listen_address.h"

namespace hypermile {

class Access {
 public:
  // kUsage where the address can be reached from elsewhere and there is no token.
  static Result<Access> make(const ListenAddress& address, std::string token);

  enum class Verdict { kAllowed, kNoToken, kStrangeHost };
  // Both arguments are headers of the request; "" where a header is absent.
  Verdict judge(std::string_view host, std::string_view authorization) const;

 private:
  Access(bool loopback, std::string token) : loopback_(loopback), token_(std::move(token)) {}

  bool loopback_;
  std::string token_;
};

// Reads the first line of a file that only its owner may read. Fails with kNotFound, kPermission or
// kUsage.
Result<std::string> read_token_file(const std::string& path);

}  // namespace hypermile
