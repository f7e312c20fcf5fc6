// SPDX-License-Identifier: Apache-2.0
#include "control/control_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "record/setting_json.h"

namespace hypermile {
namespace {

using nlohmann::json;

json to_json(const PhaseControl& phase) {
  json out = {{"process", phase.process},
              {"phase", phase.phase},
              {"held", phase.held},
              {"kept", setting_json(phase.kept)},
              {"confidence", phase.confidence},
              {"probes", phase.probes},
              {"iterations", phase.iterations}};
  for (const SettingShare& one : phase.shares) {
    out["shares"].push_back({{"setting", setting_json(one.setting)}, {"share", one.share}});
  }
  if (!phase.name.empty()) out["name"] = phase.name;
  if (!phase.policy.empty()) out["policy"] = phase.policy;
  if (!phase.why_kept.empty()) out["why_kept"] = phase.why_kept;
  if (phase.predicted_without_counters) out["predicted_without_counters"] = true;
  if (!phase.why_left_alone.empty()) out["left_alone"] = phase.why_left_alone;
  if (phase.settled_after) out["settled_after_s"] = phase.settled_after->value();
  for (const Setting& each : phase.kept_each) out["kept_each"].push_back(setting_json(each));
  return out;
}

}  // namespace

const MeasuredSetting* PhaseControl::at(const Setting& setting) const {
  const auto found = std::ranges::find(measured, setting, &MeasuredSetting::setting);
  return found != measured.end() ? &*found : nullptr;
}

json to_json(const ControlSummary& summary) {
  json out = {{"state", to_string(summary.state)},
              {"reason", summary.reason},
              {"before_release", to_string(summary.before_release)},
              {"windows", summary.windows},
              {"unusable_windows", summary.unusable},
              {"setting_changes", summary.setting_changes},
              {"drifts", summary.drifts},
              {"restored", summary.restored}};
  out["gpus"] = json::array();
  for (const GpuUuid& gpu : summary.gpus) out["gpus"].push_back(gpu.text());
  out["phases"] = json::array();
  for (const PhaseControl& phase : summary.phases) out["phases"].push_back(to_json(phase));
  for (const auto& [state, time] : summary.time_in) {
    out["seconds_in"][std::string(to_string(state))] = time.value();
  }
  return out;
}

}  // namespace hypermile
