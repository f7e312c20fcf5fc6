// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/process_progress.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hypermile {

std::string_view to_string(ProgressSource source) {
  switch (source) {
    case ProgressSource::kNone:
      return "none";
    case ProgressSource::kLaunches:
      return "launches";
    case ProgressSource::kNvtxSteps:
      return "nvtx";
    case ProgressSource::kTicks:
      return "ticks";
  }
  return "none";
}

std::string_view to_string(ProgressState state) {
  switch (state) {
    case ProgressState::kSearching:
      return "searching";
    case ProgressState::kLocked:
      return "locked";
    case ProgressState::kIdle:
      return "idle";
    case ProgressState::kEnded:
      return "ended";
  }
  return "ended";
}

ProcessProgress::ProcessProgress(pid_t pid, ProgressSink& sink, const ProgressDelays& delays,
                                 const DutyTerms& duty)
    : pid_(pid), sink_(sink), queue_(delays), duty_(duty) {}

ProcessProgress::~ProcessProgress() = default;

void ProcessProgress::attach(RingReader& ring, const RingInfo& info) {
  // Ticks are read before the launches, among which the ticks' GPU times are.
  const auto at = info.source == RingSource::kTicks ? rings_.begin() : rings_.end();
  rings_.insert(at, {&ring, info.source});
  if (info.source == RingSource::kLaunches && ticking()) ask_for_step_events();
  if (info.source == RingSource::kLaunches) info_ = info;
  if (name_.empty()) name_ = info.process;
}

bool ProcessProgress::has(RingSource source) const {
  return std::ranges::any_of(rings_, [&](const Source& held) { return held.kind == source; });
}

RingReader* ProcessProgress::launch_ring() const {
  for (const Source& held : rings_) {
    if (held.kind == RingSource::kLaunches) return held.ring;
  }
  return nullptr;
}

void ProcessProgress::poll(Instant now) {
  if (over()) return;
  for (Source& source : rings_) drain(source, now);
  if (!ticking() && detector_) {
    detector_->analyse_if_due();
    if (!dark_since_ && launch_read_) detector_->check_idle(now, *launch_read_);
  }
  decide_watching(now);
  release(now, /*everything=*/false);
}

void ProcessProgress::finish(Instant now) {
  if (over()) return;
  for (Source& source : rings_) drain(source, now);
  release(now, /*everything=*/true);
  if (locked_since_ && last_seen_ && phase_in_force_) {
    phase(*phase_in_force_).locked += *last_seen_ - *locked_since_;
  }
  locked_since_.reset();
  rings_.clear();
  ended_ = now;
  tell(now, ProgressState::kEnded, std::nullopt);
  free_memory();
}

// A job may start any number of processes. Of one that has ended, only its figures are kept.
void ProcessProgress::free_memory() {
  launches_ = launches();
  if (const auto rate = work_rate()) last_rate_ = *rate;
  detector_.reset();
  work_rate_.reset();
  why_no_work_ = meter_.why();
  meter_ = WorkMeter();
  queue_ = BoundaryQueue({});
  batch_ = {};
}

void ProcessProgress::drain(Source& source, Instant now) {
  if (source.ring == nullptr) return;
  batch_.clear();
  if (const Result<void> done = source.ring->drain(now, batch_); !done) {
    problem_ = done.error().line();
    source.ring = nullptr;
    return;
  }
  lost_ += batch_.lost;
  damaged_ += batch_.damaged;
  // The record that launches are watched again may have been lost.
  if (batch_.lost > 0 && dark_since_ && !batch_.launches.empty())
    watched_again(batch_.launches.front().launch.time, batch_.launches.front().number);
  take_notices(batch_);
  take_ticks(batch_, *source.ring);
  take_launches(batch_);
  if (!batch_.launches.empty()) launch_read_ = now;
  if (source.kind == RingSource::kLaunches && !batch_.notices.empty()) {
    if (Result<RingInfo> info = source.ring->info()) info_ = std::move(info).value();
  }
  gpu_times_ += batch_.gpu_times.size();
  for (const GpuTime& time : batch_.gpu_times) {
    queue_.add(time, now);
    note_device(time.device);
    stretch_.add(time);
    meter_.add(time);
  }
}

void ProcessProgress::seen(Instant time) {
  if (!first_seen_) first_seen_ = time;
  last_seen_ = std::max(last_seen_.value_or(time), time);
}

// The job launches again. Where its pattern was known, it is taken to go on with it.
void ProcessProgress::wake(Instant time) {
  if (!idle_) return;
  idle_ = false;
  if (const PhaseProgress* in = phase_in_force()) {
    tell(time, ProgressState::kLocked, in->pattern, /*known=*/true);
  }
}

// Takes launches and kWatch notices in the order in which they were written.
void ProcessProgress::take_launches(const RingBatch& batch) {
  auto notice = batch.notices.begin();
  const auto take_notes_before = [&](std::uint64_t number) {
    for (; notice != batch.notices.end() && notice->number < number; ++notice) take_watch(*notice);
  };
  for (const NumberedLaunch& launch : batch.launches) {
    take_notes_before(launch.number);
    // Launches seen while the callbacks are being switched are incomplete, so they are dropped.
    if (!dark_since_) take_launch(launch);
  }
  take_notes_before(std::numeric_limits<std::uint64_t>::max());
}

void ProcessProgress::take_launch(const NumberedLaunch& launch) {
  seen(launch.launch.time);
  stretch_.add(launch);
  // Ticks say everything; launches then only show that the job is alive.
  if (ticking()) return;
  wake(launch.launch.time);
  if (!detector_) detector_.emplace(static_cast<DetectorSink&>(*this));
  queue_.add_launch(launch.number, launch.launch.blocks);
  detector_->add(launch.launch);
  work_rate_->add(launch.launch);
  detector_->analyse_if_due();
  meter_work(launch);
}

void ProcessProgress::take_notices(const RingBatch& batch) {
  for (const RingNotice& notice : batch.notices) {
    if (notice.kind == RecordKind::kContext) note_device(notice.value);
  }
}

// When somebody attaches, the record of a context may be overwritten, but GPU times name the device
// too.
void ProcessProgress::note_device(std::uint32_t device) {
  if (std::ranges::count(devices_, device) == 0) devices_.push_back(device);
}

void ProcessProgress::take_ticks(const RingBatch& batch, RingReader& ring) {
  for (const RingTick& tick : batch.ticks) {
    const ProgressSource told = tick.nvtx ? ProgressSource::kNvtxSteps : ProgressSource::kTicks;
    if (told < source_) continue;
    if (told > source_) switch_to(told, tick.time);
    seen(tick.time);
    idle_ = false;
    const std::uint32_t number = tick.name.value_or(kNoName);
    PhaseProgress& ticked = phase(number);
    if (ticked.name.empty() && tick.name) ticked.name = ring.name(*tick.name).value_or("");
    const bool same = phase_in_force_ == number;
    if (locked_since_ && phase_in_force_) {
      phase(*phase_in_force_).locked += tick.time - *locked_since_;
    }
    locked_since_ = tick.time;
    phase_in_force_ = number;
    ticked.iterations += 1;
    if (!same) {
      queue_.begin_stretch();
      tell(tick.time, ProgressState::kLocked, std::nullopt);
    }
    const Boundary boundary{
        .pattern = {number, 0}, .time = tick.time, .gpu_time = {}, .confidence = 1};
    stretch_.add(boundary);
    queue_.add_step(boundary, tick.number, !tick.nvtx);
  }
}

// A better source was found. What the launches seemed to show is dropped, so that the same work is
// not counted twice.
void ProcessProgress::switch_to(ProgressSource source, Instant time) {
  source_ = source;
  queue_.forget_stretch();
  phases_.clear();
  phase_in_force_.reset();
  locked_since_.reset();
  ask_for_step_events();
  tell(time, ProgressState::kSearching, std::nullopt);
}

void ProcessProgress::release(Instant now, bool everything) {
  for (const BoundaryQueue::Released& ready : queue_.release(now, everything)) {
    sink_.boundary(*this, ready.boundary, ready.fresh);
  }
}

void ProcessProgress::ask_for_events(const std::optional<Anchor>& anchor) {
  RingReader* ring = launch_ring();
  if (ring == nullptr) return;
  std::optional<WantedEvents> wanted;
  if (anchor) wanted = WantedEvents{anchor->kernel, anchor->previous, milliseconds(50)};
  // Without events the host's times are used, so a failure needs no other action.
  if (const Result<void> asked = ring->want_events(wanted); !asked) problem_ = asked.error().line();
}

void ProcessProgress::ask_for_step_events() {
  RingReader* ring = launch_ring();
  if (ring == nullptr) return;
  if (const Result<void> asked = ring->want_step_events(); !asked) problem_ = asked.error().line();
}

PhaseProgress& ProcessProgress::phase(std::uint32_t number) {
  const auto found = std::ranges::find(phases_, number, &PhaseProgress::phase);
  if (found != phases_.end()) return *found;
  PhaseProgress made;
  made.phase = number;
  phases_.push_back(std::move(made));
  return phases_.back();
}

const PhaseProgress* ProcessProgress::phase_in_force() const {
  if (!phase_in_force_) return nullptr;
  const auto found = std::ranges::find(phases_, *phase_in_force_, &PhaseProgress::phase);
  return found != phases_.end() ? &*found : nullptr;
}

std::vector<ProcessProgress::NamedKernel> ProcessProgress::kernel_mix(std::uint32_t number) const {
  RingReader* ring = launch_ring();
  if (ring == nullptr || !detector_) return {};
  if (source_ != ProgressSource::kLaunches) {
    const std::optional<Pattern> pattern = detector_->pattern();
    if (!pattern) return {};
    number = pattern->phase;
  }
  std::vector<NamedKernel> mix;
  for (const KernelShare& share : detector_->kernel_mix(number)) {
    if (auto name = ring->name(share.kernel)) mix.push_back({std::move(*name), share.count});
  }
  return mix;
}

void ProcessProgress::tell(Instant time, ProgressState state, std::optional<Pattern> pattern,
                           bool known) {
  sink_.changed(*this, ProgressChange{time, state, source_, std::move(pattern), known});
}

ProgressState ProcessProgress::state() const {
  if (over()) return ProgressState::kEnded;
  if (idle_) return ProgressState::kIdle;
  return phase_in_force_ ? ProgressState::kLocked : ProgressState::kSearching;
}

Seconds ProcessProgress::covered() const {
  Seconds covered;
  for (const PhaseProgress& in : phases_) covered += in.locked;
  if (!over() && locked_since_ && last_seen_) covered += *last_seen_ - *locked_since_;
  return covered;
}

Result<WorkRateEstimate> ProcessProgress::work_rate() const {
  if (!last_seen_) return Error{ErrorCode::kNotReady, "no launch was seen"};
  if (work_rate_) return work_rate_->estimate(*last_seen_);
  if (!last_rate_) return Error{ErrorCode::kNotReady, "the process has ended"};
  return *last_rate_;
}

}  // namespace hypermile
