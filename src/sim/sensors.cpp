// SPDX-License-Identifier: Apache-2.0
#include "sim/sensors.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

double erred(const SimGpuState& state, double watts) {
  return std::max(0.0, watts * state.card.sensor_gain + state.card.sensor_offset.value());
}

// The power register's window opens this long before the refresh, or at the previous refresh if it
// covers the whole period.
void await_power(SensorState& sensors, const SensorModel& model, double now, double energy_j) {
  sensors.next_power_s += model.power_period.value();
  if (model.power_window >= model.power_period) {
    sensors.power_window_from_s = kNever;
    sensors.window_energy_j = energy_j;
    sensors.window_from_s = now;
  } else {
    sensors.power_window_from_s = sensors.next_power_s - model.power_window.value();
  }
}

void refresh_average(SimGpuState& state, const SensorModel& model, double energy_j) {
  SensorState& sensors = state.sensors;
  const auto slots = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(std::lround(model.average_window / model.power_period)), 1,
      kAverageSlots);
  const std::uint64_t newest = sensors.power_refreshes % kAverageSlots;
  if (sensors.power_refreshes > 0) {
    const std::uint64_t back = std::min(slots, sensors.power_refreshes);
    const std::uint64_t oldest = (sensors.power_refreshes - back) % kAverageSlots;
    // One slot less than the ring holds, so that `oldest` has not been overwritten.
    const double span = static_cast<double>(back) * model.power_period.value();
    const double mean = (energy_j - sensors.average_energy_j[oldest]) / span;
    sensors.shown_average_w = erred(state, mean);
  }
  sensors.average_energy_j[newest] = energy_j;
}

void refresh_power(SimGpuState& state, const SensorModel& model) {
  SensorState& sensors = state.sensors;
  const double now = state.segment.start_s;
  const double energy = state.totals.energy_j;
  const double span = now - sensors.window_from_s;
  const bool stale = model.stale_share > 0 && state.random.uniform() < model.stale_share;
  if (!stale && span > 0) {
    const double mean = (energy - sensors.window_energy_j) / span;
    const double noise = model.noise > 0 ? 1 + model.noise * state.random.gaussian() : 1;
    sensors.shown_power_w = erred(state, mean * noise);
  }
  if (model.average_window > Seconds(0)) refresh_average(state, model, energy);
  ++sensors.power_refreshes;
  await_power(sensors, model, now, energy);
}

void refresh_utilization(SimGpuState& state, const SensorModel& model) {
  SensorState& sensors = state.sensors;
  const double period = model.utilization_period.value();
  sensors.shown_utilization =
      std::clamp((state.totals.busy_s - sensors.busy_before_s) / period, 0.0, 1.0);
  sensors.shown_memory_utilization =
      std::clamp((state.totals.dram_s - sensors.dram_before_s) / period, 0.0, 1.0);
  sensors.busy_before_s = state.totals.busy_s;
  sensors.dram_before_s = state.totals.dram_s;
  sensors.next_utilization_s += period;
}

void refresh_history(SimGpuState& state, const SensorModel& model) {
  SensorState& sensors = state.sensors;
  const double period = model.history_period.value();
  const double mean = (state.totals.energy_j - sensors.history_energy_j) / period;
  sensors.history[sensors.history_count % kHistorySize] = {state.segment.start_s,
                                                           static_cast<float>(erred(state, mean))};
  ++sensors.history_count;
  sensors.history_energy_j = state.totals.energy_j;
  sensors.next_history_s += period;
}

}  // namespace

void begin_sensors(SimGpuState& state, const GpuConstants& gpu) {
  const SensorModel& model = gpu.sensors;
  SensorState& sensors = state.sensors;
  const auto phase = [&](Seconds period) { return period.value() * state.random.uniform(); };
  sensors.next_power_s = phase(model.power_period) - model.power_period.value();
  await_power(sensors, model, 0, 0);
  sensors.next_energy_s = phase(model.energy_period);
  sensors.next_utilization_s = phase(model.utilization_period);
  sensors.next_history_s = model.history_period > Seconds(0) ? phase(model.history_period) : kNever;
  sensors.shown_power_w = erred(state, gpu.power.idle.value());
}

double next_sensor_event(const SensorState& sensors) {
  return std::min({sensors.next_power_s, sensors.power_window_from_s, sensors.next_energy_s,
                   sensors.next_utilization_s, sensors.next_history_s});
}

void refresh_sensors(SimGpuState& state, const GpuConstants& gpu) {
  const SensorModel& model = gpu.sensors;
  SensorState& sensors = state.sensors;
  const double now = state.segment.start_s;
  if (now >= sensors.power_window_from_s) {
    sensors.window_energy_j = state.totals.energy_j;
    sensors.window_from_s = now;
    sensors.power_window_from_s = kNever;
  }
  if (now >= sensors.next_power_s) refresh_power(state, model);
  if (now >= sensors.next_energy_s) {
    const double true_j =
        state.totals.energy_j * state.card.sensor_gain + state.card.sensor_offset.value() * now;
    sensors.shown_energy_j = std::max(sensors.shown_energy_j, std::floor(true_j * 1000) / 1000);
    sensors.next_energy_s += model.energy_period.value();
  }
  if (now >= sensors.next_utilization_s) refresh_utilization(state, model);
  if (now >= sensors.next_history_s) refresh_history(state, model);
}

}  // namespace hypermile
