// SPDX-License-Identifier: Apache-2.0
//
// The complete changing state of a simulated GPU, as one trivially copyable struct: it can be
// copied, compared and kept in shared memory. advance.h moves it through time.
//
// The state changes only at events: a part of the job ends, a request takes effect, the limiter
// decides, a sensor refreshes. Between two events the rates in `segment` hold and nothing is
// written, so advancing in one step or in a thousand gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/units.h"
#include "gpu/setting.h"
#include "sim/gpu_constants.h"
#include "sim/sim_random.h"

namespace hypermile {

inline constexpr std::uint64_t kNoBarrier = std::numeric_limits<std::uint64_t>::max();
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Effects that no model of a policy or predictor contains. 1 is as on real cards (as far as is
// known), 2 is doubled, 0 is off.
struct Effects {
  // The heat sink stays warm for minutes, so leakage depends on the past.
  double thermal_memory = 1;
  double limiter_hunting = 1;   // the limiter overshoots, so clock and power oscillate
  double two_level_times = 1;   // the job is slower for minutes at a time, without a visible cause
  double clock_stretching = 1;  // at high power the true clock is below the reported one
};

// How this card differs from its sheet; drawn once from the seed.
struct CardTraits {
  double core = 1, leakage = 1, cooling = 1;  // factors
  double sensor_gain = 1;
  Watts sensor_offset = {};
};

// A request that was accepted but has not taken effect.
struct PendingChange {
  double at_s = kNever;
  std::optional<double> value = {};  // MHz or W; nullopt: the default
};

// The position of the job. A unit runs at one rate: it is a part or, where iterations are much
// shorter than any sensor resolves, a block of whole iterations.
struct JobPosition {
  bool running = false;
  std::uint64_t limit = 0;  // training iterations after which the job ends; 0: endless
  std::uint32_t phase = 0;
  std::uint32_t part = 0;
  std::uint32_t micro_batch = 0;
  // Iterations left in this visit to the phase, including the current one.
  std::uint64_t phase_left = 0;
  std::uint64_t block = 0;  // whole iterations in the unit; 0: the unit is a part
  double work = 1;          // operations and bytes of this iteration relative to the mean
  double factor = 1;        // busy time of this iteration relative to the mean: work, slow minutes
  double done = 0;          // finished share of the unit at the segment's start (0..1)
  double unit_start_s = 0;
  double iteration_start_s = 0;
  double iteration_s = 0;  // duration of the iteration at the clocks with which it began
  std::uint64_t train_iterations = 0;  // finished ones
  std::uint64_t all_iterations = 0;    // finished ones of every phase
  // Train_iterations at which each phase is due.
  std::array<std::uint64_t, kMaxPhases> next_visit = {};
  // For a rank of a larger job (ranks.h): training iterations that it may finish before it waits.
  std::uint64_t barrier = kNoBarrier;
  bool waiting = false;  // waiting for the other ranks
};

// How one part (or a whole iteration, blended) runs at given clocks; see part_rate.h.
struct PartRate {
  // Of one run with work factor 1; only busy_s scales with the factor.
  double wait_s = 0, busy_s = 0;
  double busy_w = 0, wait_w = 0;    // power without leakage
  double busy_v2 = 1, wait_v2 = 1;  // voltage², for the leakage
  double estimate_w = 0;            // while busy, as an activity-based limiter estimates it
  double dram = 0, fp64 = 0, fp32 = 0, tensor = 0;  // shares of peak while busy
  double sm_true_mhz = 0;
};

// Rates of the current phase, valid until a clock changes.
struct RateCache {
  std::uint32_t phase = 0;
  std::uint32_t valid = 0;  // bit per part; bit kMaxParts for the whole iteration
  double sm_mhz = 0, memory_mhz = 0;
  std::array<PartRate, kMaxParts + 1> rates = {};
};

// Rates that hold from `start_s` to the next event.
struct Segment {
  double start_s = 0;
  double unit_rate = 0;  // share of the unit per second; 0: nothing runs
  double power_w = 0;
  double estimate_w = 0;                  // as an activity-based limiter estimates it
  double busy = 0;                        // share of time with a kernel
  double dram = 0;                        // share of peak bandwidth
  double sm_active = 0;                   // share of cycles
  double fp64 = 0, fp32 = 0, tensor = 0;  // share of peak
  double sm_reported_mhz = 0;
  double sm_true_mhz = 0;  // below the reported one where the clock is stretched
};

// Integrals over time since the start, for sensors that show means.
struct Totals {
  double energy_j = 0;
  double busy_s = 0, dram_s = 0, sm_s = 0, fp64_s = 0, fp32_s = 0, tensor_s = 0;
};

struct LimiterState {
  double next_s = 0;
  double before_s = 0, before_j = 0;  // time and energy at the last decision
  double seen_w = 0;                  // average of true power
  double seen_estimate_w = 0;
  double trim_mhz = 0;  // distance below the ceiling; a multiple of the step
  bool power_capped = false, thermal = false;
};

inline constexpr std::size_t kHistorySize = 128;
inline constexpr std::size_t kAverageSlots = 64;
struct HistoryEntry {
  double time_s = 0;
  float power_w = 0;
};

// What the registers showed at their last refresh.
struct SensorState {
  double next_power_s = 0, power_window_from_s = 0, next_energy_s = 0, next_utilization_s = 0,
         next_history_s = 0;
  // Start of the power window, and the true energy at that time.
  double window_from_s = 0, window_energy_j = 0;
  double shown_power_w = 0;
  std::optional<double> shown_average_w = {};
  double shown_energy_j = 0;  // whole millijoules
  double shown_utilization = 0, shown_memory_utilization = 0;
  double busy_before_s = 0, dram_before_s = 0;
  double history_energy_j = 0;
  std::array<double, kAverageSlots> average_energy_j = {};
  std::uint64_t power_refreshes = 0;
  std::array<HistoryEntry, kHistorySize> history = {};
  std::uint64_t history_count = 0;  // total written; the newest is at (count − 1) % size
};

// Start times of the newest 256 finished training iterations, for readers that did not observe them
// live.
inline constexpr std::size_t kTickRing = 256;
struct TickState {
  std::array<double, kTickRing> start_s = {};
  std::uint64_t count = 0;  // total written; iteration i began at start_s[i % kTickRing]
};

struct SimGpuState {
  double now_s = 0;  // the time to which it was last advanced
  // Separate streams, so that random draws of the card do not affect the job: two runs of one seed
  // at different Settings have the same iterations and the same slow minutes.
  SimRandom random = {};        // sensors, limiter, switching
  SimRandom job_random = {};    // lengths and kinds of iterations
  SimRandom level_random = {};  // slow minutes
  CardTraits card = {};
  Effects effects = {};

  Setting requested = {};                     // the requests accepted so far
  Setting in_force = {};                      // the requests in effect
  std::array<PendingChange, 3> pending = {};  // indexed by Knob
  double memory_stall_until_s = 0;

  double die_c = 0, sink_c = 0;
  double leakage_w = 0;  // at v = 1 and the die's temperature, updated with it
  // Two-level iteration times: whether the job is in its slow level, and until when.
  bool slow_level = false;
  double level_until_s = 0;

  JobPosition job = {};
  Segment segment = {};
  RateCache cache = {};
  Totals totals = {};  // at segment.start_s
  LimiterState limiter = {};
  SensorState sensors = {};
  TickState ticks = {};
};
static_assert(std::is_trivially_copyable_v<SimGpuState>);

}  // namespace hypermile
