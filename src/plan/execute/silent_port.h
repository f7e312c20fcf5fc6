// SPDX-License-Identifier: Apache-2.0
//
// A SettingPort that accepts every request and changes no GPU. With it, a plan is carried out up to
// its requests where clocks may not be changed. Used by the Python package and by tests.
#pragma once

#include <utility>

#include "control/setting_port.h"

namespace hypermile {

class SilentPort final : public SettingPort {
 public:
  void claim(const std::vector<GpuUuid>&) override { state_ = PortState::kHeld; }
  PortState state() const override { return state_; }
  std::optional<Error> problem() const override { return std::nullopt; }
  void ask(const GpuUuid& gpu, const Setting& setting) override {
    answers_.push_back({gpu, setting, setting});
  }
  std::vector<PortAnswer> take_answers() override { return std::exchange(answers_, {}); }
  Result<void> release() override {
    state_ = PortState::kUnclaimed;
    return {};
  }

 private:
  PortState state_ = PortState::kUnclaimed;
  std::vector<PortAnswer> answers_;
};

}  // namespace hypermile
