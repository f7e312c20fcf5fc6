// SPDX-License-Identifier: Apache-2.0
//
// The progress of one process of the job. Reads its rings (launches and GPU times from the injected
// library, ticks from the framework), finds iterations, and passes them to a sink as Boundaries in
// order of time, with GPU times where they exist. Ticks take precedence over NVTX steps, and both
// over the launch stream.
//
// If the host runs ahead, a GPU time arrives seconds after its launch, so Boundaries are held back
// for it; ProgressDelays says how long.
//
// A job without a period is followed by the work that its launches stand for (work_meter.h), as a
// phase of its own whose iterations are units of work. So is a job whose patterns do not last, such
// as a learner that plays, trains its model and plays again.
//
// Watching slows the job a little. Once its pattern is known, its launches are watched only now and
// then (watch_duty.h), unless attend() asks for everything. Iterations in between are estimated if
// the pattern before and after is the same. One thread uses this class; failures end the progress
// of this process and nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "inject/ring_reader.h"
#include "progress/boundary.h"
#include "progress/follow/boundary_queue.h"
#include "progress/follow/watch_duty.h"
#include "progress/follow/watched_stretch.h"
#include "progress/launch_detector.h"
#include "progress/work_meter.h"
#include "progress/work_rate.h"

namespace hypermile {

enum class ProgressSource { kNone, kLaunches, kNvtxSteps, kTicks };
std::string_view to_string(ProgressSource source);

enum class ProgressState { kSearching, kLocked, kIdle, kEnded };
std::string_view to_string(ProgressState state);

// A change that a person or a log should know about.
struct ProgressChange {
  Instant time;
  ProgressState state = ProgressState::kSearching;
  ProgressSource source = ProgressSource::kNone;
  std::optional<Pattern> pattern;  // the pattern that was found, changed or lost
  bool known_phase = false;        // the phase was met before
};

class ProcessProgress;

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // If `fresh`, no Window may span this Boundary.
  virtual void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh) = 0;
  virtual void changed(const ProcessProgress& process, const ProgressChange& change) = 0;
  // The process ended so long ago that every sensor reading of its time has come.
  virtual void settled(const ProcessProgress&) {}
  // The object is about to be destroyed: no pointer to it may be kept.
  virtual void forgotten(const ProcessProgress&) {}
};

// What is known of one phase or, with ticks, of one tick name.
struct PhaseProgress {
  std::uint32_t phase = 0;
  std::string name;       // name of the ticks; "" for launches
  double iterations = 0;  // at level 0
  double estimated = 0;   // part of `iterations` that was estimated for times without watching
  Seconds locked;         // how long the phase was in force
  std::optional<Pattern> pattern;
  struct Level {
    OuterLevel outer;
    bool optimizer = false;  // judged by kernel names; then inner iterations are micro-batches
  };
  std::vector<Level> levels;

  // Iterations of level 0 in one optimizer step; 1 where no level is an optimizer step.
  double micro_batches() const {
    for (const Level& level : levels) {
      if (level.optimizer) return level.outer.inner;
    }
    return 1;
  }
};

class ProcessProgress final : private DetectorSink {
 public:
  // `sink` must outlive this object.
  ProcessProgress(pid_t pid, ProgressSink& sink, const ProgressDelays& delays = {},
                  const DutyTerms& duty = {});
  ~ProcessProgress() override;
  ProcessProgress(const ProcessProgress&) = delete;
  ProcessProgress& operator=(const ProcessProgress&) = delete;

  // Adds another ring of the same process. `ring` must live until finish().
  void attach(RingReader& ring, const RingInfo& info);
  bool has(RingSource source) const;

  // Reads the rings and passes on the Boundaries that have waited long enough. A failure is kept in
  // problem() and ends only this process's progress.
  void poll(Instant now);
  // Called when the process or the run has ended: reads the rest, passes everything on, and
  // releases the rings.
  void finish(Instant now);
  bool over() const { return ended_.has_value(); }
  std::optional<Instant> ended() const { return ended_; }
  // Whether the sink was told that the end is settled; the owner marks it.
  bool settled() const { return settled_; }
  void settle() { settled_ = true; }

  // Sets how closely launches are watched from now on.
  void attend(const Attention& attention) { attention_ = attention; }
  // True while launches are not watched.
  bool dark() const { return dark_since_.has_value(); }

  pid_t pid() const { return pid_; }
  const std::string& name() const { return name_; }
  ProgressSource source() const { return source_; }
  ProgressState state() const;
  const std::vector<PhaseProgress>& phases() const { return phases_; }
  const PhaseProgress* phase_in_force() const;
  // Devices in order of first use, as CUDA numbers them in this process.
  const std::vector<std::uint32_t>& devices() const { return devices_; }
  std::uint64_t launches() const { return detector_ ? detector_->launches() : launches_; }
  // The kernels of one iteration of a phase, by name, with how often each is launched. With ticks,
  // those of the pattern that the launches show now. Empty without launches and after the end.
  struct NamedKernel {
    std::string name;
    double count = 0;
  };
  std::vector<NamedKernel> kernel_mix(std::uint32_t phase) const;
  // Time of the first launch or tick.
  std::optional<Instant> first_seen() const { return first_seen_; }
  std::optional<Instant> last_seen() const { return last_seen_; }
  // Total time under a lock or between ticks.
  Seconds covered() const;
  Result<WorkRateEstimate> work_rate() const;
  // Why a job without a period is not followed by its work; empty while that is not known.
  const std::string& why_no_work() const { return over() ? why_no_work_ : meter_.why(); }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t damaged() const { return damaged_; }
  std::uint64_t gpu_times() const { return gpu_times_; }
  // State of the injected library: its RingStatus with the reason, and forks.
  const std::optional<RingInfo>& launch_info() const { return info_; }
  const std::string& problem() const { return problem_; }

 private:
  // The detector numbers phases from 0 and keeps at most eight.
  static constexpr std::uint32_t kWorkPhase = 1000;

  struct Source {
    RingReader* ring = nullptr;
    RingSource kind = RingSource::kLaunches;
  };

  void locked(const Pattern& pattern, const Lock& lock) override;
  void boundary(const Boundary& boundary) override;
  void levels_changed(const Pattern& pattern, Instant time) override;
  void broken(const Pattern& pattern, Instant since, Instant time) override;
  void idle(Instant since) override;

  void drain(Source& source, Instant now);
  void take_launches(const RingBatch& batch);
  void take_launch(const NumberedLaunch& launch);
  void meter_work(const NumberedLaunch& launch);
  void begin_work(Instant time);
  void end_work(Instant time);
  void note_break(Instant time);
  void trust_patterns(Instant time);
  // True for reports of a pattern while the job is followed by its work because none lasts.
  bool passing(std::uint32_t phase) const { return restless_ && phase != kWorkPhase; }
  void take_watch(const RingNotice& notice);
  void watched_again(Instant time, std::uint64_t number);
  double bridge(const Boundary& boundary);
  void decide_watching(Instant now);
  void take_ticks(const RingBatch& batch, RingReader& ring);
  void note_device(std::uint32_t device);
  void take_notices(const RingBatch& batch);
  void seen(Instant time);
  void wake(Instant time);
  void switch_to(ProgressSource source, Instant time);
  void release(Instant now, bool everything);
  void free_memory();
  void ask_for_events(const std::optional<Anchor>& anchor);
  void ask_for_step_events();
  // True if the program itself reports its iterations.
  bool ticking() const { return source_ >= ProgressSource::kNvtxSteps; }
  PhaseProgress& phase(std::uint32_t number);
  void set_levels(PhaseProgress& phase, const Pattern& pattern);
  RingReader* launch_ring() const;
  void tell(Instant time, ProgressState state, std::optional<Pattern> pattern, bool known = false);

  pid_t pid_;
  std::string name_;
  ProgressSink& sink_;
  // About 4 MB, so it lives from the first launch to the end of the process.
  std::optional<LaunchDetector> detector_;
  std::uint64_t launches_ = 0;                      // at the end
  std::optional<WorkRate> work_rate_ = WorkRate();  // until the end
  std::optional<WorkRateEstimate> last_rate_;       // at the end
  WorkMeter meter_;
  std::string why_no_work_;                 // at the end
  std::optional<Instant> searching_since_;  // no pattern has been locked since then
  bool working_ = false;                    // the work in force is counted by meter_
  std::deque<Instant> breaks_;              // when patterns broke, lately
  bool restless_ = false;                   // no pattern lasts; they are not reported
  std::optional<Instant> lasts_since_;      // while restless: the pattern that is there now
  std::optional<Instant> work_refused_;     // the job was restless, and its work not trusted
  BoundaryQueue queue_;
  std::vector<Source> rings_;
  RingBatch batch_;
  ProgressSource source_ = ProgressSource::kNone;
  std::vector<PhaseProgress> phases_;
  std::optional<std::uint32_t> phase_in_force_;
  std::optional<Instant> locked_since_;
  double counted_in_lock_ = 0;
  std::vector<std::uint32_t> devices_;
  std::optional<Instant> first_seen_, last_seen_;
  std::optional<Instant> launch_read_;  // when the newest launch was read
  WatchDuty duty_;
  WatchedStretch stretch_;
  Attention attention_;
  bool known_phase_ = false;            // the phase in force was met before
  std::optional<Instant> dark_since_;   // set while launches are not watched
  std::optional<Instant> asked_until_;  // a dark stretch was requested until this time
  struct Unseen {
    Instant since;                // start of the dark stretch
    std::optional<Instant> last;  // last boundary before it
  };
  std::optional<Unseen> unseen_;  // set until the first boundary after a dark stretch
  // Of the pattern in force, over a stretch long enough to measure it.
  std::optional<Seconds> period_;
  bool idle_ = false;
  std::optional<Instant> ended_;
  bool settled_ = false;
  std::uint64_t lost_ = 0, damaged_ = 0, gpu_times_ = 0;
  std::optional<RingInfo> info_;
  std::string problem_;
};

}  // namespace hypermile
