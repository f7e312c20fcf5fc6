// SPDX-License-Identifier: Apache-2.0
#include "record/phase_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

std::optional<double> energy_of(const Window& window) {
  if (window.energy_per_iteration) return window.energy_per_iteration->value();
  if (!window.power) return std::nullopt;
  return (*window.power * *window.time_per_iteration).value();
}

std::optional<double> energy_error_of(const Window& window) {
  if (window.energy_error) return window.energy_error;
  if (!window.time_error || !window.power_error) return std::nullopt;
  return std::hypot(*window.time_error, *window.power_error);
}

// How much a window tells about what an iteration takes; 0 is nothing.
int worth_of(const Window& window) {
  if (!window.time_per_iteration || !is_positive(window.time_per_iteration->value()) ||
      !is_positive(window.iterations)) {
    return 0;
  }
  const std::optional<double> energy = energy_of(window);
  if (energy && !is_positive(*energy)) return 0;
  if (window.usable()) return window.gpu_timed ? 5 : 4;
  switch (window.refusal) {
    case Refusal::kHeldBack:
    case Refusal::kIdle:
    case Refusal::kNoPower:
      return window.gpu_timed ? 3 : 2;
    case Refusal::kPaused:
      return 1;
    case Refusal::kClockNotReached:
    case Refusal::kOther:
      return window.unusable.empty() ? (window.gpu_timed ? 3 : 2) : 0;
  }
  return 0;
}

// A reason without its figures, so that equal reasons are counted together.
std::string kind_of(const std::string& reason) {
  std::string kind = reason.substr(0, reason.find_first_of("0123456789:("));
  for (const char* tail : {" ", " for", " of"}) {
    if (kind.ends_with(tail)) kind.resize(kind.size() - std::string_view(tail).size());
  }
  return kind;
}

std::optional<Estimate> scaled_if(const std::optional<Estimate>& estimate, double factor) {
  return estimate ? std::optional(scaled(*estimate, factor)) : std::nullopt;
}

}  // namespace

void compare(SettingCost& cost, const SettingCost& usual) {
  const auto change = [&](const std::optional<Estimate>& a, const std::optional<Estimate>& b) {
    if (!a || !b) return std::optional<Estimate>();
    if (cost.setting == usual.setting) return std::optional(Estimate{0, 0});
    return std::optional(relative_change(*a, *b));
  };
  cost.energy_change = change(cost.energy_j, usual.energy_j);
  cost.time_change = change(cost.time_s, usual.time_s);
}

void compare_mix(SettingCost& mix, const SettingCost& usual) {
  if (mix.energy_j && usual.energy_j) {
    mix.energy_change = relative_change(*mix.energy_j, *usual.energy_j);
  }
  if (mix.time_s && usual.time_s) mix.time_change = relative_change(*mix.time_s, *usual.time_s);
}

void add_gpu(SettingCost& sum, const SettingCost& gpu) {
  const auto add = [](std::optional<Estimate>& to, const std::optional<Estimate>& part) {
    to = to && part ? std::optional(sum_of(*to, *part)) : std::nullopt;
  };
  add(sum.energy_j, gpu.energy_j);
  add(sum.power_w, gpu.power_w);
}

void PhaseFigures::AtSetting::measure(const Window& window) {
  const int worth_now = worth_of(window);
  if (worth_now == 0 || worth_now < worth) return;
  if (worth_now > worth) {
    time_s = energy_j = power_w = sm_mhz = disagreement = WindowMean();
    gpu_timed = 0;
    iterations = 0;
    worth = worth_now;
  }
  const double n = window.iterations;
  iterations += n;
  gpu_timed += window.gpu_timed;
  time_s.add(window.time_per_iteration->value(), n, window.time_error);
  if (const auto energy = energy_of(window)) energy_j.add(*energy, n, energy_error_of(window));
  if (window.power) power_w.add(window.power->value(), n, window.power_error);
  if (window.sm_clock) sm_mhz.add(window.sm_clock->value(), n, {});
  if (window.energy_disagreement) disagreement.add(*window.energy_disagreement, n, {});
}

PhaseFigures::PhaseFigures(GpuUuid gpu, std::int64_t process, PatternId pattern)
    : gpu_(std::move(gpu)), process_(process), pattern_(pattern) {}

void PhaseFigures::add(const Window& window, const std::optional<double>& counted) {
  ++windows_;
  seconds_ += window.duration.value();
  if (!window.unusable.empty()) ++unusable_[kind_of(window.unusable)];
  AtSetting& measured = at(window.setting);
  measured.unusable += !window.usable();
  measured.measure(window);
  measured.ran += newly_run(window, counted);
}

// The iterations since the last window are taken to have run at this window's setting: most of
// them settled there. Logs of version 0.1 do not count them; there a window tells how far the job
// had come when it began.
double PhaseFigures::newly_run(const Window& window, const std::optional<double>& counted) {
  if (!is_positive(window.iterations)) return 0;
  if (counted) {
    const double fresh = std::max(window.iterations, *counted - counted_);
    counted_ = std::max(*counted, counted_ + window.iterations);
    return fresh;
  }
  const double between = window.first_iteration - measured_until_.value_or(window.first_iteration);
  measured_until_ = window.first_iteration + window.iterations;
  // A gap longer than the window is no settling: the two windows count from different beginnings.
  const bool settling = between > 0 && between <= window.iterations;
  const double fresh = window.iterations + (settling ? between : 0);
  counted_ += fresh;
  return fresh;
}

void PhaseFigures::keep(const Setting& setting, double iterations, bool shared) {
  if (!shared) std::erase_if(kept_, [&](const auto& one) { return !(one.setting == setting); });
  const auto found = std::ranges::find(kept_, setting, &SettingShare::setting);
  if (found == kept_.end()) {
    kept_.push_back({setting, iterations});
  } else {
    found->share += iterations;
  }
}

std::optional<Setting> PhaseFigures::kept() const {
  const auto rank = [](const SettingShare& one) {
    return std::pair(!one.setting.empty(), one.share);
  };
  const auto most = std::ranges::max_element(kept_, {}, rank);
  return most == kept_.end() ? std::nullopt : std::optional(most->setting);
}

double PhaseFigures::iterations() const {
  return counted_ / micro_batches_;
}

PhaseFigures::AtSetting& PhaseFigures::at(const Setting& setting) {
  const auto found = std::ranges::find(settings_, setting, &AtSetting::setting);
  if (found != settings_.end()) return *found;
  settings_.emplace_back().setting = setting;
  return settings_.back();
}

const PhaseFigures::AtSetting* PhaseFigures::find(const Setting& setting) const {
  const auto found = std::ranges::find(settings_, setting, &AtSetting::setting);
  return found != settings_.end() && found->worth > 0 ? &*found : nullptr;
}

SettingCost PhaseFigures::cost_of(const AtSetting& measured) const {
  SettingCost cost;
  cost.setting = measured.setting;
  cost.kept = kept() == measured.setting;
  cost.windows = static_cast<std::size_t>(measured.time_s.windows());
  cost.gpu_timed = measured.gpu_timed;
  cost.unusable = measured.unusable;
  cost.iterations = measured.iterations / micro_batches_;
  cost.time_s = scaled_if(measured.time_s.estimate(), micro_batches_);
  cost.energy_j = scaled_if(measured.energy_j.estimate(), micro_batches_);
  cost.power_w = measured.power_w.estimate();
  cost.sm_mhz = measured.sm_mhz.estimate();
  cost.energy_disagreement = measured.disagreement.mean();
  return cost;
}

std::vector<SettingCost> PhaseFigures::costs() const {
  std::vector<SettingCost> costs;
  const std::optional<SettingCost> usual = cost_at({});
  for (const AtSetting& each : settings_) {
    if (each.worth == 0) continue;
    costs.push_back(cost_of(each));
    if (usual) compare(costs.back(), *usual);
  }
  return costs;
}

std::optional<SettingCost> PhaseFigures::cost_at(const Setting& setting) const {
  const AtSetting* measured = find(setting);
  if (measured == nullptr) return std::nullopt;
  SettingCost cost = cost_of(*measured);
  if (const AtSetting* usual = find({})) compare(cost, cost_of(*usual));
  return cost;
}

std::optional<SettingCost> PhaseFigures::kept_cost() const {
  if (kept_.empty()) return std::nullopt;
  if (kept_.size() == 1) return cost_at(kept_.front().setting);
  double all = 0;
  for (const SettingShare& one : kept_) all += one.share;
  std::optional<SettingCost> mix;
  const auto add = [](std::optional<Estimate>& to, const std::optional<Estimate>& part) {
    to = to && part ? std::optional(sum_of(*to, *part)) : std::nullopt;
  };
  for (const SettingShare& one : kept_) {
    const AtSetting* measured = find(one.setting);
    if (measured == nullptr) continue;
    SettingCost part = cost_of(*measured);
    const double share = one.share / all;
    part.time_s = scaled_if(part.time_s, share);
    part.energy_j = scaled_if(part.energy_j, share);
    if (!mix) {
      mix = part;
      continue;
    }
    add(mix->time_s, part.time_s);
    add(mix->energy_j, part.energy_j);
    mix->windows += part.windows;
    mix->gpu_timed += part.gpu_timed;
    mix->unusable += part.unusable;
    mix->iterations += part.iterations;
  }
  if (!mix) return std::nullopt;
  mix->setting = *kept();
  mix->kept = true;
  mix->sm_mhz.reset();
  mix->power_w.reset();
  if (mix->time_s && mix->energy_j) {
    mix->power_w = Estimate{mix->energy_j->value / mix->time_s->value, std::nullopt};
  }
  if (const AtSetting* usual = find({})) compare_mix(*mix, cost_of(*usual));
  return mix;
}

// A window may not know its own error. Where it is the only one at its setting, it is taken to be
// no surer than the least sure setting of the phase, as a share of the mean.
std::optional<double> PhaseFigures::least_sure(WindowMean AtSetting::*quantity) const {
  std::optional<double> widest;
  for (const AtSetting& each : settings_) {
    const auto cost = (each.*quantity).estimate();
    if (!cost || !cost->half_width95) continue;
    widest = std::max(widest.value_or(0), *cost->half_width95 / cost->value);
  }
  return widest;
}

// What the default would have taken less what was taken, over all iterations at other settings.
std::optional<Estimate> PhaseFigures::difference(WindowMean AtSetting::*quantity) const {
  const std::optional<double> least = least_sure(quantity);
  const auto cost_of_all = [&](const AtSetting& at, double iterations) {
    std::optional<Estimate> cost = scaled_if((at.*quantity).estimate(), iterations);
    if (cost && !cost->half_width95 && least) cost->half_width95 = *least * cost->value;
    return cost;
  };
  const AtSetting* usual = find({});
  const auto at_default = usual != nullptr ? (usual->*quantity).mean() : std::nullopt;
  if (!at_default) return std::nullopt;
  std::optional<Estimate> sum;
  double iterations = 0;
  for (const AtSetting& each : settings_) {
    const auto cost = cost_of_all(each, each.ran);
    if (each.setting.empty() || !cost) continue;
    iterations += each.ran;
    const Estimate part{each.ran * *at_default - cost->value, cost->half_width95};
    sum = sum ? sum_of(*sum, part) : part;
  }
  if (!sum) return std::nullopt;
  // The error of the default is the same in every difference.
  return sum_of(*sum, {0, cost_of_all(*usual, iterations)->half_width95});
}

std::optional<Estimate> PhaseFigures::saved_j() const {
  return difference(&AtSetting::energy_j);
}

std::optional<Estimate> PhaseFigures::lost_s() const {
  return scaled_if(difference(&AtSetting::time_s), -1);
}

std::optional<double> PhaseFigures::spent_j() const {
  std::optional<double> sum;
  for (const AtSetting& each : settings_) {
    if (const auto mean = each.energy_j.mean()) sum = sum.value_or(0) + each.ran * *mean;
  }
  return sum;
}

}  // namespace hypermile
