// SPDX-License-Identifier: Apache-2.0
#include "control/slack_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr double kFirstStep = 0.04;  // relative lowering
constexpr double kLargestStep = 0.08;
constexpr double kSmallestStep = 0.015;
// A step shows, if there is no slack, by so many standard errors.
constexpr double kShows = 3;
// Time has not moved: within so many standard errors, and within this share of what it would have
// moved without slack.
constexpr double kUnmoved = 1.5;
constexpr double kUnmovedShare = 0.35;
// A lower clock makes nothing faster: beyond this the reference no longer holds.
constexpr double kFaster = 3;
constexpr double kFasterAtLeast = 0.004;
constexpr double kLeastError = 0.0005;   // no Window knows its time better
constexpr double kUnknownError = 0.005;  // where a Window does not say
constexpr int kMostWindowsATest = 2;
constexpr int kMostStale = 3;
// The last comparison: enough Windows to know the time to this share of the room, if that is few.
constexpr double kConfirmedTo = 0.4;
constexpr int kFewestToConfirm = 2;
constexpr int kMostToConfirm = 5;
// A card is at a limit of its own when it stays so far below what it was told.
constexpr double kBelowCeiling = 0.01;

}  // namespace

void SlackSearch::Pool::add(const Window& window) {
  const double n = ++windows;
  const double time_error = std::max(window.time_error.value_or(kUnknownError), kLeastError);
  time += (window.time_per_iteration->value() - time) / n;
  const double joules = window.energy_per_iteration
                            ? window.energy_per_iteration->value()
                            : (*window.power * *window.time_per_iteration).value();
  energy += (joules - energy) / n;
  const double energy_error =
      window.energy_error.value_or(window.power_error.value_or(kUnknownError));
  time_variance = (time_variance * (n - 1) * (n - 1) + time_error * time_error) / (n * n);
  energy_variance = (energy_variance * (n - 1) * (n - 1) + energy_error * energy_error) / (n * n);
}

SlackSearch::SlackSearch(SlackTerms terms)
    : terms_(std::move(terms)), kept_(terms_.gpus, 0), asked_(terms_.gpus, 0) {
  terms_.reached.resize(terms_.gpus);
  start();
}

void SlackSearch::start() {
  if (terms_.gpus < 2 || terms_.ladder.size() < 2) return finish("nothing to choose from");
  // Cards that reach less than they were told set the pace; the others need no more than that.
  const double top = terms_.ladder.front();
  double least = top;
  for (const auto& reached : terms_.reached) least = std::min(least, reached.value_or(top));
  std::vector<std::size_t> ahead, all;
  for (std::size_t i = 0; i < terms_.gpus; ++i) {
    all.push_back(i);
    if (terms_.reached[i].value_or(top) > least * (1 + kBelowCeiling)) ahead.push_back(i);
  }
  if (!ahead.empty()) {
    queue_.push_back({ahead, 1 - least / top});
  } else {
    split(all, kFirstStep);
  }
  terms_.guess.resize(terms_.gpus, 0);
  Group guess{{}, kFirstStep, false, false, true};
  for (const std::size_t gpu : all) {
    if (terms_.guess[gpu] > 0) guess.gpus.push_back(gpu);
  }
  if (!guess.gpus.empty()) queue_.push_front(std::move(guess));
  ask_reference("the joint Setting, for comparison");
}

void SlackSearch::ask_reference(const char* why) {
  stage_ = Stage::kReference;
  reference_ = Pool();
  asked_ = kept_;
  reason_ = why;
}

void SlackSearch::finish(const char* why) {
  stage_ = Stage::kDone;
  asked_ = kept_;
  reason_ = why;
}

// Two halves: in the first round behind what waits, so that halves are tried before quarters.
void SlackSearch::split(const std::vector<std::size_t>& gpus, double step) {
  const auto middle = gpus.begin() + static_cast<std::ptrdiff_t>((gpus.size() + 1) / 2);
  const auto at = first_round_ ? queue_.end() : queue_.begin();
  const Group halves[] = {{{gpus.begin(), middle}, step, false, true},
                          {{middle, gpus.end()}, step}};
  queue_.insert(at, std::begin(halves), std::end(halves));
}

// Every GPU of the group lower by its step, at least a rung; false where one cannot.
bool SlackSearch::take_lower(const Group& group, Rungs& rungs) const {
  if (group.guessed) {
    rungs = terms_.guess;
    return true;
  }
  for (const std::size_t gpu : group.gpus) {
    const double wanted = terms_.ladder[rungs[gpu]] * (1 - group.step);
    std::size_t rung = rungs[gpu] + 1;
    if (rung >= terms_.ladder.size()) return false;
    // The nearest above it: what has slack for the step has it for less.
    while (rung + 1 < terms_.ladder.size() && terms_.ladder[rung + 1] >= wanted) ++rung;
    rungs[gpu] = rung;
  }
  return true;
}

// How much the joint time would rise at least if none of the group had slack.
double SlackSearch::rise_without_slack(const Group& group, const Rungs& rungs) const {
  double least = 1;
  for (const std::size_t gpu : group.gpus) {
    const double told = terms_.ladder[kept_[gpu]];
    const double from = std::min(told, terms_.reached[gpu].value_or(told));
    least = std::min(least, std::log(from / terms_.ladder[rungs[gpu]]));
  }
  return terms_.sensitivity * std::max(0.0, least);
}

bool SlackSearch::can_be_seen(const Group& group, const Rungs& rungs) const {
  return rise_without_slack(group, rungs) >= kShows * std::sqrt(2 * reference_.time_variance);
}

// All others have shown slack, so the one that sets the pace is in here.
bool SlackSearch::holds_the_pacer(const Group& group) const {
  return first_round_ && queue_.empty() && group.gpus.size() + loose_.size() == terms_.gpus;
}

void SlackSearch::propose() {
  for (;;) {
    if (queue_.empty()) {
      if (loose_.empty()) return confirm();
      first_round_ = false;
      queue_.push_back({std::exchange(loose_, {}), std::min(kLargestStep, 2 * loose_step_)});
    }
    Group group = std::move(queue_.front());
    queue_.pop_front();
    if (holds_the_pacer(group)) {
      if (group.gpus.size() > 1) split(group.gpus, group.step);
      continue;
    }
    Rungs rungs = kept_;
    if (!take_lower(group, rungs)) continue;
    if (!can_be_seen(group, rungs)) {
      // A smaller step would pass whether or not there is slack.
      if (group.exact || group.guessed || group.step >= kLargestStep) continue;
      group.step = std::min(kLargestStep, 2 * group.step);
      queue_.push_front(std::move(group));
      continue;
    }
    tried_ = std::move(group);
    asked_ = std::move(rungs);
    test_ = Pool();
    stage_ = Stage::kTest;
    reason_ = "do these wait for the others?";
    return;
  }
}

SlackSearch::Verdict SlackSearch::judge() const {
  const double move = test_.time / reference_.time - 1;
  const double error = std::sqrt(test_.time_variance + reference_.time_variance);
  if (move < -std::max(kFaster * error, kFasterAtLeast)) return Verdict::kReferenceStale;
  const double unmoved = std::min({std::max(kUnmoved * error, kLeastError), terms_.room,
                                   kUnmovedShare * rise_without_slack(tried_, asked_)});
  const bool last = test_.windows >= kMostWindowsATest;
  if (move > unmoved) {
    return move < unmoved + error && !last ? Verdict::kUnclear : Verdict::kFailed;
  }
  const double saved = 1 - test_.energy / reference_.energy;
  const double energy_error = std::sqrt(test_.energy_variance + reference_.energy_variance);
  if (saved > energy_error / 2) return Verdict::kPassed;
  return last ? Verdict::kFailed : Verdict::kUnclear;
}

void SlackSearch::passed() {
  before_.push_back({std::exchange(kept_, asked_), kept_ratio_});
  kept_ratio_ *= test_.energy / reference_.energy;
  failures_ = 0;
  // The Window that passed is the next one's neighbour.
  reference_ = test_;
  Group& group = tried_;
  if (group.guessed) return confirm();
  if (first_round_) {
    loose_.insert(loose_.end(), group.gpus.begin(), group.gpus.end());
    loose_step_ = group.step;
  } else if (!group.failed_half.empty()) {
    // The limit lies in the other half; single GPUs there may still have more.
    if (group.failed_half.size() > 1) split(group.failed_half, kFirstStep);
    queue_.push_front({group.gpus, group.step});
  } else if (!group.exact) {
    queue_.push_front({group.gpus, std::min(kLargestStep, 2 * group.step)});
  } else if (group.gpus.size() > 1) {
    split(group.gpus, kFirstStep);
  }
  propose();
}

void SlackSearch::failed() {
  ++failures_;
  Group group = std::move(tried_);
  if (group.guessed) return ask_reference("what is kept, for comparison");
  // The time has moved by what the step exceeded the slack.
  const double move = test_.windows > 0 ? test_.time / reference_.time - 1 : 1;
  const double error = std::sqrt(test_.time_variance + reference_.time_variance);
  const double slack = group.step - (std::max(0.0, move) + error) / terms_.sensitivity;
  if (!group.exact && slack >= kSmallestStep) {
    group.step = slack;
    group.exact = true;
    queue_.push_front(std::move(group));
  } else {
    give_up_on(std::move(group));
  }
  // Where nothing has passed so far, halves and then quarters are enough to believe that all keep
  // the same pace.
  const auto most = static_cast<int>(std::bit_width(terms_.gpus)) + 1;
  if (failures_ >= most) return confirm();
  ask_reference("what is kept, for comparison");
}

void SlackSearch::give_up_on(Group group) {
  if (first_round_) {
    if (group.gpus.size() > 1) split(group.gpus, kFirstStep);
  } else if (group.first_half) {
    // Only if the other half has more is it worth looking for who in this one has none.
    queue_.front().failed_half = std::move(group.gpus);
  }
}

// What was found against the joint Setting, once more and side by side.
void SlackSearch::confirm() {
  queue_.clear();
  loose_.clear();
  if (before_.empty()) return finish("nobody waits for the others");
  stage_ = Stage::kConfirmJoint;
  reference_ = Pool();
  test_ = Pool();
  asked_.assign(terms_.gpus, 0);
  reason_ = "the joint Setting, against what was found";
}

void SlackSearch::conclude() {
  const double error = std::sqrt(test_.time_variance + reference_.time_variance);
  const double wanted = kConfirmedTo * terms_.room;
  const bool enough =
      test_.windows >= kMostToConfirm || (test_.windows >= kFewestToConfirm && error <= wanted);
  if (!enough) {
    stage_ = Stage::kConfirmJoint;
    asked_.assign(terms_.gpus, 0);
    return;
  }
  const double move = test_.time / reference_.time - 1;
  const bool cheaper = test_.energy < reference_.energy;
  if (cheaper && move <= std::min(terms_.room, 2 * error)) {
    kept_ratio_ = test_.energy / reference_.energy;
    return finish("slack is used");
  }
  // The last step was one too many, or an earlier one.
  kept_ = std::move(before_.back().kept);
  kept_ratio_ = before_.back().ratio;
  before_.pop_back();
  confirm();
}

void SlackSearch::interrupted() {
  comparing_ = false;
  if (stage_ == Stage::kTest) queue_.push_front(std::move(tried_));
  if (stage_ == Stage::kTest || (stage_ == Stage::kReference && reference_.windows > 0)) {
    ask_reference("what is kept, for comparison");
  }
}

bool SlackSearch::observe(const Window& joint) {
  if (done()) return true;
  ++windows_;
  const std::size_t most = 10 + 3 * terms_.gpus;
  if (windows_ > 2 * most) {
    kept_.assign(terms_.gpus, 0);
    kept_ratio_ = 1;
    finish("it could not be confirmed");
    return false;
  }
  if (!joint.usable() || joint.aborted) return false;
  comparing_ = false;
  if (stage_ == Stage::kConfirmJoint) {
    reference_.add(joint);
    stage_ = Stage::kConfirmKept;
    asked_ = kept_;
    comparing_ = true;
    return true;
  }
  if (stage_ == Stage::kConfirmKept) {
    test_.add(joint);
    conclude();
    return true;
  }
  if (windows_ > most) {
    confirm();
    return false;
  }
  if (stage_ == Stage::kReference) {
    reference_.add(joint);
    propose();
    comparing_ = stage_ == Stage::kTest;
    return true;
  }
  test_.add(joint);
  switch (judge()) {
    case Verdict::kPassed:
      passed();
      return true;
    case Verdict::kUnclear:
      comparing_ = true;
      return false;
    case Verdict::kFailed:
      failed();
      return false;
    case Verdict::kReferenceStale:
      break;
  }
  if (++stale_ > kMostStale) {
    confirm();
    return false;
  }
  queue_.push_front(std::move(tried_));
  ask_reference("the job has become faster by itself");
  return false;
}

}  // namespace hypermile
