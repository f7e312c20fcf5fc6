// SPDX-License-Identifier: Apache-2.0
//
// What the windows of one process in one phase on one GPU show: time, energy and power of an
// iteration at each setting, and the change against the default. RunFigures fills these from
// events; texts, pages, metrics and JSON read SettingCost.
//
// Only windows of the best kind count at each setting: windows that decisions may rest on before
// others, and of each of these the GPU's own clock before the host's, which runs ahead of it. A
// window that no decision may rest on still shows what an iteration took where the card was held
// back or idle or its power unknown; such windows count where there are no better ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/identifiers.h"
#include "gpu/setting.h"
#include "measure/window.h"
#include "measure/window_mean.h"

namespace hypermile {

// What one iteration costs at one setting. An iteration is an optimizer step where the job's
// micro-batches are known.
struct SettingCost {
  Setting setting;
  bool kept = false;          // the policy held this setting last
  std::size_t windows = 0;    // that the means rest on
  std::size_t gpu_timed = 0;  // of them: on the GPU's own clock
  std::size_t unusable = 0;   // windows that no decision may rest on
  double iterations = 0;      // in the windows that the means rest on
  std::optional<Estimate> time_s, energy_j, power_w, sm_mhz;
  std::optional<double> energy_disagreement;  // energy counter / integrated power - 1
  // Against the default, where both were measured: -0.1 is 10 % less.
  std::optional<Estimate> energy_change, time_change;
};

// Fills the changes of `cost` against what the default costs.
void compare(SettingCost& cost, const SettingCost& usual);
// The same where `cost` is the mean over several settings, the default perhaps among them.
void compare_mix(SettingCost& mix, const SettingCost& usual);
// Adds the energy and power of another GPU that runs the same iterations.
void add_gpu(SettingCost& sum, const SettingCost& gpu);

class PhaseFigures {
 public:
  PhaseFigures(GpuUuid gpu, std::int64_t process, PatternId pattern);

  // `counted` is how many iterations the process has run in this phase so far, measured or not;
  // nullopt where the log does not tell.
  void add(const Window& window, const std::optional<double>& counted);
  // A window at a setting that the policy holds. `shared`: the job's time is shared between this
  // setting and those held before; otherwise it takes their place.
  void keep(const Setting& setting, double iterations, bool shared);
  void set_micro_batches(double micro_batches) { micro_batches_ = micro_batches; }

  const GpuUuid& gpu() const { return gpu_; }
  std::int64_t process() const { return process_; }
  PatternId pattern() const { return pattern_; }
  // The setting held, or of several the one off the default with the largest share; nullopt where
  // none was.
  std::optional<Setting> kept() const;
  const std::vector<SettingShare>& shares() const { return kept_; }
  double micro_batches() const { return micro_batches_; }
  double seconds() const { return seconds_; }  // spent in its windows
  double iterations() const;                   // of the job so far, measured or not
  std::size_t windows() const { return windows_; }
  // Why windows were unusable, without their figures, and how many for each reason.
  const std::map<std::string, std::size_t>& unusable() const { return unusable_; }

  // One entry for each setting that windows tell something about, in the order of first appearance.
  std::vector<SettingCost> costs() const;
  std::optional<SettingCost> cost_at(const Setting& setting) const;

  // One iteration at what is kept: at one setting, or the mean over the shares of several.
  std::optional<SettingCost> kept_cost() const;

  // What all iterations at other settings saved against the default, probes included; negative
  // where they cost more. nullopt where the default or everything else was not measured.
  std::optional<Estimate> saved_j() const;
  std::optional<Estimate> lost_s() const;
  // What all iterations of which the cost is known took together.
  std::optional<double> spent_j() const;

 private:
  struct AtSetting {
    Setting setting;
    int worth = 0;  // of the windows that count
    std::size_t gpu_timed = 0, unusable = 0;
    double iterations = 0;  // in the windows that count
    double ran = 0;         // of the job, measured or not
    WindowMean time_s, energy_j, power_w, sm_mhz, disagreement;
    void measure(const Window& window);
  };
  AtSetting& at(const Setting& setting);
  const AtSetting* find(const Setting& setting) const;
  SettingCost cost_of(const AtSetting& measured) const;
  double newly_run(const Window& window, const std::optional<double>& counted);
  std::optional<double> least_sure(WindowMean AtSetting::*quantity) const;
  std::optional<Estimate> difference(WindowMean AtSetting::*quantity) const;

  GpuUuid gpu_;
  std::int64_t process_;
  PatternId pattern_;
  std::vector<AtSetting> settings_;
  std::vector<SettingShare> kept_;  // shares are iterations
  double micro_batches_ = 1;
  double seconds_ = 0;
  double counted_ = 0;
  std::optional<double> measured_until_;  // the iteration at which the last window ended
  std::size_t windows_ = 0;
  std::map<std::string, std::size_t> unusable_;
};

}  // namespace hypermile
