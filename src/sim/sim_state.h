// SPDX-License-Identifier: Apache-2.0
//
// Everything that changes in a simulated GPU, as one trivially copyable struct: it can be copied,
// compared and kept in memory that several processes share. advance.h moves it through time.
//
// The state changes only at events (a part of the job ends, a request acts, the limiter decides, a
// sensor refreshes). Between two events the rates in `segment` hold, and nothing is written; so
// advancing in one step or in a thousand gives the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/units.h"
#include "gpu/setting.h"
#include "sim/gpu_physics.h"
#include "sim/sim_random.h"

namespace hypermile {

inline constexpr std::uint64_t kNoBarrier = std::numeric_limits<std::uint64_t>::max();
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Effects that no policy's or predictor's model contains. 1 is as on real cards (as far as is
// known), 2 doubled, 0 off.
struct Effects {
  double thermal_memory = 1;    // the heat sink remembers minutes: leakage depends on the past
  double limiter_hunting = 1;   // the limiter overshoots: clock and power saw instead of resting
  double two_level_times = 1;   // the job is slower for minutes at a time, for no visible reason
  double clock_stretching = 1;  // under high power the true clock is below the one reported
};

// How this card differs from its sheet; drawn once from the seed.
struct CardTraits {
  double core = 1, leakage = 1, cooling = 1;  // factors
  double sensor_gain = 1;
  Watts sensor_offset = {};
};

// A request that was accepted and does not act yet.
struct PendingChange {
  double at_s = kNever;
  std::optional<double> value = {};  // MHz or W; nullopt: back to the default
};

// Where the job is. A unit is what runs at one rate: a part, or, where iterations are much shorter
// than any sensor resolves, a block of whole iterations.
struct JobPosition {
  bool running = false;
  std::uint64_t limit = 0;  // training iterations after which it ends; 0: endless
  std::uint32_t phase = 0;
  std::uint32_t part = 0;
  std::uint32_t micro_batch = 0;
  std::uint64_t phase_left = 0;  // iterations of this visit to the phase, this one included
  std::uint64_t block = 0;       // whole iterations in the unit; 0: the unit is a part
  double factor = 1;             // work of this iteration against the mean
  double done = 0;               // of the unit, at the segment's start (0..1)
  double unit_start_s = 0;
  double iteration_start_s = 0;
  double iteration_s = 0;  // how long the iteration would take at the clocks it began with
  std::uint64_t train_iterations = 0;                     // whole ones
  std::uint64_t all_iterations = 0;                       // of every phase
  std::array<std::uint64_t, kMaxPhases> next_visit = {};  // train_iterations at which it is due
  // A rank of a larger job (ranks.h): training iterations it may finish before it waits.
  std::uint64_t barrier = kNoBarrier;
  bool waiting = false;  // for the other ranks
};

// How one part (or a whole iteration, blended) runs at given clocks; see physics.h.
struct PartRate {
  double wait_s = 0, busy_s = 0;    // of one run with work factor 1; only busy_s follows the factor
  double busy_w = 0, wait_w = 0;    // without leakage
  double busy_v2 = 1, wait_v2 = 1;  // voltage², for the leakage
  double estimate_w = 0;            // while busy, as an activity-based limiter sees it
  double dram = 0, fp64 = 0, fp32 = 0, tensor = 0;  // shares of peak while busy
  double sm_true_mhz = 0;
};

// Rates of the phase in hand, kept until a clock changes.
struct RateCache {
  std::uint32_t phase = 0;
  std::uint32_t valid = 0;  // bit per part; bit kMaxParts for the whole iteration
  double sm_mhz = 0, memory_mhz = 0;
  std::array<PartRate, kMaxParts + 1> rates = {};
};

// Rates that hold from `start_s` to the next event.
struct Segment {
  double start_s = 0;
  double unit_rate = 0;  // of the unit, per second; 0: nothing runs
  double power_w = 0;
  double estimate_w = 0;                  // what an activity-based limiter sees
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
  double before_s = 0, before_j = 0;  // at the last decision
  double seen_w = 0;                  // averaged power
  double seen_estimate_w = 0;
  double trim_mhz = 0;  // below the ceiling; a multiple of the step
  bool power_capped = false, thermal = false;
};

inline constexpr std::size_t kHistorySize = 128;
inline constexpr std::size_t kAverageSlots = 64;
struct HistoryEntry {
  double time_s = 0;
  float power_w = 0;
};

// What the registers show, as of their last refresh.
struct SensorState {
  double next_power_s = 0, power_window_from_s = 0, next_energy_s = 0, next_utilization_s = 0,
         next_history_s = 0;
  double window_from_s = 0, window_energy_j = 0;  // when the power window opened, true energy then
  double shown_power_w = 0;
  std::optional<double> shown_average_w = {};
  double shown_energy_j = 0;  // whole millijoules
  double shown_utilization = 0, shown_memory_utilization = 0;
  double busy_before_s = 0, dram_before_s = 0;
  double history_energy_j = 0;
  std::array<double, kAverageSlots> average_energy_j = {};
  std::uint64_t power_refreshes = 0;
  std::array<HistoryEntry, kHistorySize> history = {};
  std::uint64_t history_count = 0;  // ever written; the newest is at (count − 1) % size
};

// Starts of finished training iterations, the newest 256, for whoever did not watch while they
// happened.
inline constexpr std::size_t kTickRing = 256;
struct TickState {
  std::array<double, kTickRing> start_s = {};
  std::uint64_t count = 0;  // ever written; iteration i began at start_s[i % kTickRing]
};

struct SimGpuState {
  double now_s = 0;  // the latest instant it was advanced to
  // One stream each, so that what the card draws does not change what befalls the job: two runs of
  // one seed under different Settings meet the same iterations and the same slow minutes.
  SimRandom random = {};        // sensors, limiter, switching
  SimRandom job_random = {};    // lengths and kinds of iterations
  SimRandom level_random = {};  // slow minutes
  CardTraits card = {};
  Effects effects = {};

  Setting requested = {};                     // accepted requests
  Setting in_force = {};                      // those that act
  std::array<PendingChange, 3> pending = {};  // by Knob
  double memory_stall_until_s = 0;

  double die_c = 0, sink_c = 0;
  double leakage_w = 0;  // at v = 1 and the die's temperature, renewed with it
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
