// SPDX-License-Identifier: Apache-2.0
//
// What a Controller has done, for reports and for the memory across runs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/identifiers.h"
#include "base/units.h"
#include "control/control_state.h"
#include "gpu/setting.h"
#include "measure/window_mean.h"

namespace hypermile {

// Means over the usable Windows at one Setting; of several GPUs, the joint ones.
struct MeasuredSetting {
  Setting setting;
  WindowMean time;    // seconds per iteration
  WindowMean energy;  // joules per iteration
  WindowMean power;   // watts
  double iterations = 0;
};

struct PhaseControl {
  std::int64_t process = 0;
  std::uint32_t phase = 0;
  std::string name;            // of ticks; "" otherwise
  std::string policy;          // "" where none was asked
  std::string why_left_alone;  // "" where a policy was asked
  bool held = false;           // the policy came to keep a Setting
  Setting kept;                // that Setting; the default otherwise
  // Where the job's time is shared: what each Setting has had since the first was held. `kept` has
  // the largest share of those off the default.
  std::vector<SettingShare> shares;
  // With slack: what each GPU is told in its place, in order of ControlSummary::gpus; else empty.
  std::vector<Setting> kept_each;
  std::optional<MeasuredSetting> with_slack;  // as it is then; `measured` is without
  double confidence = 0;                      // that the whole job will keep its bound
  std::string why_kept;                       // in the policy's words
  std::vector<MeasuredSetting> measured;      // [0] is the default, where it was measured
  // A model predicted from what NVML tells alone: no counter of the card's activity was read.
  bool predicted_without_counters = false;
  std::size_t probes = 0;                // exploration Windows
  std::optional<Seconds> settled_after;  // from the job's first iteration to the first hold
  double iterations = 0;                 // measured, all Settings

  const MeasuredSetting* at(const Setting& setting) const;
};

struct ControlSummary {
  ControlState state = ControlState::kWarmUp;
  std::string reason;                                   // of that state
  ControlState before_release = ControlState::kWarmUp;  // the last one before it was over
  std::vector<GpuUuid> gpus;
  std::vector<PhaseControl> phases;  // as they were met
  std::map<ControlState, Seconds> time_in;
  std::size_t windows = 0;
  std::size_t unusable = 0;
  std::size_t setting_changes = 0;
  std::size_t drifts = 0;
  bool restored = true;  // every GPU is known to be at what it had before us
};

nlohmann::json to_json(const ControlSummary& summary);

}  // namespace hypermile
