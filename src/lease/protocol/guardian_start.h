// SPDX-License-Identifier: Apache-2.0
//
// Starts a guardian where no daemon runs: hypermiled as root, directly or through sudo, with one
// end of a socket pair as its standard input. The caller and its job stay as they are.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

struct GuardianOptions {
  std::string program;        // hypermiled; default_guardian_program()
  bool may_ask = false;       // sudo may ask for a password on the terminal
  std::string sudo = "sudo";  // looked up in PATH
};

// Beside this program, else where packages put it; "" where there is none.
std::string default_guardian_program();

// The caller's end of the socket; the guardian is for the GPUs that are first asked for there.
// Returns when the guardian runs, which with `may_ask` takes as
// long as a person takes to type. kPermission, with sudo's words, when this user cannot become
// root; kNotFound without hypermiled or sudo.
Result<Descriptor> start_guardian(const GuardianOptions& options);

}  // namespace hypermile
