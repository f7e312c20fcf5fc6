// SPDX-License-Identifier: Apache-2.0
#include "sim/gpu_sheet.h"

#include <algorithm>
#include <filesystem>

#include "base/toml_reader.h"
#include "sim/data_folder.h"
#include "sim/sim_state.h"

namespace hypermile {
namespace {

constexpr double kMostMhz = 1e5;
constexpr double kMostWatts = 1e4;
constexpr const char* kPrecisionNames[kPrecisions] = {"fp64", "fp32", "tf32", "bf16", "fp8"};

ClockRanges read_clocks(TomlReader reader) {
  ClockRanges clocks;
  clocks.sm_min = Mhz(reader.number("sm_min", 1, kMostMhz));
  clocks.sm_max = Mhz(reader.number("sm_max", clocks.sm_min.value(), kMostMhz));
  clocks.sm_step = Mhz(reader.number("sm_step", 0.5, 1000));
  clocks.sm_boost = Mhz(reader.number("sm_boost", clocks.sm_min.value(), clocks.sm_max.value()));
  clocks.sm_idle = Mhz(reader.number("sm_idle", 1, clocks.sm_max.value()));
  clocks.boost_degrees_per_step = reader.number("boost_degrees_per_step", 0, 1000, 0);
  std::vector<double> gears = reader.numbers("memory", kMaxMemoryGears);
  std::ranges::sort(gears, std::greater<>());
  for (const double gear : gears) clocks.memory[clocks.memory_count++] = Mhz(gear);
  clocks.memory_default = Mhz(reader.number("memory_default", 1, kMostMhz));
  if (std::ranges::find(gears, clocks.memory_default.value()) == gears.end()) {
    reader.complain("memory_default must be one of memory", "memory_default");
  }
  clocks.memory_idle = Mhz(reader.number("memory_idle", 1, kMostMhz));
  clocks.memory_lock = reader.flag("memory_lock", false);
  reader.done();
  return clocks;
}

LimitRange read_limit(TomlReader reader) {
  LimitRange limit;
  limit.min = Watts(reader.number("min", 1, kMostWatts));
  limit.max = Watts(reader.number("max", limit.min.value(), kMostWatts));
  limit.normal = Watts(reader.number("default", limit.min.value(), limit.max.value()));
  reader.done();
  return limit;
}

Rates read_rates(TomlReader reader) {
  Rates rates;
  rates.rated_sm = Mhz(reader.number("rated_sm", 1, kMostMhz));
  TomlReader tflops = reader.table("tflops", true);
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    rates.flops[i] = 1e12 * tflops.number(kPrecisionNames[i], 0, 1e6, 0);
  }
  if (rates.flops[static_cast<std::size_t>(Precision::kFp32)] <= 0) {
    tflops.complain("must have fp32 above 0", "fp32");
  }
  tflops.done();
  rates.bandwidth = 1e9 * reader.number("bandwidth_gb_s", 1, 1e6);
  rates.rated_memory = Mhz(reader.number("rated_memory", 1, kMostMhz));
  rates.overlap = reader.number("overlap", 1, 20, 2.5);
  for (TomlReader& point : reader.tables("bandwidth_at", 0, kMaxBandwidthPoints)) {
    const double lowest =
        rates.bandwidth_points == 0 ? 0 : rates.bandwidth_at[rates.bandwidth_points - 1].sm.value();
    Rates::BandwidthPoint& read = rates.bandwidth_at[rates.bandwidth_points++];
    read.sm = Mhz(point.number("sm", lowest + 1, kMostMhz));
    read.share = point.number("share", 0.01, 1);
    point.done();
  }
  reader.done();
  return rates;
}

PowerModel read_power(TomlReader reader) {
  PowerModel power;
  power.fixed = Watts(reader.number("fixed", 0, kMostWatts));
  power.leakage = Watts(reader.number("leakage", 0, kMostWatts));
  power.leakage_per_degree = reader.number("leakage_per_degree", 0, 0.1);
  power.memory_background = Watts(reader.number("memory_background", 0, kMostWatts));
  power.joules_per_byte = 1e-12 * reader.number("picojoules_per_byte", 0, 1e5);
  power.core_watts_per_mhz = reader.number("core_watts_per_mhz", 0.0001, 100);
  power.stream_activity = reader.number("stream_activity", 0, 1);
  power.gap_activity = reader.number("gap_activity", 0, 1);
  TomlReader pipes = reader.table("pipe_activity", true);
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    power.pipe_activity[i] = pipes.number(kPrecisionNames[i], 0, 100, 1);
  }
  pipes.done();
  power.voltage_knee = Mhz(reader.number("voltage_knee", 1, kMostMhz));
  power.voltage_slope = reader.number("voltage_slope", 0, 0.1);
  power.idle = Watts(reader.number("idle", 0, kMostWatts));
  power.peak = Watts(reader.number("peak", 0, kMostWatts, 0));
  reader.done();
  return power;
}

ThermalModel read_thermal(TomlReader reader) {
  ThermalModel thermal;
  thermal.ambient = Celsius(reader.number("ambient", -40, 60));
  thermal.degrees_per_watt = reader.number("degrees_per_watt", 0, 10);
  thermal.die_time = Seconds(reader.number("die_time_s", 0.01, 1e4));
  thermal.sink_time = Seconds(reader.number("sink_time_s", 0.01, 1e5));
  thermal.sink_share = reader.number("sink_share", 0, 0.9);
  thermal.slowdown = Celsius(reader.number("slowdown", 40, 150));
  reader.done();
  return thermal;
}

LimiterModel read_limiter(TomlReader reader) {
  LimiterModel limiter;
  limiter.period = milliseconds(reader.number("period_ms", 1, 1e4));
  limiter.averaging = milliseconds(reader.number("averaging_ms", 0.1, 1e5));
  limiter.target = reader.number("target", 0.5, 1.2);
  limiter.gain = reader.number("gain", 0.01, 2);
  limiter.hunting = reader.number("hunting", 0, 1);
  limiter.estimate_base = Watts(reader.number("estimate_base", 0, kMostWatts, 0));
  limiter.estimate_watts_per_mhz = reader.number("estimate_watts_per_mhz", 0, 100, 0);
  reader.done();
  return limiter;
}

DelayModel read_delay(TomlReader reader) {
  DelayModel delay;
  delay.median = milliseconds(reader.number("median_ms", 0, 1e5));
  delay.p99 = milliseconds(reader.number("p99_ms", delay.median.value() * 1e3, 1e6));
  reader.done();
  return delay;
}

SwitchModel read_switching(TomlReader reader) {
  SwitchModel switching;
  switching.call = read_delay(reader.table("call", true));
  switching.sm = read_delay(reader.table("sm", true));
  switching.memory = read_delay(reader.table("memory", true));
  switching.memory_stall = milliseconds(reader.number("memory_stall_ms", 0, 1e4));
  reader.done();
  return switching;
}

SensorModel read_sensors(TomlReader reader) {
  SensorModel sensors;
  const auto period = [&](const char* key, double least, std::optional<double> otherwise = {}) {
    return milliseconds(reader.number(key, least, 1e5, otherwise));
  };
  sensors.power_period = period("power_period_ms", 1);
  sensors.power_window = period("power_window_ms", 1);
  sensors.average_window = period("average_window_ms", 0, 0);
  sensors.energy_period = period("energy_period_ms", 1);
  sensors.utilization_period = period("utilization_period_ms", 1);
  sensors.history_period = period("history_period_ms", 0, 0);
  sensors.gain_deviation = reader.number("gain_deviation", 0, 0.5);
  sensors.offset_deviation = Watts(reader.number("offset_deviation", 0, 100));
  sensors.noise = reader.number("noise", 0, 0.5);
  sensors.stale_share = reader.number("stale_share", 0, 0.9);
  sensors.activity_metrics = reader.flag("activity_metrics", false);
  sensors.activity_window = period("activity_window_ms", 0, 100);
  sensors.activity_missing = reader.number("activity_missing", 0, 1, 0);
  if (sensors.average_window > sensors.power_period * (kAverageSlots - 1)) {
    reader.complain("average_window_ms must be less than 64 times power_period_ms",
                    "average_window_ms");
  }
  reader.done();
  return sensors;
}

CardSpread read_spread(TomlReader reader) {
  CardSpread spread;
  spread.core = reader.number("core", 0, 0.3);
  spread.leakage = reader.number("leakage", 0, 0.5);
  spread.cooling = reader.number("cooling", 0, 0.5);
  reader.done();
  return spread;
}

}  // namespace

std::vector<Mhz> GpuSheet::sm_clocks() const {
  const ClockRanges& clocks = constants.clocks;
  std::vector<Mhz> list;
  for (int i = 0;; ++i) {
    const Mhz clock = clocks.sm_max - clocks.sm_step * i;
    if (clock < clocks.sm_min) return list;
    list.push_back(clock);
  }
}

std::vector<Mhz> GpuSheet::memory_clocks() const {
  const auto& clocks = constants.clocks;
  return {clocks.memory.begin(), clocks.memory.begin() + clocks.memory_count};
}

Capabilities capabilities_of(const GpuSheet& sheet) {
  const GpuConstants& constants = sheet.constants;
  Capabilities capabilities;
  capabilities.sm_clocks = sheet.sm_clocks();
  capabilities.memory_clocks = sheet.memory_clocks();
  capabilities.power_limit_range = Range{constants.limit.min, constants.limit.max};
  capabilities.default_power_limit = constants.limit.normal;
  capabilities.current_power_limit = constants.limit.normal;
  capabilities.sm_clock_lock = Support::kYes;
  capabilities.memory_clock_lock = constants.clocks.memory_lock ? Support::kYes : Support::kNo;
  capabilities.power_limit_set = Support::kYes;
  capabilities.may_set = true;
  capabilities.activity_metrics = constants.sensors.activity_metrics;
  return capabilities;
}

Result<GpuSheet> parse_gpu_sheet(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const toml::table table, parse_toml(text, file));
  std::optional<Error> problem;
  TomlReader reader(table, file, "", problem);
  GpuSheet sheet;
  sheet.key = std::filesystem::path(file).stem().string();
  TomlReader gpu = reader.table("gpu", true);
  sheet.name = gpu.text("name");
  sheet.architecture = gpu.text("architecture");
  sheet.sm_count = static_cast<int>(gpu.number("sm_count", 1, 1000));
  sheet.memory_gib = gpu.number("memory_gib", 0.1, 10000);
  sheet.l2_mib = gpu.number("l2_mib", 0, 10000);
  sheet.compute_major = static_cast<int>(gpu.number("compute_major", 1, 99));
  sheet.compute_minor = static_cast<int>(gpu.number("compute_minor", 0, 99));
  sheet.pci_device_id = static_cast<std::uint32_t>(gpu.number("pci_device_id", 0, 0xFFFFFFFFU));
  gpu.done();
  GpuConstants& constants = sheet.constants;
  constants.clocks = read_clocks(reader.table("clocks", true));
  constants.limit = read_limit(reader.table("limit", true));
  constants.rates = read_rates(reader.table("rates", true));
  constants.power = read_power(reader.table("power", true));
  constants.thermal = read_thermal(reader.table("thermal", true));
  constants.limiter = read_limiter(reader.table("limiter", true));
  constants.switching = read_switching(reader.table("switching", true));
  constants.sensors = read_sensors(reader.table("sensors", true));
  constants.spread = read_spread(reader.table("spread", true));
  reader.done();
  if (problem) return *problem;
  return sheet;
}

Result<GpuSheet> load_gpu_sheet(std::string_view key) {
  ASSIGN_OR_RETURN(const NamedText file, read_named_toml("gpus", "GPU", key));
  return parse_gpu_sheet(file.text, file.path);
}

std::vector<std::string> gpu_sheet_keys() {
  return toml_keys("gpus");
}

}  // namespace hypermile
