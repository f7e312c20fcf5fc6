// SPDX-License-Identifier: Apache-2.0
#include "record/run_digest.h"

#include <algorithm>

#include "base/parse.h"
#include "record/event_words.h"

namespace hypermile {
namespace {

template <class Quantity>
void keep(std::optional<Quantity>& known, const std::optional<Quantity>& fresh) {
  if (fresh) known = fresh;
}

template <class Quantity>
void plot(ThinnedSeries& series, double time_s, const std::optional<Quantity>& value) {
  if (value) series.add(time_s, value->value());
}

}  // namespace

WatchedGpu::WatchedGpu(GpuUuid uuid, std::size_t points)
    : power_w(points), sm_mhz(points), mem_mhz(points), temperature_c(points), limit_w(points) {
  identity.uuid = std::move(uuid);
}

bool RunDigest::admits(const GpuUuid& uuid) const {
  return gpus_.size() < kMostWatchedGpus || uuid.empty() ||
         std::ranges::any_of(gpus_, [&](const auto& each) { return each->identity.uuid == uuid; });
}

bool RunDigest::admits(const EventBody& body) const {
  return std::visit(
      [this](const auto& of) {
        if constexpr (requires { of.gpu.text(); }) return admits(of.gpu);
        if constexpr (requires { of.gpu.uuid; }) return admits(of.gpu.uuid);
        return true;
      },
      body);
}

void RunDigest::add(const Event& event) {
  ++events_;
  if (!admits(event.body)) return;
  figures_.add(event);
  now_s_ = std::max(now_s_, event.time.since_origin().value());
  std::visit([this](const auto& body) { take(body); }, event.body);
  const auto words = words_of(event.body, decided_);
  if (const auto* decision = std::get_if<Decision>(&event.body)) decided_ = decision->reason;
  if (words) {
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

PhaseSeries* RunDigest::series(WatchedGpu& gpu, std::int64_t process, PatternId pattern) {
  for (PhaseSeries& each : gpu.phases) {
    if (each.process == process && each.pattern == pattern) return &each;
  }
  if (gpu.phases.size() >= kMostPhases) return nullptr;
  gpu.phases.emplace_back(process, pattern, points_);
  return &gpu.phases.back();
}

void RunDigest::introduce(const GpuIdentity& identity) {
  if (admits(identity.uuid)) gpu(identity.uuid).identity = identity;
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
}

void RunDigest::take(const WindowEvent& e) {
  if (e.gpu.empty()) return;
  WatchedGpu& card = gpu(e.gpu);
  const Window& window = e.window;
  ++(window.usable() ? card.usable_windows : card.unusable_windows);
  card.iterations += window.iterations;
  PhaseSeries* in = series(card, e.process.value_or(0), window.pattern);
  if (in == nullptr || !window.usable()) return;
  const double end_s = (window.begin + window.duration).since_origin().value();
  const double time_s = window.time_per_iteration->value();
  in->time_s.add(end_s, time_s);
  in->energy_j.add(end_s, window.energy_per_iteration ? window.energy_per_iteration->value()
                                                      : time_s * window.power->value());
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
}

void RunDigest::take(const Forecast& e) {
  PhaseSeries* in = series(gpu(e.gpu), e.process.value_or(0), PatternId{e.phase.value_or(0), 0});
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

bool RunDigest::simulated() const {
  return told_by_start("simulated") == "true" ||
         std::ranges::any_of(gpus_, [](const auto& each) { return is_simulated(each->identity); });
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
