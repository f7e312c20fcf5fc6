// SPDX-License-Identifier: Apache-2.0
//
// The part of ProcessProgress that follows a job by the work of its launches: one without a period,
// or one whose patterns do not last.
#include <algorithm>

#include "progress/follow/process_progress.h"

namespace hypermile {
namespace {

// A job that has a period shows it sooner.
constexpr Seconds kNoPeriod = Seconds(10);
constexpr char kWorkName[] = "work";
// Patterns that break so often last less than 2 s on average, which is the shortest Window.
constexpr std::size_t kManyBreaks = 10;
constexpr Seconds kBreaksWithin = Seconds(20);
// A pattern that lasts so long takes the place of the work.
constexpr Seconds kLasts = Seconds(10);
// Weighing the kernels takes about 20 s, in which nothing is measured.
constexpr Seconds kWeighAgain = Seconds(300);

}  // namespace

void ProcessProgress::meter_work(const NumberedLaunch& launch) {
  const Instant time = launch.launch.time;
  if (!restless_ && detector_ && detector_->state() == DetectorState::kLocked) {
    searching_since_.reset();
    return;
  }
  if (lasts_since_ && time - *lasts_since_ > kLasts) return trust_patterns(time);
  if (!searching_since_) {
    searching_since_ = time;
    meter_.restart();
  }
  if (time - *searching_since_ < kNoPeriod) return;
  const WorkMeter::State before = meter_.state();
  const std::optional<double> work = meter_.add(launch);
  if (restless_ && meter_.state() == WorkMeter::State::kRefused) {
    work_refused_ = time;
    return trust_patterns(time);
  }
  if (working_ && meter_.state() != WorkMeter::State::kTrusted) return end_work(time);
  if (before == WorkMeter::State::kCounting && meter_.state() == WorkMeter::State::kLearning) {
    ask_for_events(Anchor{*meter_.mark(), std::nullopt});
  }
  if (!work) return;
  if (!working_) begin_work(time);
  boundary({.pattern = {kWorkPhase, 0},
            .time = time,
            .gpu_time = std::nullopt,
            .launch = detector_->launches() - 1,
            .iterations = *work,
            .confidence = 1 - meter_.scatter()});
}

void ProcessProgress::begin_work(Instant time) {
  working_ = true;
  const Anchor anchor{*meter_.mark(), std::nullopt};
  const Pattern pattern{.phase = kWorkPhase,
                        .anchor = anchor,
                        .launches_per_iteration = meter_.launches_per_unit(),
                        .similarity = 1 - meter_.scatter(),
                        .confidence = 1 - meter_.scatter(),
                        .elastic = true,
                        .outer = {}};
  const bool known = std::ranges::count(phases_, kWorkPhase, &PhaseProgress::phase) > 0;
  phase(kWorkPhase).name = kWorkName;
  locked(pattern, Lock{.time = time, .launch = detector_->launches() - 1, .known = known});
}

// The mixture of kernels has changed.
void ProcessProgress::end_work(Instant time) {
  working_ = false;
  const PhaseProgress* in = phase_in_force();
  if (in != nullptr && in->pattern) broken(Pattern(*in->pattern), time, time);
}

void ProcessProgress::note_break(Instant time) {
  breaks_.push_back(time);
  while (time - breaks_.front() > kBreaksWithin) breaks_.pop_front();
  if (breaks_.size() < kManyBreaks) return;
  if (work_refused_ && time - *work_refused_ < kWeighAgain) return;
  restless_ = true;
  meter_.restart();
  searching_since_ = time - kNoPeriod;
}

// Patterns are reported again, beginning with the one that is there now.
void ProcessProgress::trust_patterns(Instant time) {
  if (working_) end_work(time);
  restless_ = false;
  lasts_since_.reset();
  searching_since_.reset();
  breaks_.clear();
  const std::optional<Pattern> pattern = detector_->pattern();
  if (detector_->state() != DetectorState::kLocked || !pattern) return;
  locked(*pattern, Lock{.time = time, .launch = detector_->launches() - 1, .known = true});
}

}  // namespace hypermile
