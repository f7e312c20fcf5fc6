// SPDX-License-Identifier: Apache-2.0
//
// The work of a training job, as plain numbers: phases (train, evaluation, checkpoint …) made of
// parts (forward, backward, optimizer …), each with its operations, bytes, launches and waits. A
// Load is independent of any GPU: durations follow from it and a GpuConstants. It is trivially
// copyable, so that it can lie in shared memory beside the state of a simulated GPU. workload.h
// reads one from a file.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/units.h"

namespace hypermile {

enum class Precision : std::uint8_t { kFp64, kFp32, kTf32, kBf16, kFp8 };
inline constexpr std::size_t kPrecisions = 5;  // kBf16 includes fp16: same pipes and rates

inline constexpr std::size_t kMaxPhases = 6;
inline constexpr std::size_t kMaxParts = 8;
inline constexpr std::size_t kMaxNameLength = 23;

// A name short enough to be copied with the numbers; cut off at kMaxNameLength.
using ShortName = std::array<char, kMaxNameLength + 1>;

// One part of an iteration. Operations and bytes grow with a long batch; launches and waits do not,
// and no clock shortens them.
struct PartWork {
  ShortName name = {};
  std::array<double, kPrecisions> flops = {};
  double bytes = 0;               // to and from DRAM
  double compute_efficiency = 1;  // share of the peak rate, when nothing else limits
  double memory_efficiency = 1;   // share of the peak bandwidth, when nothing else limits
  // Switching activity of the busy compute pipes: 1 for random data, about 0.2 for zeros.
  double activity = 1;
  double launches = 0;      // number of kernels
  Seconds launch_gap = {};  // GPU idle time per launch
  Seconds host = {};        // GPU waits for the host, once per part
  Seconds data_stall = {};  // GPU waits for data, once per part
  bool each_micro_batch = false;
  bool graph = false;              // each launch is that of a CUDA graph
  std::uint32_t first_kernel = 0;  // its kernels have ids first_kernel … +kernel_kinds−1, in turn
  std::uint32_t kernel_kinds = 1;
};

// How the work of single iterations scatters around the mean, as a factor on operations and bytes.
enum class LengthKind : std::uint8_t { kFixed, kNormal, kLognormal, kUniform, kBimodal };
struct LengthSpread {
  LengthKind kind = LengthKind::kFixed;
  double cv = 0;           // standard deviation over mean (normal, lognormal, uniform)
  double long_share = 0;   // bimodal: share of the iterations that are long
  double long_factor = 1;  // bimodal: work of a long one relative to a short one (mean stays 1)
};

struct PhaseWork {
  ShortName name = {};
  std::array<PartWork, kMaxParts> parts = {};
  std::uint32_t part_count = 0;
  LengthSpread length = {};
  // The first phase is the training loop. Another phase runs `iterations` times after every `every`
  // training iterations (0: never by count).
  std::uint64_t every = 0;
  std::uint64_t iterations = 1;
  // A visit runs `iterations` to this many times, each number equally likely; 0: always
  // `iterations`.
  std::uint64_t most_iterations = 0;
  bool at_start = false;  // runs before the first training iteration
  // In an aperiodic job the phase of each iteration is drawn with this weight instead.
  double weight = 0;
};

struct Load {
  std::array<PhaseWork, kMaxPhases> phases = {};
  std::uint32_t phase_count = 0;
  // Gradient accumulation: parts marked each_micro_batch run this often.
  std::uint32_t micro_batches = 1;
  // The next phase is drawn by weight at every iteration, so there is no period.
  bool aperiodic = false;
  // The host launches this many whole training iterations as soon as the GPU begins the first, and
  // then waits for the GPU. 0: it launches a part when the GPU comes to it.
  std::uint32_t dispatch_ahead = 0;
  Seconds launch_pace = microseconds(6);  // between two launches of a host that waits for nothing
  // Slow change of the work per iteration: 1 + drift·min(1, i/drift_iterations) after i iterations.
  double drift = 0;
  std::uint64_t drift_iterations = 1;
  // Load on other parts of the card, shown by the sensors only (0..1).
  double occupancy = 0.5;
  double pcie_mib_s = 0;
};
static_assert(std::is_trivially_copyable_v<Load>);

}  // namespace hypermile
