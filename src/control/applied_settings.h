// SPDX-License-Identifier: Apache-2.0
//
// What the GPUs of a job are told: asks the port, takes its answers, and knows from when on a
// Setting is in force. A request is not a clock: a card takes 5 to 150 ms to act, so it is in force
// once the sensors show it, or after a while where they cannot (a card that its power limit holds
// below the ceiling).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "control/control_desk.h"
#include "control/setting_port.h"
#include "measure/gpu_watch.h"

namespace hypermile {

class AppliedSettings {
 public:
  enum class Stage {
    kInForce,   // what was asked for last
    kAsked,     // no answer yet
    kSettling,  // told, not yet seen
    kFailed,    // problem() says why; ask again to leave it
  };

  // Both must outlive it.
  AppliedSettings(SettingPort& port, const ControlDesk& desk);

  // Of the job, once; each is at its default. In the order of `each` below.
  void set_gpus(std::vector<GpuWatch*> gpus);
  const std::vector<GpuWatch*>& gpus() const { return gpus_; }

  // One for each GPU. Costs nothing where that is what they were told already.
  void ask(const std::vector<Setting>& each, Instant now);
  void add(const GpuWatch& gpu, const SamplerReading& reading);
  Stage step(Instant now);
  // The port has given everything back by itself.
  void forget();

  Stage stage() const { return stage_; }
  const std::vector<Setting>& asked() const { return asked_; }
  const std::vector<Setting>& told() const { return told_; }  // perhaps clamped
  bool at_default() const;
  Instant in_force_since() const { return since_; }
  const std::optional<Error>& problem() const { return problem_; }
  // Whether a Setting that names this knob was ever carried out.
  bool has_worked(Knob knob) const { return std::ranges::count(worked_, knob) > 0; }
  // Changes that the cards carried out.
  std::size_t changes() const { return changes_; }

 private:
  void take_answers(Instant now);
  bool seen(std::size_t gpu) const;
  void write_change(std::size_t gpu, const std::string& problem);

  SettingPort& port_;
  const ControlDesk& desk_;
  std::vector<GpuWatch*> gpus_;
  std::vector<Setting> asked_, told_;
  std::vector<bool> answered_;
  std::vector<Sample> newest_;
  Stage stage_ = Stage::kInForce;
  Instant asked_at_, told_at_, since_;
  std::optional<Error> problem_;
  std::vector<Knob> worked_;
  std::size_t changes_ = 0;
};

}  // namespace hypermile
