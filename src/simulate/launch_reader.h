// SPDX-License-Identifier: Apache-2.0
//
// Progress of a simulated job from its kernel launches, through the very detector that a real job
// gets: iterations of the pattern found first, which is training. Another pattern (evaluation) is a
// pause between two of them. Nothing is told until the detector is sure. At most every 50 ms an
// iteration comes with the GPU's own time, as the injected library would record it.
#pragma once

#include <optional>

#include "progress/launch_detector.h"
#include "sim/launches.h"
#include "sim/sim_gpu.h"
#include "simulate/progress_reader.h"

namespace hypermile {

class LaunchReader final : public ProgressReader,
                           private JobObserver,
                           private LaunchSink,
                           private DetectorSink {
 public:
  // Before the job is started; `gpu` and `load` must outlive it.
  LaunchReader(SimGpu& gpu, const Load& load, std::uint64_t seed);
  ~LaunchReader() override;
  LaunchReader(const LaunchReader&) = delete;
  LaunchReader& operator=(const LaunchReader&) = delete;

  std::vector<Tick> take() override;

  bool locked() const { return detector_.state() == DetectorState::kLocked; }
  const LaunchDetector& detector() const { return detector_; }

 private:
  void finished(const FinishedUnit& unit) override { emitter_.emit(unit, *this); }
  void launch(double time_s, double gpu_s, std::uint32_t kernel) override;
  void locked(const Pattern& pattern, const Lock& lock) override;
  void boundary(const Boundary& boundary) override;
  void levels_changed(const Pattern&, Instant) override {}
  void broken(const Pattern&, Instant, Instant) override {}
  void idle(Instant) override {}

  SimGpu& gpu_;
  LaunchEmitter emitter_;
  LaunchDetector detector_;
  std::optional<std::uint32_t> training_;  // the phase found first
  double count_ = 0;
  double gpu_s_ = 0;               // of the launch in hand
  std::optional<double> event_s_;  // last recorded
  std::vector<Tick> ticks_;
};

}  // namespace hypermile
