// SPDX-License-Identifier: Apache-2.0
#include "record/run_digest.h"

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "record/event_words.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostPhases = 32;  // of one GPU; a job that has more is told of no better

template <class Quantity>
void keep(std::optional<Quantity>& known, const std::optional<Quantity>& fresh) {
  if (fresh) known = fresh;
}

template <class Quantity>
void plot(ThinnedSeries& series, double time_s, const std::optional<Quantity>& value) {
  if (value) series.add(time_s, value->value());
}

SettingDigest& setting_of(MeasuredPhase& phase, const Setting& setting) {
  const auto found = std::ranges::find(phase.settings, setting, &SettingDigest::setting);
  if (found != phase.settings.end()) return *found;
  phase.settings.push_back({setting, 0, 0, 0, {}, {}, {}, {}});
  return phase.settings.back();
}

std::optional<double> absolute(const std::optional<double>& relative, double value) {
  return relative ? std::optional(*relative * value) : std::nullopt;
}

// Of a ratio of two means.
std::optional<double> ratio_error(const WeighedMean& a, const WeighedMean& b) {
  if (!a.error || !b.error) return std::nullopt;
  return a.mean / b.mean * std::hypot(*a.error / a.mean, *b.error / b.mean);
}

bool positive(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

void measure(MeasuredPhase& phase, const Window& window) {
  const double time = window.time_per_iteration->value();
  const double power = window.power->value();
  const double energy =
      window.energy_per_iteration ? window.energy_per_iteration->value() : time * power;
  if (!positive(time) || !positive(energy) || !positive(window.iterations)) return;
  const double weight = window.iterations;
  SettingDigest& measured = setting_of(phase, window.setting);
  ++measured.windows;
  measured.iterations += weight;
  measured.time_s.add(time, weight, absolute(window.time_error, time));
  measured.power_w.add(power, weight, absolute(window.power_error, power));
  std::optional<double> error = window.energy_error;
  if (!error && window.time_error && window.power_error) {
    error = std::hypot(*window.time_error, *window.power_error);
  }
  measured.energy_j.add(energy, weight, absolute(error, energy));
  if (window.sm_clock) measured.sm_mhz.add(window.sm_clock->value(), weight);
  const double end_s = (window.begin + window.duration).since_origin().value();
  phase.time_s.add(end_s, time);
  phase.energy_j.add(end_s, energy);
}

}  // namespace

const SettingDigest* MeasuredPhase::find(const Setting& setting) const {
  const auto found = std::ranges::find(settings, setting, &SettingDigest::setting);
  return found != settings.end() && found->windows > 0 ? &*found : nullptr;
}

std::optional<ComparedSetting> MeasuredPhase::compare(const Setting& setting) const {
  const SettingDigest* base = find({});
  const SettingDigest* other = find(setting);
  if (base == nullptr || other == nullptr) return std::nullopt;
  const WeighedMean base_time = base->time_s.estimate();
  const WeighedMean base_energy = base->energy_j.estimate();
  const WeighedMean time = other->time_s.estimate();
  const WeighedMean energy = other->energy_j.estimate();
  if (base == other) return ComparedSetting{0, 0, 0, 0};
  return ComparedSetting{time.mean / base_time.mean - 1, ratio_error(time, base_time),
                         1 - energy.mean / base_energy.mean, ratio_error(energy, base_energy)};
}

std::optional<double> MeasuredPhase::saved_j() const {
  const SettingDigest* base = find({});
  if (base == nullptr) return std::nullopt;
  const double base_energy = base->energy_j.estimate().mean;
  double saved = 0;
  for (const SettingDigest& each : settings) {
    if (each.windows == 0 || each.setting.empty()) continue;
    saved += each.iterations * (base_energy - each.energy_j.estimate().mean);
  }
  return saved;
}

WatchedGpu::WatchedGpu(GpuUuid uuid, std::size_t points)
    : power_w(points), sm_mhz(points), mem_mhz(points), temperature_c(points), limit_w(points) {
  identity.uuid = std::move(uuid);
}

std::optional<Joules> WatchedGpu::energy() const {
  if (!first_energy || !last.energy) return std::nullopt;
  return *last.energy - *first_energy;
}

const MeasuredPhase* WatchedGpu::main_phase() const {
  const auto most = std::ranges::max_element(phases, {}, &MeasuredPhase::seconds);
  return most != phases.end() ? &*most : nullptr;
}

void RunDigest::add(const Event& event) {
  ++events_;
  if (!first_s_) first_s_ = event.time.since_origin().value();
  now_s_ = std::max(now_s_, event.time.since_origin().value());
  std::visit([this](const auto& body) { take(body); }, event.body);
  if (const auto words = words_of(event.body)) {
    std::string uuid;
    if (const auto* decision = std::get_if<Decision>(&event.body)) uuid = decision->gpu.text();
    told_.add({event.time.since_origin().value(), words->kind, std::move(uuid), words->text});
  }
  if (const auto* change = std::get_if<StateChange>(&event.body)) {
    states_.add({event.time.since_origin().value(), change->state});
  }
  if (const auto* change = std::get_if<SettingChange>(&event.body); change && change->accepted) {
    gpu(change->gpu).asked.add({event.time.since_origin().value(), change->requested});
  }
  if (const auto* sample = std::get_if<SampleEvent>(&event.body)) {
    WatchedGpu& card = gpu(sample->gpu);
    const double time_s = event.time.since_origin().value();
    const Sample& s = sample->sample;
    plot(card.power_w, time_s, s.power_instant ? s.power_instant : s.power_average);
    plot(card.sm_mhz, time_s, s.sm_clock);
    plot(card.mem_mhz, time_s, s.memory_clock);
    plot(card.temperature_c, time_s, s.temperature);
    plot(card.limit_w, time_s, s.power_limit);
  }
}

WatchedGpu& RunDigest::gpu(const GpuUuid& uuid) {
  for (const auto& each : gpus_) {
    if (each->identity.uuid == uuid) return *each;
  }
  gpus_.push_back(std::make_unique<WatchedGpu>(uuid, points_));
  return *gpus_.back();
}

MeasuredPhase* RunDigest::phase(WatchedGpu& gpu, std::int64_t process, PatternId pattern) {
  for (MeasuredPhase& each : gpu.phases) {
    if (each.process == process && each.pattern == pattern) return &each;
  }
  if (gpu.phases.size() >= kMostPhases) {
    ++gpu.phases_left_out;
    return nullptr;
  }
  gpu.phases.emplace_back(process, pattern, points_);
  return &gpu.phases.back();
}

void RunDigest::introduce(const GpuIdentity& identity) {
  gpu(identity.uuid).identity = identity;
}

void RunDigest::take(const RunStart& e) {
  start_ = e;
  for (const GpuIdentity& identity : e.gpus) introduce(identity);
}

void RunDigest::take(const SampleEvent& e) {
  WatchedGpu& card = gpu(e.gpu);
  Sample& last = card.last;
  keep(last.power_instant, e.sample.power_instant);
  keep(last.power_average, e.sample.power_average);
  keep(last.energy, e.sample.energy);
  keep(last.sm_clock, e.sample.sm_clock);
  keep(last.memory_clock, e.sample.memory_clock);
  keep(last.temperature, e.sample.temperature);
  keep(last.power_limit, e.sample.power_limit);
  if (e.sample.gpu_utilization) last.gpu_utilization = e.sample.gpu_utilization;
  if (e.sample.memory_utilization) last.memory_utilization = e.sample.memory_utilization;
  if (e.sample.reasons) last.reasons = e.sample.reasons;
  if (!card.first_energy) card.first_energy = e.sample.energy;
}

void RunDigest::take(const WindowEvent& e) {
  WatchedGpu& card = gpu(e.gpu);
  const Window& window = e.window;
  card.window_seconds += window.duration.value();
  ++(window.usable() ? card.usable_windows : card.unusable_windows);
  card.iterations += window.iterations;
  MeasuredPhase* in = phase(card, e.process.value_or(0), window.pattern);
  if (in == nullptr) return;
  in->seconds += window.duration.value();
  if (!window.usable()) {
    ++setting_of(*in, window.setting).unusable;
    return;
  }
  measure(*in, window);
  const auto& decided = card.decided;
  const bool holding = decided && decided->numbers.contains("exploring") &&
                       decided->numbers.at("exploring") == 0 && decided->setting == window.setting;
  if (holding) in->kept = window.setting;
}

void RunDigest::take(const Decision& e) {
  WatchedGpu& card = gpu(e.gpu);
  if (e.policy == "truth") {
    card.truth = e;
    return;
  }
  const auto exploring = e.numbers.find("exploring");
  const bool probe = exploring != e.numbers.end() && exploring->second != 0;
  ++card.decisions[e.setting.empty() ? "default" : probe ? "probe" : "keep"];
  card.decided = e;
}

void RunDigest::take(const Forecast& e) {
  MeasuredPhase* in = phase(gpu(e.gpu), e.process.value_or(0), PatternId{e.phase.value_or(0), 0});
  if (in == nullptr) return;
  if (in->first_forecast.empty() || e.exploring) in->first_forecast = e.points;
  in->last_forecast = e.points;
}

void RunDigest::take(const SettingChange& e) {
  WatchedGpu& card = gpu(e.gpu);
  ++(e.accepted ? card.accepted : card.refused);
  if (!e.accepted) return;
  card.requested = e.requested;
}

void RunDigest::take(const StateChange& e) {
  state_reason_ = e.reason;
}

std::string RunDigest::told_by_start(const std::string& key) const {
  const auto found = start_.environment.find(key);
  return found != start_.environment.end() ? found->second : "";
}

std::optional<double> RunDigest::bound() const {
  if (const std::string text = told_by_start("max_slowdown"); !text.empty()) {
    return parse_number(text).optional();
  }
  if (!end_) return std::nullopt;
  const auto found = end_->totals.find("bound");
  return found != end_->totals.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace hypermile
