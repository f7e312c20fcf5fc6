// SPDX-License-Identifier: Apache-2.0
#include "control/controller.h"

namespace hypermile {

class Controller::Core {
 public:
  Core(ControllerParts with, ControllerOptions asked)
      : parts(std::move(with)), options(std::move(asked)) {}

  ControllerParts parts;
  ControllerOptions options;
  ControlSummary summary;
};

Controller::Controller(ControllerParts parts, ControllerOptions options)
    : core_(std::make_unique<Core>(std::move(parts), std::move(options))) {}
Controller::~Controller() = default;

void Controller::start(FollowerDesk&) {}
void Controller::gpu_opened(GpuWatch&) {}
void Controller::boundary(const ProcessProgress&, const Boundary&, bool,
                          std::span<GpuWatch* const>) {}
void Controller::progress_changed(const ProcessProgress&, const ProgressChange&) {}
void Controller::reading(GpuWatch&, const SamplerReading&) {}
void Controller::seen_on(GpuWatch&, std::span<const GpuProcess>, std::span<const std::int64_t>) {}
Instant Controller::step(Instant now) {
  return now + Seconds(1);
}
void Controller::finish(Instant) {
  core_->summary.state = ControlState::kReleased;
}
ControlState Controller::state() const {
  return core_->summary.state;
}
const std::string& Controller::reason() const {
  return core_->summary.reason;
}
ControlSummary Controller::summary() const {
  return core_->summary;
}

}  // namespace hypermile
