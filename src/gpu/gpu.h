// SPDX-License-Identifier: Apache-2.0
//
// One GPU: its identity, what it can do, what its sensors read, and how a Setting is applied.
//
// Implementations: nvml/ (a real card), sim/replay_gpu (a measured sweep), and wrappers around
// another Gpu (deadlines, faults, recording). One thread at a time uses a Gpu unless its
// implementation allows more. Every call may fail with kGpuLost, kTimeout or kNoDriver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "base/units.h"
#include "gpu/call_times.h"
#include "gpu/setting.h"

namespace hypermile {

struct GpuIdentity {
  GpuUuid uuid;
  PciAddress pci;
  std::string name;  // "NVIDIA H200"
  // NVML's index; it changes when cards come and go, so it is only for display.
  std::optional<int> index;
  std::string driver_version;  // "580.159.04", "replay", …
};

// Ends the driver_version of a GPU of the NVML stand-in.
inline constexpr std::string_view kStandInMark = " (stand-in)";

// Nothing that was read from such a GPU was measured on silicon by this program.
inline bool is_simulated(const GpuIdentity& gpu) {
  return gpu.driver_version == "simulated" || gpu.driver_version == "replay" ||
         gpu.driver_version.ends_with(kStandInMark);
}

// Why nobody may control a GPU, whatever permission they have.
enum class ControlBarrier { kNone, kMigEnabled, kVirtualGpu, kSharedByMps };

enum class Support { kYes, kNo, kUnknown };

struct Range {
  Watts min;
  Watts max;
};

// Probed when the GPU is opened, never assumed from the model's name. An empty list or nullopt
// means that the card or driver does not report it.
struct Capabilities {
  std::vector<Mhz> sm_clocks;      // at the highest memory clock, descending
  std::vector<Mhz> memory_clocks;  // descending
  std::optional<Range> power_limit_range;
  std::optional<Watts> default_power_limit;
  std::optional<Watts> current_power_limit;
  Support sm_clock_lock = Support::kUnknown;
  Support memory_clock_lock = Support::kUnknown;
  Support power_limit_set = Support::kUnknown;
  bool may_set = false;  // this process has permission, and HYPERMILE_READ_ONLY is not set
  ControlBarrier barrier = ControlBarrier::kNone;  // as of opening; apply() checks again
  bool activity_metrics = false;                   // GPM, on Hopper and newer
};

enum class Sensor : unsigned {
  kPowerInstant = 1U << 0,
  kPowerAverage = 1U << 1,
  kEnergy = 1U << 2,
  kClocks = 1U << 3,
  kUtilization = 1U << 4,
  kTemperature = 1U << 5,
  kEventReasons = 1U << 6,
  kPowerLimit = 1U << 7,
};

class SensorSet {
 public:
  constexpr SensorSet() = default;
  constexpr SensorSet(Sensor sensor) : bits_(static_cast<unsigned>(sensor)) {}
  static constexpr SensorSet all() { return SensorSet((1U << 8) - 1); }
  constexpr bool has(Sensor sensor) const { return (bits_ & static_cast<unsigned>(sensor)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const SensorSet&) const = default;
  friend constexpr SensorSet operator|(SensorSet a, SensorSet b) {
    return SensorSet(a.bits_ | b.bits_);
  }

 private:
  constexpr explicit SensorSet(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};

constexpr SensorSet operator|(Sensor a, Sensor b) {
  return SensorSet(a) | SensorSet(b);
}

// Why the clock is below the requested one, as NVML's bits. Several bits may be set.
struct EventReasons {
  std::uint64_t bits = 0;  // as NVML reports them

  static constexpr std::uint64_t kIdle = 0x1;
  static constexpr std::uint64_t kRequestedClocks = 0x2;  // a clock lock, such as hypermile's own
  static constexpr std::uint64_t kSoftwarePowerCap = 0x4;
  static constexpr std::uint64_t kHardwareSlowdown = 0x8;
  static constexpr std::uint64_t kSyncBoost = 0x10;
  static constexpr std::uint64_t kSoftwareThermal = 0x20;
  static constexpr std::uint64_t kHardwareThermal = 0x40;
  static constexpr std::uint64_t kPowerBrake = 0x80;
  static constexpr std::uint64_t kDisplayClocks = 0x100;

  // Something other than the job and hypermile's own request holds the clock down.
  bool throttled() const {
    return (bits & (kSoftwarePowerCap | kHardwareSlowdown | kSyncBoost | kSoftwareThermal |
                    kHardwareThermal | kPowerBrake)) != 0;
  }
  bool operator==(const EventReasons&) const = default;
};

std::string to_string(EventReasons reasons);  // "power cap, thermal" or "none"

// Sensor readings at one instant. An unknown value is nullopt, never 0 or NaN.
struct Sample {
  Instant time;
  std::optional<Watts> power_instant;
  std::optional<Watts> power_average;
  // Counted from an arbitrary origin; never falls while the driver stays loaded.
  std::optional<Joules> energy;
  std::optional<Mhz> sm_clock;
  std::optional<Mhz> memory_clock;
  std::optional<double> gpu_utilization;     // 0..1, share of time with any kernel
  std::optional<double> memory_utilization;  // 0..1
  std::optional<Celsius> temperature;
  std::optional<EventReasons> reasons;
  std::optional<Watts> power_limit;  // the limit in force
  // The limit that anybody requested last; it takes a while to come into force.
  std::optional<Watts> requested_power_limit;
};

struct TimedPower {
  Instant time;
  Watts power;
};

// What one polling round should read. An empty wish reads nothing and only collects the last round.
struct SensorWish {
  SensorSet sensors = {};
  // Also read the card's buffer of power samples after this time.
  std::optional<Instant> history_after = {};
  bool empty() const { return sensors.empty() && !history_after; }
};

struct SensorRound {
  SensorWish wish;
  Result<Sample> sample;
  Result<std::vector<TimedPower>> history;  // empty if the wish did not include it
};

struct PolledRounds {
  bool started = true;              // false while an earlier round is still running
  std::optional<SensorRound> done;  // a round that finished since the last poll
};

// Activity over an interval, as shares from 0 to 1 of the peak. What the card does not report is
// nullopt.
struct ActivityMetrics {
  Instant from;
  Instant to;
  std::optional<double> graphics, sm, sm_occupancy, integer, any_tensor, dfma_tensor, hmma_tensor,
      imma_tensor, dram_bandwidth, fp64, fp32, fp16;
  std::optional<double> pcie_tx_mib_s, pcie_rx_mib_s, nvlink_tx_mib_s, nvlink_rx_mib_s;
};

struct GpuProcess {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;
};

// What happened to one knob in apply() or reset().
struct KnobOutcome {
  Knob knob = Knob::kSmClock;
  Result<void> result;
};
using ApplyOutcome = std::vector<KnobOutcome>;
// The first failure, with its knob's name, or success.
Result<void> all_applied(const ApplyOutcome& outcome);

class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual const GpuIdentity& identity() const = 0;
  virtual const Capabilities& capabilities() const = 0;

  // Reads the wanted sensors now. A sensor that the card lacks stays nullopt; an unreachable GPU is
  // an error. The cost differs a thousandfold between sensors (`hypermile doctor` measures it), so
  // ask only for what you need.
  virtual Result<Sample> read(SensorSet wanted) = 0;

  // The card's own power samples after `after`, oldest first; kUnsupported if it has no such
  // buffer.
  virtual Result<std::vector<TimedPower>> power_history(Instant after) = 0;

  // One polling round, for loops that must not wait: starts reading the wish and returns what has
  // finished. This default reads at once; a Gpu with its own thread returns the round at a later
  // poll.
  virtual PolledRounds poll(const SensorWish& wish);

  // Activity since the previous call. kNotReady on the first call, which starts the interval, and
  // while the interval is too short to be meaningful (100 ms on Hopper); kUnsupported without GPM.
  virtual Result<ActivityMetrics> activity() = 0;

  virtual Result<std::vector<GpuProcess>> processes() = 0;

  // Requests every knob that `setting` names and leaves the others alone. A failing knob does not
  // stop the rest. Success means that the driver accepted the request; only read() shows whether
  // the clock was reached.
  virtual ApplyOutcome apply(const Setting& setting) = 0;

  // Returns one knob to the driver's default. May be repeated.
  virtual Result<void> reset(Knob knob) = 0;

  // How long each driver call took so far; empty if there is no driver.
  virtual CallTimes call_times() const { return {}; }
};

// Reads a whole round now with read() and power_history().
SensorRound read_round(Gpu& gpu, const SensorWish& wish);

}  // namespace hypermile
