// SPDX-License-Identifier: Apache-2.0
//
// Starts a guardian where no daemon runs: hypermiled as root, directly or through sudo, with one
// end of a socket pair as its standard input. The caller and its job keep their own rights.
// lease_client.h calls it.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

struct GuardianOptions {
  std::string program;        // path of hypermiled; see default_guardian_program()
  bool may_ask = false;       // sudo may ask for a password on the terminal
  std::string sudo = "sudo";  // looked up in PATH
};

// The one beside this program, else the installed one; "" if there is none.
std::string default_guardian_program();

// Returns the caller's end of the socket once the guardian runs; with `may_ask` that takes as long
// as a person needs to type a password. The guardian keeps the GPUs of the first request.
// kPermission, with sudo's message, when this user cannot become root; kNotFound without hypermiled
// or sudo.
Result<Descriptor> start_guardian(const GuardianOptions& options);

// What sudo does with a request to start the guardian. It asks a user who may not do so for a
// password first, so kAsks does not mean that the password would help.
enum class SudoManner { kAbsent, kFree, kAsks };

// Starts nothing but sudo, with the option never to ask.
SudoManner sudo_manner(const GuardianOptions& options);

}  // namespace hypermile
