// SPDX-License-Identifier: Apache-2.0
#include "control/applied_settings.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kSoonest = milliseconds(150);  // sensors show a clock a little before all acts
constexpr Seconds kSettle = milliseconds(500);   // where the sensors cannot confirm it
constexpr Seconds kLatest = Seconds(2);          // a clock above its ceiling is waited for
constexpr Seconds kAnswerWithin = Seconds(15);   // drivers have taken ten
constexpr double kSameClock = 0.015;

bool near(const std::optional<Mhz>& seen, Mhz wanted) {
  return seen && std::abs(*seen / wanted - 1) <= kSameClock;
}

}  // namespace

AppliedSettings::AppliedSettings(SettingPort& port, const ControlDesk& desk)
    : port_(port), desk_(desk) {}

void AppliedSettings::set_gpus(std::vector<GpuWatch*> gpus) {
  gpus_ = std::move(gpus);
  newest_.assign(gpus_.size(), {});
  forget();
}

void AppliedSettings::forget() {
  asked_.assign(gpus_.size(), {});
  told_ = asked_;
  answered_.assign(gpus_.size(), true);
  stage_ = Stage::kInForce;
  problem_.reset();
}

bool AppliedSettings::at_default() const {
  return std::ranges::all_of(told_, [](const Setting& told) { return told.empty(); }) &&
         std::ranges::all_of(asked_, [](const Setting& asked) { return asked.empty(); });
}

void AppliedSettings::ask(const std::vector<Setting>& each, Instant now) {
  if (each == asked_ && stage_ != Stage::kFailed) return;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    // After a failure nobody knows what the card has: it is told again.
    if (each[i] == asked_[i] && answered_[i] && stage_ != Stage::kFailed) continue;
    asked_[i] = each[i];
    answered_[i] = false;
    port_.ask(gpus_[i]->identity().uuid, each[i]);
  }
  problem_.reset();
  stage_ = Stage::kAsked;
  asked_at_ = now;
}

void AppliedSettings::add(const GpuWatch& gpu, const SamplerReading& reading) {
  const auto at = std::ranges::find(gpus_, &gpu);
  if (at != gpus_.end()) newest_[static_cast<std::size_t>(at - gpus_.begin())] = reading.sample;
}

void AppliedSettings::take_answers(Instant now) {
  for (const PortAnswer& answer : port_.take_answers()) {
    const auto at = std::ranges::find_if(
        gpus_, [&](const GpuWatch* gpu) { return gpu->identity().uuid == answer.gpu; });
    if (at == gpus_.end()) continue;
    const auto i = static_cast<std::size_t>(at - gpus_.begin());
    if (answer.asked != asked_[i]) continue;  // of a request that another has replaced
    answered_[i] = true;
    if (answer.told) {
      changes_ += *answer.told == told_[i] ? 0 : 1;
      told_[i] = *answer.told;
      for (const Knob knob : kAllKnobs) {
        if (told_[i].has(knob) && !has_worked(knob)) worked_.push_back(knob);
      }
    } else if (!problem_) {
      problem_ = answer.told.error();
      write_change(i, problem_->line());
    }
  }
  if (stage_ != Stage::kAsked || !std::ranges::all_of(answered_, std::identity{})) return;
  stage_ = problem_ ? Stage::kFailed : Stage::kSettling;
  told_at_ = now;
}

// Whether the sensors show what the GPU was told; of the default they cannot tell.
bool AppliedSettings::seen(std::size_t gpu) const {
  const Sample& sample = newest_[gpu];
  const Setting& told = told_[gpu];
  if (told.empty() || told.power_limit || sample.time <= told_at_) return false;
  return (!told.sm_clock || near(sample.sm_clock, *told.sm_clock)) &&
         (!told.memory_clock || near(sample.memory_clock, *told.memory_clock));
}

AppliedSettings::Stage AppliedSettings::step(Instant now) {
  take_answers(now);
  if (stage_ == Stage::kAsked && now - asked_at_ > kAnswerWithin) {
    problem_ = Error{ErrorCode::kTimeout, "the GPU's driver does not answer a request"};
    stage_ = Stage::kFailed;
  }
  if (stage_ != Stage::kSettling) return stage_;
  const Seconds waited = now - told_at_;
  bool all_seen = true;
  bool above = false;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    all_seen = all_seen && seen(i);
    const auto& ceiling = told_[i].sm_clock;
    above = above ||
            (ceiling && newest_[i].sm_clock && *newest_[i].sm_clock > *ceiling * (1 + kSameClock));
  }
  const bool settled = all_seen ? waited >= kSoonest : waited >= (above ? kLatest : kSettle);
  if (!settled) return stage_;
  stage_ = Stage::kInForce;
  since_ = now;
  for (std::size_t i = 0; i < gpus_.size(); ++i) write_change(i, "");
  return stage_;
}

void AppliedSettings::write_change(std::size_t gpu, const std::string& problem) {
  const Sample& sample = newest_[gpu];
  desk_.write(SettingChange{gpus_[gpu]->identity().uuid, asked_[gpu], problem.empty(), problem,
                            sample.sm_clock, sample.memory_clock, sample.power_limit});
}

}  // namespace hypermile
