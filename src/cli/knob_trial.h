// SPDX-License-Identifier: Apache-2.0
//
// `hypermile doctor --try`: moves each knob that a card lists by one step under a lease, reads it
// back, gives it back and reads it back again. It shows on a new card, in seconds, whether setters
// do what this program believes. Every step has a deadline; whatever fails, the lease ends and the
// daemon or guardian restores the card.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "lease/protocol/daemon_connection.h"

namespace hypermile {

// One knob; values are in MHz or W.
struct KnobTrial {
  Knob knob = Knob::kSmClock;
  std::optional<double> before;         // what it read before
  std::optional<double> asked;          // nullopt: not tried
  std::optional<double> seen;           // what it read after the request
  std::optional<Seconds> set_took;      // until the driver had accepted the request
  std::optional<Seconds> seen_after;    // until the card showed it
  std::optional<double> after;          // what it read after it was given back
  std::optional<Seconds> restore_took;  // until the driver had accepted that
  std::string note;                     // why it was not tried, or what the reading does not show
  std::string problem;                  // what failed; "" if nothing did
};

struct CardTrial {
  GpuIdentity identity;
  bool guarded = false;  // through a guardian, not the daemon
  std::vector<KnobTrial> knobs;
  std::string problem;  // why there was no lease, or why it did not end well
  Seconds took;
  bool held() const;  // nothing failed
};

// The next lower value that the card lists; nullopt where it lists none.
std::optional<double> one_step_down(Knob knob, const Capabilities& can, const Sample& now);

// At most 15 s. `connection` is to the daemon, or to a guardian that has had no request yet.
CardTrial try_knobs(Gpu& gpu, DaemonConnection connection, bool guarded, Clock& clock);

// A block of lines that can be pasted into a report.
std::string to_text(const CardTrial& trial);
nlohmann::json to_json(const CardTrial& trial);

}  // namespace hypermile
