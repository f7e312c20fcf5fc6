// SPDX-License-Identifier: Apache-2.0
//
// One run of the kill matrix: something is changed, somebody is struck at one step, and the GPU is
// looked at.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "kill_world.h"

namespace hypermile {

enum class Setup {
  kDaemon,    // hypermiled serves
  kGuardian,  // no daemon: the client's own guardian
  kRecovery,  // hypermiled was killed with the GPU changed, and starts again
};
enum class Victim { kClient, kServer, kBoth };
enum class Blow {
  kKill,           // SIGKILL
  kTerminate,      // SIGTERM
  kStop,           // SIGSTOP, beyond the TTL
  kGroup,          // SIGKILL of the client's whole process group
  kTerminal,       // the client's terminal is closed
  kFullDisk,       // from this step on, and the client is killed a little later
  kNoDescriptors,  // likewise
};

struct KillCase {
  const char* name;
  Setup setup;
  Victim victim;
  Blow blow;
};

inline constexpr std::array<KillCase, 24> kKillCases = {{
    {"daemon: client killed", Setup::kDaemon, Victim::kClient, Blow::kKill},
    {"daemon: client terminated", Setup::kDaemon, Victim::kClient, Blow::kTerminate},
    {"daemon: client stopped", Setup::kDaemon, Victim::kClient, Blow::kStop},
    {"daemon: client's group killed", Setup::kDaemon, Victim::kClient, Blow::kGroup},
    {"daemon: client's terminal closed", Setup::kDaemon, Victim::kClient, Blow::kTerminal},
    {"daemon: daemon killed", Setup::kDaemon, Victim::kServer, Blow::kKill},
    {"daemon: daemon terminated", Setup::kDaemon, Victim::kServer, Blow::kTerminate},
    {"daemon: daemon stopped", Setup::kDaemon, Victim::kServer, Blow::kStop},
    {"daemon: disk full", Setup::kDaemon, Victim::kServer, Blow::kFullDisk},
    {"daemon: no descriptors", Setup::kDaemon, Victim::kServer, Blow::kNoDescriptors},
    {"daemon: both killed", Setup::kDaemon, Victim::kBoth, Blow::kKill},
    {"guardian: client killed", Setup::kGuardian, Victim::kClient, Blow::kKill},
    {"guardian: client terminated", Setup::kGuardian, Victim::kClient, Blow::kTerminate},
    {"guardian: client stopped", Setup::kGuardian, Victim::kClient, Blow::kStop},
    {"guardian: client's group killed", Setup::kGuardian, Victim::kClient, Blow::kGroup},
    {"guardian: client's terminal closed", Setup::kGuardian, Victim::kClient, Blow::kTerminal},
    {"guardian: guardian killed", Setup::kGuardian, Victim::kServer, Blow::kKill},
    {"guardian: guardian terminated", Setup::kGuardian, Victim::kServer, Blow::kTerminate},
    {"guardian: guardian stopped", Setup::kGuardian, Victim::kServer, Blow::kStop},
    {"guardian: no descriptors", Setup::kGuardian, Victim::kServer, Blow::kNoDescriptors},
    {"guardian: disk full", Setup::kGuardian, Victim::kServer, Blow::kFullDisk},
    {"guardian: both killed", Setup::kGuardian, Victim::kBoth, Blow::kKill},
    {"recovery: daemon killed again", Setup::kRecovery, Victim::kServer, Blow::kKill},
    {"recovery: daemon terminated", Setup::kRecovery, Victim::kServer, Blow::kTerminate},
}};

// When to strike.
struct Moment {
  int step = 0;                    // before this system call of the victim, from 0
  std::optional<Seconds> at = {};  // or after this time, whatever the victim does
};

struct KillResult {
  bool changed = false;   // something was seen changed before the blow
  bool struck = false;    // false: the victim had ended, or has fewer steps
  bool left = false;      // something was changed when there was nobody left to change it
  bool restored = false;  // and it stayed so
  bool late = false;      // but not in time
  int tries_late = 0;     // of this run, which is tried again once when it is late
  // From the death to the restore with a daemon or guardian alive; else from the next start.
  std::optional<Seconds> took = {};
  bool by_next_start = false;
  int steps = 0;  // of the victim until the end of the run
  std::string trouble = {};
};

KillResult run_case(const KillCase& which, const Moment& moment,
                    const KillWorld::Programs& programs);

}  // namespace hypermile
