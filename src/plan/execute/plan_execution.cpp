// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/plan_execution.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// The longest time between two looks at the queue. Boundaries carry their own times, so this only
// bounds how soon a change of pace is noticed.
constexpr Seconds kLook = milliseconds(2);
constexpr Seconds kIdleLook = milliseconds(100);
constexpr std::uint64_t kMostFailures = 6;

std::vector<Seconds> durations_of(const std::vector<PlannedSegment>& segments) {
  std::vector<Seconds> durations;
  for (const PlannedSegment& segment : segments) durations.push_back(segment.expected);
  return durations;
}

SamplerOptions sampler_options() {
  SamplerOptions options;
  options.cheap = Sensor::kPowerInstant;
  options.drain_period = Seconds(0);
  return options;
}

}  // namespace

PlanExecution::PlanExecution(PlanExecutionOptions options, SettingPort& port, Gpu& gpu,
                             Clock& clock)
    : options_(std::move(options)),
      port_(port),
      gpu_(gpu),
      clock_(clock),
      timer_(durations_of(options_.segments)),
      sampler_(gpu, clock, sampler_options()) {
  if (options_.trial) trial_.emplace(*options_.trial);
}

void PlanExecution::post(std::uint32_t number, Instant at) {
  if (number >= options_.segments.size()) return;
  if (!queue_.post({number, at.nanoseconds()})) dropped_.fetch_add(1, std::memory_order_relaxed);
}

Instant PlanExecution::round() {
  take_boundaries();
  const Instant now = clock_.now();
  if (held()) {
    take_answers();
    sample();
    const Setting setting = wanted(now);
    const bool may =
        !answer_due_ && (!asked_at_ || (now - *asked_at_).value() * options_.most_per_second >= 1);
    if (state_ == State::kHeld && setting != asked_ && may) ask(setting, now);
    // A plan that does not pay leaves nothing to do.
    if (trial_ && trial_->over() && trial_->arm() == PlanArm::kDefault && asked_.empty() &&
        !answer_due_) {
      finish();
    }
  }
  publish();
  return next_look(now);
}

void PlanExecution::take_boundaries() {
  while (const auto passed = queue_.take()) {
    const Instant at = Instant::from_nanoseconds(passed->ns);
    ++boundaries_;
    timer_.passed(passed->number, at);
    if (passed->number != 0) continue;
    ++iterations_;
    if (trial_ && state_ == State::kHeld) trial_->iteration(at);
  }
}

bool PlanExecution::held() {
  if (state_ == State::kRefused || state_ == State::kOver) return false;
  const PortState state = port_.state();
  if (state == PortState::kUnclaimed) port_.claim({gpu_.identity().uuid});
  if (state == PortState::kRefused || state == PortState::kLost) {
    const auto problem = port_.problem();
    stop_asking(problem ? problem->line() : "the GPU may not be changed");
  }
  if (state == PortState::kHeld) state_ = State::kHeld;
  return state_ == State::kHeld;
}

void PlanExecution::stop_asking(std::string reason) {
  state_ = State::kRefused;
  reason_ = std::move(reason);
  done_ = true;
}

PlanArm PlanExecution::arm() const {
  return trial_ ? trial_->arm() : PlanArm::kPlan;
}

// A job that stands still, or has not begun, gets the default, because its place is unknown.
Setting PlanExecution::wanted(Instant now) const {
  const auto segment = timer_.segment_at(now + options_.latency, now);
  if (!segment || arm() == PlanArm::kDefault) return {};
  return arm() == PlanArm::kUniform ? options_.uniform : options_.segments[*segment].setting;
}

void PlanExecution::ask(const Setting& setting, Instant now) {
  port_.ask(gpu_.identity().uuid, setting);
  asked_ = setting;
  asked_at_ = now;
  answer_due_ = true;
  ++requests_;
}

void PlanExecution::take_answers() {
  for (const PortAnswer& answer : port_.take_answers()) {
    answer_due_ = false;
    if (answer.told) continue;
    ++failed_;
    if (failed_ < kMostFailures) continue;
    const std::string why = answer.told.error().line();
    finish();
    stop_asking(why);
    return;
  }
}

void PlanExecution::sample() {
  if (!trial_ || !trial_->measuring() || clock_.now() < sampler_.due()) return;
  if (const auto reading = sampler_.poll()) trial_->add(reading->sample);
}

Instant PlanExecution::next_look(Instant now) const {
  if (state_ == State::kRefused || state_ == State::kOver) return now + kIdleLook;
  Instant next = now + kLook;
  if (arm() != PlanArm::kPlan) return next;
  if (const auto edge = timer_.next_boundary(now + options_.latency, now)) {
    next = std::min(next, std::max(*edge - options_.latency, now + microseconds(50)));
  }
  return next;
}

void PlanExecution::finish() {
  if (state_ == State::kOver) return;
  const Result<void> released = port_.release();
  done_ = true;
  if (state_ != State::kRefused) {
    state_ = State::kOver;
    reason_ = released ? "" : released.error().line();
  }
  publish();
}

void PlanExecution::publish() {
  const std::scoped_lock lock(mutex_);
  report_.arm = arm();
  report_.boundaries = boundaries_;
  report_.dropped = dropped_.load(std::memory_order_relaxed);
  report_.iterations = iterations_;
  report_.requests = requests_;
  report_.failed = failed_;
  report_.reason = reason_;
  const bool judged = trial_ && trial_->over();
  if (judged && !report_.verdict) report_.verdict = trial_->verdict();
  if (judged && reason_.empty()) report_.reason = report_.verdict->reason;
  report_.blocks = trial_ ? trial_->blocks() : 0;
  switch (state_) {
    case State::kClaiming:
      report_.state = "claiming";
      break;
    case State::kRefused:
      report_.state = "refused";
      break;
    case State::kOver:
      report_.state = "over";
      break;
    case State::kHeld:
      report_.state = !trial_ || judged ? "keeping" : trial_->blocks() > 0 ? "trial" : "learning";
      break;
  }
}

ExecutionReport PlanExecution::report() const {
  const std::scoped_lock lock(mutex_);
  return report_;
}

}  // namespace hypermile
