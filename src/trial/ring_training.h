// SPDX-License-Identifier: Apache-2.0
//
// A simulated job as the training process it stands for: what it launches, or ticks, is written to
// a ring as the injected library would, GPU times included where the reader asks for events, and
// nothing while the reader wants to see nothing. With it a Session sees a simulated job by the same
// means as a living one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inject/ring_folder.h"
#include "inject/ring_writer.h"
#include "sim/launches.h"
#include "sim/sim_gpu.h"

namespace hypermile {

class RingTraining final : private JobObserver, private LaunchSink {
 public:
  enum class Shows { kLaunches, kTicks };

  // Before the job is started; `gpu` and `load` must outlive it. A process that trains on several
  // GPUs launches the same on each of its `devices`; what the first does stands for all. kIo where
  // no ring can be made.
  static Result<std::unique_ptr<RingTraining>> make(SimGpu& gpu, const Load& load, Shows shows,
                                                    std::uint64_t seed, std::uint32_t devices = 1);
  ~RingTraining() override;
  RingTraining(const RingTraining&) = delete;
  RingTraining& operator=(const RingTraining&) = delete;

  RingFolder& folder() { return folder_; }
  // Brings the job up to now; what it did since the last call is then in the ring.
  void play(Instant now);

 private:
  RingTraining(SimGpu& gpu, const Load& load, Shows shows, std::uint64_t seed, RingFolder folder);

  struct Event {
    std::uint64_t launch = 0;  // record
    double gpu_s = 0;
  };

  void finished(const FinishedUnit& unit) override;
  void launch(double time_s, double gpu_s, std::uint32_t kernel) override;
  std::uint32_t name_of(std::uint32_t kernel);
  void tick();
  void heed_wish(double time_s);
  void watch_again(double time_s);

  SimGpu& gpu_;
  const Load& load_;
  Shows shows_;
  LaunchEmitter emitter_;
  RingFolder folder_;
  std::unique_ptr<RingWriter> writer_;
  std::vector<std::uint32_t> names_;  // ring's id + 1 of each kernel; 0: not yet known
  std::vector<Event> events_;         // recorded, not yet reached by the GPU
  double last_event_s_ = -1;
  double played_s_ = 0;                 // up to then
  std::optional<double> dark_until_s_;  // launches are not recorded
  std::uint64_t heeded_ = 0;            // wish of the reader
  std::uint32_t previous_ = kNoName;
  std::uint64_t ticks_ = 0;
};

}  // namespace hypermile
