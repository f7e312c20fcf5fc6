// SPDX-License-Identifier: Apache-2.0
#include "control/controller.h"

#include "control/control_loop.h"

namespace hypermile {

Controller::Controller(ControllerParts parts, ControllerOptions options)
    : core_(std::make_unique<Core>(std::move(parts), std::move(options))) {}
Controller::~Controller() = default;

void Controller::start(FollowerDesk& desk) {
  core_->start(desk);
}
void Controller::gpu_opened(GpuWatch& gpu) {
  core_->gpu_opened(gpu);
}
void Controller::boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh,
                          std::span<GpuWatch* const> gpus) {
  core_->boundary(process, boundary, fresh, gpus);
}
void Controller::progress_changed(const ProcessProgress& process, const ProgressChange& change) {
  core_->progress_changed(process, change);
}
void Controller::reading(GpuWatch& gpu, const SamplerReading& reading) {
  core_->reading(gpu, reading);
}
void Controller::seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen,
                         std::span<const std::int64_t> ours) {
  core_->seen_on(gpu, seen, ours);
}
Instant Controller::step(Instant now) {
  return core_->step(now);
}
void Controller::finish(Instant now) {
  core_->finish(now);
}
ControlState Controller::state() const {
  return core_->state();
}
const std::string& Controller::reason() const {
  return core_->reason();
}
ControlSummary Controller::summary() const {
  return core_->summary();
}

}  // namespace hypermile
