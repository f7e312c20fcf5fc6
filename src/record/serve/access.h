// SPDX-License-Identifier: Apache-2.0
//
// Who may read: on loopback everybody of this machine, by a name of this machine (so that no page
// of the web can make a browser ask for it); elsewhere whoever shows the token.
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
  // From the request's headers of these names; "" where absent.
  Verdict judge(std::string_view host, std::string_view authorization) const;

 private:
  Access(bool loopback, std::string token) : loopback_(loopback), token_(std::move(token)) {}

  bool loopback_;
  std::string token_;
};

// The first line of a file that only its owner may read. kNotFound, kPermission, kUsage.
Result<std::string> read_token_file(const std::string& path);

}  // namespace hypermile
