// SPDX-License-Identifier: Apache-2.0
//
// One run of the kill matrix: a lease changes the GPU, somebody is struck at one step, and the test
// checks whether the GPU is restored.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "kill_world.h"

namespace hypermile {

enum class Setup {
  kDaemon,    // hypermiled serves the client
  kGuardian,  // no daemon; the client has its own guardian
  kRecovery,  // hypermiled was killed while the GPU was changed, and starts again
};
enum class Victim { kClient, kServer, kBoth };
enum class Blow {
  kKill,           // SIGKILL
  kTerminate,      // SIGTERM
  kStop,           // SIGSTOP for longer than the TTL
  kGroup,          // SIGKILL to the client's whole process group
  kTerminal,       // the client's terminal is closed
  kFullDisk,       // from this step on; the client is killed a little later
  kNoDescriptors,  // from this step on; the client is killed a little later
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

struct Moment {
  int step = 0;                    // before this system call of the victim, counted from 0
  std::optional<Seconds> at = {};  // or after this time, whatever the victim does
};

struct KillResult {
  bool changed = false;   // a change was seen before the blow
  bool struck = false;    // false if the victim had ended or has fewer steps
  bool left = false;      // something was still changed when nobody was left to change it
  bool restored = false;  // everything was restored, and stayed so
  bool late = false;      // restored, but too late
  int tries_late = 0;     // late attempts of this run, which is repeated once if it is late
  // From the death to the restore if a daemon or guardian lives; else from the next start.
  std::optional<Seconds> took = {};
  bool by_next_start = false;
  int steps = 0;  // steps of the victim until the end of the run
  std::string trouble = {};
};

KillResult run_case(const KillCase& which, const Moment& moment,
                    const KillWorld::Programs& programs);

}  // namespace hypermile
