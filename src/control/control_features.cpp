// SPDX-License-Identifier: Apache-2.0
//
// What the job asks of its GPU, collected over the first baseline of a phase and again after the
// job has changed; into the event log and, with the Window, to the policy.
#include "control/controller.h"

namespace hypermile {

// Reading counters costs driver calls: once a phase, and again after the job has changed.
void Controller::open_collector(const Phase& phase) {
  collector_.reset();
  const bool wanted = phase.step->features || (phase.features_wanted && phase.step->setting == 0);
  if (!wanted || spoiled_) return;
  GpuWatch* gpu = applied_->gpus().front();
  if (gpu->opened() && !gpu->failing()) {
    collector_.emplace(*phase.process, *gpu, parts_.counters);
  }
}

void Controller::collect_features(Phase& phase, Window& joint) {
  if (!collector_ || !joint.usable() || spoiled_) return;
  const Features features = collector_->collect(joint);
  joint.features = std::make_shared<const Features>(features);
  phase.features_wanted = false;
  if (phase.step->setting == 0) {
    phase.control.predicted_without_counters =
        parts_.predict != nullptr && !features.get(Feature::kSmActive);
  }
  FeaturesEvent event;
  event.gpu = collector_->gpu().identity().uuid;
  event.process = phase.process->pid();
  event.phase = phase.number;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (const auto value = features.get(feature)) {
      event.values[std::string(name_of(feature))] = *value;
    }
  }
  event.numbers = {{"driver_calls", static_cast<double>(collector_->driver_calls())},
                   {"spent_s", collector_->spent().value()},
                   {"window_s", joint.duration.value()}};
  if (const auto& counted = collector_->counted()) {
    event.numbers["counter_samples"] = static_cast<double>(counted->samples);
    if (!counted->problem.empty()) {
      desk_.warn(counted->problem + "; what only counters tell is missing");
    }
  }
  desk_.write(std::move(event));
  collector_.reset();
}

}  // namespace hypermile
