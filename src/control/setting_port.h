// SPDX-License-Identifier: Apache-2.0
//
// The way from a Controller to the GPUs of its job. On a living machine it is a lease
// (lease_port.h); on simulated and replayed GPUs it is the card itself (direct_port.h). Nothing
// here blocks: requests are made, answers are taken in a later round, because a driver may take
// seconds and the job's launches must be read meanwhile.
#pragma once

#include <optional>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/setting.h"

namespace hypermile {

enum class PortState {
  kUnclaimed,  // nobody has asked for GPUs yet
  kClaiming,
  kHeld,     // Settings may be asked for
  kRefused,  // may not be had: problem() says why; nothing was changed
  kLost,     // was held and is over: problem() says why; the GPUs are, or are being, restored
};

struct PortAnswer {
  GpuUuid gpu;
  Setting asked;
  // What the GPU was told, perhaps clamped to what is allowed. An error concerns this request: the
  // GPU keeps what it had, or goes back to its default.
  Result<Setting> told;
};

class SettingPort {
 public:
  virtual ~SettingPort() = default;

  // With every GPU of the job: once, and again after kLost to try for it anew.
  virtual void claim(const std::vector<GpuUuid>& gpus) = 0;
  virtual PortState state() const = 0;
  virtual std::optional<Error> problem() const = 0;

  // Whether a request for this Setting can succeed as it stands, as far as is known: what the lease
  // rules out need not be searched. Needs kHeld.
  virtual bool allows(const Setting& setting) const {
    (void)setting;
    return true;
  }
  // Knobs that `setting` does not name go back to the driver's default; an empty Setting gives all
  // of them back. Of several requests for one GPU that wait, the newest counts and only it is
  // answered. Needs kHeld.
  virtual void ask(const GpuUuid& gpu, const Setting& setting) = 0;
  // Those that came since the last call, in order.
  virtual std::vector<PortAnswer> take_answers() = 0;

  // Gives every GPU back; returns when they are restored, or said why not, or after a deadline.
  virtual Result<void> release() = 0;
};

}  // namespace hypermile
