// SPDX-License-Identifier: Apache-2.0
#include "control/slack_keeper.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

// Windows held at a Setting before anybody asks for slack there. A policy that shares the job's
// time comes back to the same Settings again and again, and each visit may be one window long.
constexpr int kHoldsBefore = 1;
constexpr double kLeastSensitivity = 0.05;
constexpr double kUnknownSensitivity = 0.5;
constexpr double kSureOfTheBound = 1.64;
// Lower than this nobody goes, whatever the others do: memory and latency would show.
constexpr double kLowest = 0.4;

// `setting` is `held` with a lower value of the knob and nothing else changed.
bool below(const Setting& setting, const Setting& held, Knob knob) {
  Setting same = setting;
  Setting other = held;
  same.clear(knob);
  other.clear(knob);
  if (!(same == other) || !setting.has(knob)) return false;
  return !held.has(knob) || *setting.value(knob) < *held.value(knob);
}

bool any_lowered(const Rungs& rungs) {
  return std::ranges::any_of(rungs, [](std::size_t rung) { return rung > 0; });
}

// What the Window would have shown with every GPU at the joint Setting; time is the same.
Window without_slack(Window window, double energy_ratio) {
  if (!(energy_ratio > 0.1)) return window;
  if (window.power) window.power = *window.power / energy_ratio;
  if (window.energy) window.energy = *window.energy / energy_ratio;
  if (window.energy_per_iteration) {
    window.energy_per_iteration = *window.energy_per_iteration / energy_ratio;
  }
  return window;
}

}  // namespace

SlackKeeper::SlackKeeper(const PolicyContext& context, std::vector<GpuUuid> gpus)
    : context_(context), gpus_(std::move(gpus)), means_(context.settings.size()) {
  const bool clocks = std::ranges::any_of(
      context_.settings, [](const Setting& setting) { return setting.sm_clock.has_value(); });
  knob_ = clocks ? Knob::kSmClock : Knob::kPowerLimit;
}

SlackKeeper::Plan SlackKeeper::plan(const Step& step) {
  Plan plan;
  plan.iterations = step.iterations;
  plan.settings.assign(gpus_.size(), context_.settings[step.setting]);
  if (held_ && (step.exploring || held_ != step.setting)) {
    Held& left = at_[*held_];
    if (left.search) left.search->interrupted();
    remember_slack(left);
    seen_.reset();
  }
  if (step.exploring) return plan;
  held_ = step.setting;
  Held& held = at_[*held_];
  if (!held.search) return plan;
  plan.settings = settings_at(held, held.search->next());
  if (held.search->done()) return plan;
  plan.iterations = std::min(plan.iterations, context_.window_iterations);
  plan.reason = held.search->reason();
  return plan;
}

const SlackSearch* SlackKeeper::search() const {
  const auto held = held_ ? at_.find(*held_) : at_.end();
  return held != at_.end() && held->second.search ? &*held->second.search : nullptr;
}

std::optional<Window> SlackKeeper::observe(const Step& step, const Window& joint,
                                           std::span<const RankWindow> ranks) {
  if (step.exploring || held_ != step.setting) {
    note(step.setting, joint);
    return joint;
  }
  Held& held = at_[*held_];
  if (held.search) {
    const bool lowered = any_lowered(held.search->next());
    if (held.search->observe(joint)) {
      seen_ = lowered ? without_slack(joint, held.search->energy_ratio()) : joint;
      if (lowered) seen_->sm_clock = pace_clock(ranks);
    }
    if (held.search->comparing()) return std::nullopt;
    return std::exchange(seen_, std::nullopt);
  }
  note(step.setting, joint);
  if (joint.usable() && ++held.holds >= kHoldsBefore && gpus_.size() > 1) {
    begin_search(held, step, ranks);
  }
  return joint;
}

// The lowest clock of the GPUs that are told what the policy asked for.
std::optional<Mhz> SlackKeeper::pace_clock(std::span<const RankWindow> ranks) const {
  std::optional<Mhz> lowest;
  for (const RankWindow& rank : ranks) {
    if (!(rank.window.setting == context_.settings[*held_]) || !rank.window.sm_clock) continue;
    if (!lowest || *rank.window.sm_clock < *lowest) lowest = rank.window.sm_clock;
  }
  return lowest;
}

std::vector<Setting> SlackKeeper::kept() const {
  const SlackSearch* found = search();
  if (found == nullptr || !any_lowered(found->kept())) return {};
  return settings_at(at_.at(*held_), found->kept());
}

void SlackKeeper::note(std::size_t setting, const Window& joint) {
  if (!joint.usable() || joint.aborted) return;
  Mean& mean = means_[setting];
  const double n = ++mean.windows;
  const double error = joint.time_error.value_or(0.005);
  mean.log_time += (std::log(joint.time_per_iteration->value()) - mean.log_time) / n;
  mean.variance += (error * error - mean.variance) / n;
  const double power = joint.power->value() / static_cast<double>(gpus_.size());
  const double clock = joint.sm_clock ? joint.sm_clock->value() : 0;
  mean.clock += ((knob_ == Knob::kSmClock ? clock : power) - mean.clock) / n;
}

void SlackKeeper::begin_search(Held& here, const Step& step, std::span<const RankWindow> ranks) {
  const Setting& held = context_.settings[*held_];
  std::vector<std::size_t>& ladder = here.ladder;
  ladder = {*held_};
  for (std::size_t i = 1; i < context_.settings.size(); ++i) {
    const Setting& setting = context_.settings[i];
    if (below(setting, held, knob_) && position(setting) >= kLowest * position(held)) {
      ladder.push_back(i);
    }
  }
  std::ranges::sort(ladder.begin() + 1, ladder.end(), std::ranges::greater{},
                    [&](std::size_t i) { return position(context_.settings[i]); });
  SlackTerms terms;
  terms.gpus = gpus_.size();
  for (const std::size_t i : ladder) terms.ladder.push_back(position(context_.settings[i]));
  // The default has no value of its own: the best card's clock stands for it.
  terms.reached.resize(gpus_.size());
  for (const RankWindow& rank : ranks) {
    const auto gpu = std::ranges::find(gpus_, rank.gpu);
    if (gpu == gpus_.end() || knob_ != Knob::kSmClock || !rank.window.sm_clock) continue;
    const double clock = rank.window.sm_clock->value();
    terms.reached[static_cast<std::size_t>(gpu - gpus_.begin())] = clock;
    if (!held.sm_clock) terms.ladder.front() = std::max(terms.ladder.front(), clock);
  }
  for (const double share : lowered_) {
    const double wanted = share * terms.ladder.front();
    const auto below_it = std::ranges::find_if(terms.ladder, [&](double v) { return v < wanted; });
    const auto rung = static_cast<std::size_t>(below_it - terms.ladder.begin());
    terms.guess.push_back(rung > 0 ? rung - 1 : 0);
  }
  terms.sensitivity = sensitivity();
  terms.room = room(step);
  here.search.emplace(std::move(terms));
}

void SlackKeeper::remember_slack(const Held& held) {
  if (!held.search || !any_lowered(held.search->kept())) return;
  lowered_.clear();
  for (const std::size_t rung : held.search->kept()) {
    lowered_.push_back(position(context_.settings[held.ladder[rung]]) /
                       position(context_.settings[held.ladder.front()]));
  }
}

std::vector<Setting> SlackKeeper::settings_at(const Held& held, const Rungs& rungs) const {
  std::vector<Setting> settings;
  settings.reserve(rungs.size());
  for (const std::size_t rung : rungs) settings.push_back(context_.settings[held.ladder[rung]]);
  return settings;
}

// Of the knob that moves; where it is left to the driver, what the default was seen at.
double SlackKeeper::position(const Setting& setting) const {
  if (const auto value = setting.value(knob_)) return *value;
  if (means_[0].clock > 0) return means_[0].clock;
  return context_.default_values.value(knob_).value_or(1);
}

// From the default to the Setting held, or to the lowest that was tried where the default is held.
double SlackKeeper::sensitivity() const {
  std::size_t at = *held_;
  if (at == 0) {
    for (std::size_t i = 1; i < means_.size(); ++i) {
      const bool tried = means_[i].windows > 0 && below(context_.settings[i], {}, knob_);
      if (tried && (at == 0 || position(context_.settings[i]) < position(context_.settings[at]))) {
        at = i;
      }
    }
  }
  if (at == 0 || means_[0].windows == 0 || means_[at].windows == 0) return kUnknownSensitivity;
  const double lower = std::log(position({}) / position(context_.settings[at]));
  if (lower < 0.02) return kUnknownSensitivity;
  return std::clamp((means_[at].log_time - means_[0].log_time) / lower, kLeastSensitivity, 1.0);
}

// What is left of the bound, as far as that is sure, but no more than can be told from noise. Where
// the policy keeps account of the job's time the mean counts, not this Setting: what is measured
// here is in the account, and the policy makes up for it.
double SlackKeeper::room(const Step& step) const {
  const std::optional<double> bound = effective_bound(context_.objective);
  if (!bound || !step.shares.empty()) return kNoMeasurableSlowdown;
  const Mean& base = means_[0];
  const Mean& held = means_[*held_];
  if (*held_ == 0) return std::min(kNoMeasurableSlowdown, *bound);
  if (base.windows == 0 || held.windows == 0) return 0;
  const double error = std::sqrt(base.variance / base.windows + held.variance / held.windows);
  const double left =
      std::log1p(*bound) - (held.log_time - base.log_time) - kSureOfTheBound * error;
  return std::clamp(left, 0.0, kNoMeasurableSlowdown);
}

}  // namespace hypermile
