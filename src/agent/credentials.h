// SPDX-License-Identifier: Apache-2.0
//
// Who is who between agents. On a Slurm cluster it is MUNGE, which its nodes share: a credential
// names its maker's user, as munged saw it, and carries a statement; only a process of the same
// user can read it. Elsewhere it is a secret of the job. The statement holds the job and the other
// side's fresh nonce, so a credential that somebody took from the network proves nothing in another
// place or at another time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

class Credentials {
 public:
  virtual ~Credentials() = default;

  // Proves to the same user's processes that this process says `statement`.
  virtual Result<std::string> make(const std::string& statement) = 0;
  // Success where a process of our own user said exactly `statement`, just now and for the first
  // time. kPermission says what is wrong; kIo where munged does not answer.
  virtual Result<void> check(const std::string& credential, const std::string& statement) = 0;
};

// `socket` of munged; empty: MUNGE's own.
std::unique_ptr<Credentials> make_munge_credentials(const std::string& socket);
// The secret is the content of a file that only this user may read (mode 0600); kPermission says
// what is wrong with it.
Result<std::unique_ptr<Credentials>> make_secret_credentials(const std::string& path);
// For agents that share one machine: a secret of this user in `folder`, made by the first of them.
Result<std::unique_ptr<Credentials>> make_loopback_credentials(
    const std::string& folder = "/dev/shm");

// 16 bytes that nobody can guess.
Result<std::string> make_nonce();

// What a credential says. `speaker` is "node N" or "coordinator".
std::string statement_of(std::string_view job, std::string_view speaker, std::string_view nonce);

}  // namespace hypermile
