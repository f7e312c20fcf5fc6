// SPDX-License-Identifier: Apache-2.0
#include "measure/sensor_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kPoll = milliseconds(2);
constexpr int kCostCalls = 25;
// More than the shortest interval over which any card reports activity.
constexpr Seconds kActivityInterval = milliseconds(120);

// One sensor: how to request it, and how to extract its value from a Sample.
struct SensorForm {
  const char* name;
  const char* unit;
  SensorSet set;
  std::optional<double> (*value)(const Sample&);
};

template <class Tag>
std::optional<double> number(const std::optional<Quantity<Tag>>& quantity) {
  return quantity ? std::optional(quantity->value()) : std::nullopt;
}

const SensorForm kForms[] = {
    {"power_instant", "W", Sensor::kPowerInstant,
     [](const Sample& s) { return number(s.power_instant); }},
    {"power_average", "W", Sensor::kPowerAverage,
     [](const Sample& s) { return number(s.power_average); }},
    {"energy", "J", Sensor::kEnergy, [](const Sample& s) { return number(s.energy); }},
    {"sm_clock", "MHz", Sensor::kClocks, [](const Sample& s) { return number(s.sm_clock); }},
    {"memory_clock", "MHz", Sensor::kClocks,
     [](const Sample& s) { return number(s.memory_clock); }},
    {"gpu_utilization", "", Sensor::kUtilization,
     [](const Sample& s) { return s.gpu_utilization; }},
    {"memory_utilization", "", Sensor::kUtilization,
     [](const Sample& s) { return s.memory_utilization; }},
    {"temperature", "°C", Sensor::kTemperature,
     [](const Sample& s) { return number(s.temperature); }},
    {"power_limit", "W", Sensor::kPowerLimit,
     [](const Sample& s) { return number(s.power_limit); }},
};

std::optional<Seconds> median(std::vector<Seconds> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Collects the times at which a polled value changed.
class ChangeTimes {
 public:
  void add(Instant time, std::optional<double> value) {
    if (!value) return;
    if (last_ && *value != *last_) {
      if (changed_) intervals_.push_back(time - *changed_);
      changed_ = time;
    }
    last_ = value;
  }
  std::optional<Seconds> refresh() const { return median(intervals_); }

 private:
  std::optional<double> last_;
  std::optional<Instant> changed_;
  std::vector<Seconds> intervals_;
};

template <class Call>
std::optional<Seconds> cost_of(Clock& clock, const Call& call) {
  std::vector<Seconds> costs;
  for (int i = 0; i < kCostCalls; ++i) {
    const Instant before = clock.now();
    if (!call()) return std::nullopt;
    costs.push_back(clock.now() - before);
  }
  return median(std::move(costs));
}

void measure_cost(Gpu& gpu, Clock& clock, const SensorForm& form, SensorReport& report) {
  const Result<Sample> first = gpu.read(form.set);
  if (!first) {
    report.note = first.error().line();
    return;
  }
  const std::optional<double> value = form.value(*first);
  if (!value) {
    report.note = "not reported by this card or driver";
    return;
  }
  report.present = true;
  report.value = fmt::format("{:.6g} {}", *value, form.unit);
  report.cost = cost_of(clock, [&] { return gpu.read(form.set).ok(); });
}

// Expensive sensors are watched separately, since polling them would slow down the polling of cheap
// ones.
void measure_refresh(Gpu& gpu, Clock& clock, Seconds watch, bool cheap, std::stop_token stop,
                     std::vector<SensorReport>& reports) {
  constexpr Seconds kCheap = milliseconds(0.2);
  SensorSet wanted;
  std::vector<std::pair<std::size_t, ChangeTimes>> watched;
  for (std::size_t i = 0; i < std::size(kForms); ++i) {
    if (!reports[i].cost || (*reports[i].cost < kCheap) != cheap) continue;
    wanted = wanted | kForms[i].set;
    watched.emplace_back(i, ChangeTimes());
  }
  if (watched.empty()) return;
  const Instant end = clock.now() + watch;
  while (clock.now() < end && !stop.stop_requested()) {
    const Result<Sample> sample = gpu.read(wanted);
    if (!sample) break;
    for (auto& [form, changes] : watched) changes.add(clock.now(), kForms[form].value(*sample));
    clock.sleep_for(kPoll, stop);
  }
  for (auto& [form, changes] : watched) {
    reports[form].refresh = changes.refresh();
    if (!reports[form].refresh) {
      reports[form].note = fmt::format("no change in {:g} s", watch.value());
    }
  }
}

SensorReport probe_history(Gpu& gpu, Clock& clock) {
  SensorReport report{.name = "power_history",
                      .present = false,
                      .value = {},
                      .cost = {},
                      .refresh = {},
                      .note = {}};
  const Instant after = clock.now() - Seconds(2);
  const auto history = gpu.power_history(after);
  if (!history) {
    report.note = history.error().line();
    return report;
  }
  std::vector<Seconds> gaps;
  for (std::size_t i = 1; i < history->size(); ++i)
    gaps.push_back((*history)[i].time - (*history)[i - 1].time);
  report.present = !history->empty();
  report.value = fmt::format("{} samples in 2 s", history->size());
  report.refresh = median(std::move(gaps));
  report.cost = cost_of(clock, [&] { return gpu.power_history(after).ok(); });
  return report;
}

SensorReport probe_activity(Gpu& gpu, Clock& clock, std::stop_token stop) {
  SensorReport report{
      .name = "activity", .present = false, .value = {}, .cost = {}, .refresh = {}, .note = {}};
  if (!gpu.capabilities().activity_metrics) {
    report.note = "needs GPM (Hopper or newer)";
    return report;
  }
  std::vector<Seconds> costs;
  for (int i = 0; i < 6 && !stop.stop_requested(); ++i) {
    const Instant before = clock.now();
    const auto metrics = gpu.activity();
    if (metrics) {
      costs.push_back(clock.now() - before);
      report.present = true;
      if (metrics->sm) report.value = fmt::format("SM {:.0f} %", *metrics->sm * 100);
    } else if (metrics.error().code != ErrorCode::kNotReady) {
      report.note = metrics.error().line();
      return report;
    }
    clock.sleep_for(kActivityInterval, stop);
  }
  report.cost = median(std::move(costs));
  return report;
}

}  // namespace

std::vector<SensorReport> probe_sensors(Gpu& gpu, Clock& clock, Seconds watch,
                                        std::stop_token stop) {
  std::vector<SensorReport> reports;
  for (const SensorForm& form : kForms) {
    SensorReport report{
        .name = form.name, .present = false, .value = {}, .cost = {}, .refresh = {}, .note = {}};
    measure_cost(gpu, clock, form, report);
    reports.push_back(std::move(report));
  }
  measure_refresh(gpu, clock, watch, /*cheap=*/true, stop, reports);
  measure_refresh(gpu, clock, watch, /*cheap=*/false, stop, reports);
  reports.push_back(probe_history(gpu, clock));
  reports.push_back(probe_activity(gpu, clock, stop));
  return reports;
}

}  // namespace hypermile
