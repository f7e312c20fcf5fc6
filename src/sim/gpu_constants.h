// SPDX-License-Identifier: Apache-2.0
//
// The constants of one GPU model: clocks, rates, power, heat, limiter, delays and sensors. Plain
// and trivially copyable. gpu_sheet.h reads them from gpus/NAME.toml, where each value has its
// source. What differs between cards of one model is drawn from a seed (CardTraits in sim_state.h).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/units.h"
#include "sim/load.h"

namespace hypermile {

inline constexpr std::size_t kMaxMemoryGears = 8;
inline constexpr std::size_t kMaxBandwidthPoints = 8;

struct ClockRanges {
  Mhz sm_min, sm_max, sm_step;  // range that may be locked
  Mhz sm_boost;                 // under load when unlocked
  Mhz sm_idle;                  // without a job
  // Unlocked, above 50 °C: one step less per so many °C; 0: none.
  double boost_degrees_per_step = 0;
  std::array<Mhz, kMaxMemoryGears> memory = {};  // descending
  std::uint32_t memory_count = 0;
  Mhz memory_default;  // used by CUDA jobs; not always the highest
  Mhz memory_idle;
  bool memory_lock = false;
};

struct LimitRange {
  Watts normal, min, max;
};

// Peak rates, and how they change with the clocks.
struct Rates {
  Mhz rated_sm;  // where `flops` holds; rates are proportional to the clock
  std::array<double, kPrecisions> flops = {};  // per second; 0: no such unit
  double bandwidth = 0;                        // bytes per second of a copy at rated_memory
  Mhz rated_memory;
  // Share of that bandwidth that the SMs can use at a clock; linear between ascending points.
  struct BandwidthPoint {
    Mhz sm;
    double share = 1;
  };
  std::array<BandwidthPoint, kMaxBandwidthPoints> bandwidth_at = {};
  std::uint32_t bandwidth_points = 0;
  double overlap = 2.5;  // p of the p-norm of compute and memory time
};

// P = static + leakage·v²·e^(k(T−50)) + memory background + per byte + core·activity·f·v²
struct PowerModel {
  Watts fixed;                    // fans, regulators, I/O: independent of clocks
  Watts leakage;                  // at v = 1 and 50 °C
  double leakage_per_degree = 0;  // k
  Watts memory_background;        // at rated_memory, proportional to the memory clock
  double joules_per_byte = 0;
  double core_watts_per_mhz = 0;  // at v = 1 with the FP32 pipes saturated
  double stream_activity = 0;     // c0: share of that which a busy GPU draws without arithmetic
  double gap_activity = 0;        // the same share for a GPU that waits between kernels
  std::array<double, kPrecisions> pipe_activity = {};  // saturated pipes, relative to FP32
  Mhz voltage_knee;                                    // v = 1 up to this clock
  double voltage_slope = 0;                            // increase of v per MHz above the knee
  Watts idle;                                          // the whole board without a job
  Watts peak;  // above this a fast brake stretches the clock; 0: none
};

struct ThermalModel {
  Celsius ambient;
  double degrees_per_watt = 0;  // die above ambient, in equilibrium
  Seconds die_time;             // time constant of the die against the heat sink
  Seconds sink_time;            // time constant of the heat sink against the room: thermal memory
  double sink_share = 0;        // share of degrees_per_watt that the heat sink causes
  Celsius slowdown;             // above this clocks are trimmed
};

// Trims the SM clock in steps to keep average power below the limit.
struct LimiterModel {
  Seconds period;      // between decisions
  Seconds averaging;   // time constant of the power average
  double target = 1;   // share of the limit that it aims for
  double gain = 0.5;   // share of the excess that one decision removes
  double hunting = 0;  // relative error of its power estimate at each decision near the limit
  // Some boards also limit an estimate that uses tensor pipe activity alone, regardless of the
  // data: utilisation × (base + per MHz · f·v²), against the same limit. 0: none.
  Watts estimate_base;
  double estimate_watts_per_mhz = 0;
};

// A lognormal delay, given by median and 99th percentile.
struct DelayModel {
  Seconds median, p99;
};
struct SwitchModel {
  DelayModel call;  // time for which the caller is blocked
  DelayModel sm;    // from request to effect
  DelayModel memory;
  Seconds memory_stall;  // no traffic while the memory clock changes
};

struct SensorModel {
  Seconds power_period;    // between two changes of the register
  Seconds power_window;    // time before each change that the value covers
  Seconds average_window;  // of the averaged reading; 0: the card has none
  Seconds energy_period;
  Seconds utilization_period;
  Seconds history_period;         // of the card's own power buffer; 0: no buffer
  double gain_deviation = 0;      // drawn once per card
  Watts offset_deviation;         // drawn once per card
  double noise = 0;               // relative, drawn at each refresh
  double stale_share = 0;         // share of refreshes that are skipped
  bool activity_metrics = false;  // GPM
  Seconds activity_window;        // shortest interval with valid values
  double activity_missing = 0;    // share of values that are not a number
};

// Relative standard deviations between cards of one model.
struct CardSpread {
  double core = 0, leakage = 0, cooling = 0;
};

struct GpuConstants {
  ClockRanges clocks;
  LimitRange limit;
  Rates rates;
  PowerModel power;
  ThermalModel thermal;
  LimiterModel limiter;
  SwitchModel switching;
  SensorModel sensors;
  CardSpread spread;
};
static_assert(std::is_trivially_copyable_v<GpuConstants>);

}  // namespace hypermile
