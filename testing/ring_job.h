// SPDX-License-Identifier: Apache-2.0
//
// For tests: a training process in virtual time that writes the same ring as a real one. Its host
// runs ahead of the GPU and waits for it now and then. It writes GPU times where the controller
// asks for events, and steps and ticks on request.
#pragma once

#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "inject/ring_writer.h"

namespace hypermile {

// One iteration: its kernels in order, and how long the GPU takes for all of them.
struct Iteration {
  std::vector<std::string> kernels;
  Seconds length;
};

// `count` kernels whose names begin with `prefix`.
inline Iteration iteration_of(const std::string& prefix, int count, Seconds length) {
  Iteration iteration{{}, length};
  for (int i = 0; i < count; ++i) iteration.kernels.push_back(prefix + std::to_string(i));
  return iteration;
}

class RingJob {
 public:
  // Writes to the folder in HYPERMILE_RING_DIR. The GPU starts the first iteration at `begin`.
  explicit RingJob(Instant begin) : gpu_free_(begin) {
    opened_ = writer_->open(RingSource::kLaunches);
    if (opened_) writer_->header().status = static_cast<std::uint32_t>(RingStatus::kWatching);
    if (opened_) writer_->put(ns(begin), pack_b(RecordKind::kContext, 0, 0), 0);
  }

  // Runs iterations whose launches all lie before `until`; the host is up to `kAhead` iterations
  // ahead.
  void train_until(Instant until, const std::vector<Iteration>& cycle) {
    while (true) {
      const Iteration& next = cycle[done_ % cycle.size()];
      // Before every kAhead-th iteration the host waits for the GPU; in between it is fast.
      const std::uint64_t place = done_ % kAhead;
      if (place == 0) block_ = gpu_free_;
      const Instant host = block_ + next.length * (0.1 * static_cast<double>(place));
      if (host + next.length * 0.1 > until) return;
      if (steps_) tell_step(host);
      launch_all(next, host);
      deliver_gpu_times(until);
    }
  }
  // The host does nothing until then.
  void pause_until(Instant until) { gpu_free_ = std::max(gpu_free_, until); }
  // From now on the job reports each iteration, with ticks or with an NVTX range.
  void tell_steps(RecordKind how, const char* name) {
    steps_ = how;
    if (how == RecordKind::kTick && !ticks_) {
      ticks_ = std::make_unique<RingWriter>();
      ticks_->open(RingSource::kTicks);
    }
    step_name_ = name;
  }
  void deliver_gpu_times(Instant now) {
    for (const Pending& each : pending_) {
      if (each.gpu > now) continue;
      const RecordKind kind = each.tick ? RecordKind::kTickTime : RecordKind::kGpuTime;
      writer_->put(each.number, pack_b(kind, 1, 0),
                   std::bit_cast<std::uint64_t>(each.gpu.since_origin().value()));
    }
    std::erase_if(pending_, [&](const Pending& each) { return each.gpu <= now; });
  }

  std::uint64_t iterations() const { return done_; }
  std::uint64_t launches_watched() const { return watched_; }
  RingWriter& writer() { return *writer_; }

  static constexpr std::uint64_t kAhead = 10;

 private:
  struct Pending {
    std::uint64_t number;
    bool tick;
    Instant gpu;
  };

  void tell_step(Instant time) {
    const bool tick = steps_ == RecordKind::kTick;
    RingWriter& ring = tick ? *ticks_ : *writer_;
    const std::uint32_t name = ring.intern(step_name_.c_str());
    const std::uint64_t number = ring.put(ns(time), pack_b(*steps_, 0, name), 0);
    const bool wanted = (writer_->control().events_wanted & kEventsAtSteps) != 0;
    if (!wanted || dark_until_ != 0 || time - last_event_ < milliseconds(50)) return;
    pending_.push_back({number, tick, gpu_free_});
    last_event_ = time;
  }

  static std::uint64_t ns(Instant time) { return static_cast<std::uint64_t>(time.nanoseconds()); }

  void launch_all(const Iteration& next, Instant host) {
    const auto count = static_cast<double>(next.kernels.size());
    double i = 0;
    for (const std::string& name : next.kernels) {
      const std::uint32_t kernel = writer_->intern(name.c_str());
      const Instant at = host + next.length * (0.1 * i / count);
      i += 1;
      if (!watched(at)) continue;
      const std::uint64_t number = writer_->put(ns(at), pack_b(RecordKind::kLaunch, 0, kernel), 8);
      const RingControl& control = writer_->control();
      const bool anchor = (control.events_wanted & kEventsAtKernel) != 0 &&
                          control.kernel == kernel &&
                          (control.previous == kNoName || control.previous == previous_);
      if (anchor && at - last_event_ >= milliseconds(50)) {
        pending_.push_back({number, false, gpu_free_ + next.length * ((i - 1) / count)});
        last_event_ = at;
      }
      previous_ = kernel;
    }
    gpu_free_ = gpu_free_ + next.length;
    ++done_;
  }

  // Acts like the injected library when the controller does not need launches for a while.
  bool watched(Instant at) {
    const std::uint64_t wish = writer_->control().dark_until_ns;
    const bool over = dark_until_ != 0 && (ns(at) >= dark_until_ || wish != dark_until_);
    if (over) {
      writer_->put(ns(at), pack_b(RecordKind::kWatch, 0, 1), 0);
      heeded_ = std::exchange(dark_until_, 0);
    }
    if (dark_until_ == 0 && wish > ns(at) && wish != heeded_) {
      writer_->put(ns(at), pack_b(RecordKind::kWatch, 0, 0), 0);
      dark_until_ = wish;
    }
    if (dark_until_ == 0) ++watched_;
    return dark_until_ == 0;
  }

  std::unique_ptr<RingWriter> writer_ = std::make_unique<RingWriter>();
  std::unique_ptr<RingWriter> ticks_;
  bool opened_ = false;
  Instant gpu_free_, block_, last_event_;
  std::uint32_t previous_ = kNoName;
  std::uint64_t done_ = 0;
  std::uint64_t watched_ = 0;
  std::optional<RecordKind> steps_;
  std::string step_name_;
  std::uint64_t dark_until_ = 0, heeded_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace hypermile
