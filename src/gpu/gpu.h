// SPDX-License-Identifier: Apache-2.0
//
// One GPU: who it is, what it can do, what its sensors say, and the act of applying a Setting.
//
// Implementations: nvml/ (a real card), sim/replay_gpu (measured silicon), and wrappers around any
// other Gpu (deadline, fault injection, recording). All are used by one thread at a time unless an
// implementation says more. Every call may fail with kGpuLost, kTimeout or kNoDriver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
  std::string name;            // "NVIDIA H200"
  std::optional<int> index;    // NVML's; moves when cards come and go, so only for display
  std::string driver_version;  // "580.159.04", "replay", …
};

// Why control of a GPU is refused even to those with permission.
enum class ControlBarrier { kNone, kMigEnabled, kVirtualGpu, kSharedByMps };

enum class Support { kYes, kNo, kUnknown };

struct Range {
  Watts min;
  Watts max;
};

// Probed when the GPU is opened, never assumed from the model's name. Empty lists and nullopt mean
// that the card or driver does not say.
struct Capabilities {
  std::vector<Mhz> sm_clocks;      // at the highest memory clock, descending
  std::vector<Mhz> memory_clocks;  // descending
  std::optional<Range> power_limit_range;
  std::optional<Watts> default_power_limit;
  std::optional<Watts> current_power_limit;
  Support sm_clock_lock = Support::kUnknown;
  Support memory_clock_lock = Support::kUnknown;
  Support power_limit_set = Support::kUnknown;
  bool may_set = false;  // this process has the permission, and HYPERMILE_READ_ONLY is not set
  ControlBarrier barrier = ControlBarrier::kNone;  // when opened; apply() looks again
  bool activity_metrics = false;                   // GPM: Hopper and newer
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

// Why the clock is below what was asked for. NVML's bits under their meaning; several may hold.
struct EventReasons {
  std::uint64_t bits = 0;  // as NVML gives them

  static constexpr std::uint64_t kIdle = 0x1;
  static constexpr std::uint64_t kRequestedClocks = 0x2;  // our own lock
  static constexpr std::uint64_t kSoftwarePowerCap = 0x4;
  static constexpr std::uint64_t kHardwareSlowdown = 0x8;
  static constexpr std::uint64_t kSyncBoost = 0x10;
  static constexpr std::uint64_t kSoftwareThermal = 0x20;
  static constexpr std::uint64_t kHardwareThermal = 0x40;
  static constexpr std::uint64_t kPowerBrake = 0x80;
  static constexpr std::uint64_t kDisplayClocks = 0x100;

  // Something other than the job and our own request holds the clock down.
  bool throttled() const {
    return (bits & (kSoftwarePowerCap | kHardwareSlowdown | kSyncBoost | kSoftwareThermal |
                    kHardwareThermal | kPowerBrake)) != 0;
  }
  bool operator==(const EventReasons&) const = default;
};

std::string to_string(EventReasons reasons);  // "power cap, thermal" or "none"

// Sensors at one instant. What is not known is nullopt, never 0 or NaN.
struct Sample {
  Instant time;
  std::optional<Watts> power_instant;
  std::optional<Watts> power_average;
  std::optional<Joules> energy;  // since some origin; monotonic while the driver stays loaded
  std::optional<Mhz> sm_clock;
  std::optional<Mhz> memory_clock;
  std::optional<double> gpu_utilization;     // 0..1, share of time with any kernel
  std::optional<double> memory_utilization;  // 0..1
  std::optional<Celsius> temperature;
  std::optional<EventReasons> reasons;
  std::optional<Watts> power_limit;  // the one in force
  // The one that was last asked for, by whomever; a request takes a while to be in force.
  std::optional<Watts> requested_power_limit;
};

struct TimedPower {
  Instant time;
  Watts power;
};

// What a round of polling asks of a card; nothing at all only collects.
struct SensorWish {
  SensorSet sensors = {};
  std::optional<Instant> history_after = {};  // the buffer of power samples, from there on
  bool empty() const { return sensors.empty() && !history_after; }
};

// What came of it.
struct SensorRound {
  SensorWish wish;
  Result<Sample> sample;
  Result<std::vector<TimedPower>> history;  // empty where it was not asked for
};

struct PolledRounds {
  bool started = true;              // false: an earlier round is still under way
  std::optional<SensorRound> done;  // newly
};

// Shares are 0..1 of peak over the interval; what the card does not report is nullopt.
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

// What became of one knob of an apply() or reset().
struct KnobOutcome {
  Knob knob = Knob::kSmClock;
  Result<void> result;
};
using ApplyOutcome = std::vector<KnobOutcome>;
// The first failure, naming its knob, or success.
Result<void> all_applied(const ApplyOutcome& outcome);

class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual const GpuIdentity& identity() const = 0;
  virtual const Capabilities& capabilities() const = 0;

  // Reads the wanted sensors now. A sensor the card lacks stays nullopt; a GPU that cannot be
  // reached is an error. Costs differ by a factor of a thousand (doctor measures them): ask for
  // what you need.
  virtual Result<Sample> read(SensorSet wanted) = 0;

  // The card's own buffer of power samples after `after`, oldest first; kUnsupported without one.
  virtual Result<std::vector<TimedPower>> power_history(Instant after) = 0;

  // One round of polling, for loops that must not wait: starts what is wished for and gives what is
  // done since the last call. Here both are the same; where calls are made on a thread of their own
  // a round is given by the next poll.
  virtual PolledRounds poll(const SensorWish& wish);

  // Activity since the previous call; the first call only starts the interval. kNotReady until then
  // and while the interval is too short to mean anything (100 ms on Hopper); kUnsupported without
  // GPM.
  virtual Result<ActivityMetrics> activity() = 0;

  virtual Result<std::vector<GpuProcess>> processes() = 0;

  // Requests each knob that `setting` names and leaves the others alone. Goes on after a failing
  // knob. Success means "request accepted": whether the clock is reached only read() tells.
  virtual ApplyOutcome apply(const Setting& setting) = 0;

  // Gives one knob back to the driver's default. Idempotent.
  virtual Result<void> reset(Knob knob) = 0;

  // How long the driver took over every call so far; empty where there is no driver.
  virtual CallTimes call_times() const { return {}; }
};

// The whole of a round now, with read() and power_history().
SensorRound read_round(Gpu& gpu, const SensorWish& wish);

}  // namespace hypermile
