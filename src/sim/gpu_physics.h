// SPDX-License-Identifier: Apache-2.0
//
// The numbers of one GPU model: its clocks, rates, power, heat, limiter, delays and sensors. Plain
// and trivially copyable; gpu_sheet.h reads them from gpus/NAME.toml, where each value has its
// source. Everything here is of the model; what differs from card to card is drawn from a seed
// (CardTraits in sim_state.h).
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
  Mhz sm_min, sm_max, sm_step;        // what may be locked
  Mhz sm_boost;                       // where the unlocked default runs under load
  Mhz sm_idle;                        // without a job
  double boost_degrees_per_step = 0;  // unlocked: a step less for so many °C above 50; 0: none
  std::array<Mhz, kMaxMemoryGears> memory = {};  // descending
  std::uint32_t memory_count = 0;
  Mhz memory_default;  // the gear CUDA runs in, which need not be the highest
  Mhz memory_idle;
  bool memory_lock = false;
};

struct LimitRange {
  Watts normal, min, max;
};

// Peak rates, and what becomes of them at other clocks.
struct Rates {
  Mhz rated_sm;                                // where `flops` holds; proportional to the clock
  std::array<double, kPrecisions> flops = {};  // per second; 0: no such unit
  double bandwidth = 0;  // bytes per second that a copy reaches at rated_memory
  Mhz rated_memory;
  // Share of that bandwidth that SMs at a clock can ask for; linear between points, ascending.
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
  Watts fixed;                    // fans, regulators, I/O: follows no clock
  Watts leakage;                  // at v = 1 and 50 °C
  double leakage_per_degree = 0;  // k
  Watts memory_background;        // at rated_memory, proportional to the memory clock
  double joules_per_byte = 0;
  double core_watts_per_mhz = 0;  // at v = 1 with the FP32 pipes saturated
  double stream_activity = 0;     // c0: share of that which a busy GPU draws without any arithmetic
  double gap_activity = 0;        // … and which a waiting one draws at running clocks
  std::array<double, kPrecisions> pipe_activity = {};  // saturated pipes, against FP32 = 1
  Mhz voltage_knee;                                    // v = 1 up to here …
  double voltage_slope = 0;                            // … then + this per MHz
  Watts idle;                                          // the whole board without a job
  Watts peak;  // a fast brake stretches clocks above this; 0: none
};

struct ThermalModel {
  Celsius ambient;
  double degrees_per_watt = 0;  // die over ambient, in the long run
  Seconds die_time;             // the die follows the heat sink
  Seconds sink_time;            // the heat sink follows the room: thermal memory
  double sink_share = 0;        // of degrees_per_watt
  Celsius slowdown;             // clocks are trimmed from here on
};

// Trims the SM clock by steps to hold an average of power below the limit.
struct LimiterModel {
  Seconds period;      // between decisions
  Seconds averaging;   // time constant of the power it looks at
  double target = 1;   // share of the limit that it steers to
  double gain = 0.5;   // of the excess that one decision takes away
  double hunting = 0;  // relative error of the power it believes in, each decision near the limit
  // Some boards also hold down an estimate from tensor pipe activity alone, blind to the data:
  // utilisation × (base + per MHz · f·v²), against the same limit. 0: none.
  Watts estimate_base;
  double estimate_watts_per_mhz = 0;
};

// Delays are lognormal, given by median and 99th percentile.
struct DelayModel {
  Seconds median, p99;
};
struct SwitchModel {
  DelayModel call;  // the caller is blocked
  DelayModel sm;    // request → effect
  DelayModel memory;
  Seconds memory_stall;  // no traffic while the memory clock changes
};

struct SensorModel {
  Seconds power_period;    // registers change this often …
  Seconds power_window;    // … and cover this much before the change
  Seconds average_window;  // of the averaged reading; 0: the card has none
  Seconds energy_period;
  Seconds utilization_period;
  Seconds history_period;         // of the card's own buffer; 0: no buffer
  double gain_deviation = 0;      // drawn once a card
  Watts offset_deviation;         // drawn once a card
  double noise = 0;               // relative, each refresh
  double stale_share = 0;         // refreshes that do not happen
  bool activity_metrics = false;  // GPM
  Seconds activity_window;        // the shortest interval that means anything
  double activity_missing = 0;    // share of values that come back as not a number
};

// Relative standard deviations from card to card.
struct CardSpread {
  double core = 0, leakage = 0, cooling = 0;
};

struct GpuPhysics {
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
static_assert(std::is_trivially_copyable_v<GpuPhysics>);

}  // namespace hypermile
