// SPDX-License-Identifier: Apache-2.0
//
// Simulated and replayed GPUs as a SettingPort: no lease stands between, because there is nothing
// to protect. Answers at once, in the clock's time; gives every card back on release and when
// destroyed. A real card is never driven by it.
#pragma once

#include <map>
#include <memory>

#include "control/setting_port.h"
#include "gpu/gpu.h"

namespace hypermile {

class DirectPort final : public SettingPort {
 public:
  // The cards that may be claimed; they must outlive it.
  explicit DirectPort(std::vector<Gpu*> cards);
  ~DirectPort() override;

  void claim(const std::vector<GpuUuid>& gpus) override;
  PortState state() const override { return state_; }
  std::optional<Error> problem() const override { return problem_; }
  void ask(const GpuUuid& gpu, const Setting& setting) override;
  std::vector<PortAnswer> take_answers() override;
  Result<void> release() override;
  // What the first card was last told; none before anything was.
  const std::optional<Setting>& told() const { return told_; }

 private:
  Gpu* find(const GpuUuid& uuid) const;

  std::vector<Gpu*> cards_;
  std::vector<Gpu*> claimed_;
  PortState state_ = PortState::kUnclaimed;
  std::optional<Error> problem_;
  std::map<GpuUuid, Setting> wanted_;  // not yet answered
  std::optional<Setting> told_;
};

}  // namespace hypermile
