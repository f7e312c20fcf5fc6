// SPDX-License-Identifier: Apache-2.0
#include "trial/virtual_rig.h"

#include <future>
#include <utility>

namespace hypermile {

VirtualRig::VirtualRig(VirtualClock& clock, VirtualJob& job, RigTerms terms)
    : clock_(clock),
      job_(job),
      terms_(std::move(terms)),
      log_(std::move(terms_.sink), clock),
      direct_(job.cards()),
      session_(session_parts(), terms_.session) {}

void VirtualRig::step() {
  job_.play(clock_.now());
  clock_.sleep_until(session_.step());
}

SessionParts VirtualRig::session_parts() {
  if (terms_.control) {
    SettingPort& port = terms_.port != nullptr ? *terms_.port : direct_;
    controller_.emplace(ControllerParts{.port = port,
                                        .make_policy = terms_.make_policy,
                                        .predict = terms_.predict,
                                        .counters = terms_.counters},
                        *terms_.control);
  }
  if (terms_.listener) log_.listen(terms_.listener);
  OpenGpu open = terms_.open_gpu;
  if (!open) {
    open = [this](const DeviceName& name) {
      std::promise<Result<std::shared_ptr<Gpu>>> opened;
      opened.set_value(std::shared_ptr<Gpu>(std::shared_ptr<void>(), job_.cards()[name.device]));
      return opened.get_future();
    };
  }
  return {.clock = clock_,
          .folder = job_.folder(),
          .open_gpu = std::move(open),
          .visible_devices = {},
          .log = &log_,
          .warn = terms_.warn,
          .controller = controller_ ? &*controller_ : nullptr};
}

}  // namespace hypermile
