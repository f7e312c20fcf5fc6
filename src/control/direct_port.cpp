// SPDX-License-Identifier: Apache-2.0
#include "control/direct_port.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// Knobs that the Setting does not name go back, whatever became of the others.
Result<void> tell(Gpu& gpu, const Setting& setting) {
  Result<void> outcome;
  for (const Knob knob : kAllKnobs) {
    if (setting.has(knob)) continue;
    Result<void> reset = gpu.reset(knob);
    if (!reset && reset.error().code != ErrorCode::kUnsupported && outcome) outcome = reset;
  }
  if (setting.empty() || !outcome) return outcome;
  return all_applied(gpu.apply(setting));
}

}  // namespace

DirectPort::DirectPort(std::vector<Gpu*> cards) : cards_(std::move(cards)) {}

DirectPort::~DirectPort() {
  (void)release();
}

Gpu* DirectPort::find(const GpuUuid& uuid) const {
  const auto found =
      std::ranges::find_if(cards_, [&](Gpu* card) { return card->identity().uuid == uuid; });
  return found != cards_.end() ? *found : nullptr;
}

void DirectPort::claim(const std::vector<GpuUuid>& gpus) {
  claimed_.clear();
  for (const GpuUuid& uuid : gpus) {
    Gpu* card = find(uuid);
    if (card == nullptr) {
      problem_ = Error{ErrorCode::kNotFound, "no GPU " + uuid.text() + " can be driven here"};
      state_ = PortState::kRefused;
      return;
    }
    claimed_.push_back(card);
  }
  problem_.reset();
  state_ = PortState::kHeld;
}

void DirectPort::ask(const GpuUuid& gpu, const Setting& setting) {
  wanted_[gpu] = setting;
}

std::vector<PortAnswer> DirectPort::take_answers() {
  std::vector<PortAnswer> answers;
  for (const auto& [uuid, setting] : std::exchange(wanted_, {})) {
    Gpu* card = find(uuid);
    if (card == nullptr || state_ != PortState::kHeld) {
      answers.push_back({uuid, setting, Error{ErrorCode::kPermission, "this GPU is not held"}});
      continue;
    }
    const Result<void> told = tell(*card, setting);
    if (told && card == cards_.front()) told_ = setting;
    answers.push_back({uuid, setting, told ? Result<Setting>(setting) : told.error()});
  }
  return answers;
}

Result<void> DirectPort::release() {
  Result<void> outcome;
  for (Gpu* card : std::exchange(claimed_, {})) {
    if (Result<void> back = tell(*card, {}); !back) outcome = back;
  }
  wanted_.clear();
  if (state_ == PortState::kHeld) state_ = PortState::kUnclaimed;
  return outcome;
}

}  // namespace hypermile
