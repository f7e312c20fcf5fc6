// SPDX-License-Identifier: Apache-2.0
//
// Whether the person who types the command can have clocks changed on this machine: through the
// daemon, or through a guardian as root. doctor collects the facts (daemon_diagnosis.h) and ends
// with this answer.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/diagnosis.h"
#include "lease/protocol/guardian_start.h"

namespace hypermile {

struct RightsFacts {
  bool read_only = false;  // HYPERMILE_READ_ONLY is set
  bool root = false;
  bool daemon = false;                  // the daemon has answered
  std::optional<Error> no_answer = {};  // why it has not, although its socket is there
  std::size_t gpus = 0, allowed = 0;    // that the daemon serves, and that it lets this user lease
  bool closed = false;                  // the daemon grants no leases at present
  bool installed = false;               // systemd knows the daemon
  bool guardian = false;                // the program that a run would start as root is there
  SudoManner sudo = SudoManner::kAbsent;
  bool somebody_can_answer = false;  // a person is at the terminal
};

ClockRights judge_rights(const RightsFacts& facts);

// "clocks can be changed by you: no, because …; do this".
std::string to_line(const ClockRights& rights);

}  // namespace hypermile
