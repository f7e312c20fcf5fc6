// SPDX-License-Identifier: Apache-2.0
//
// What a training job asks of a GPU, as plain numbers: phases (train, evaluation, checkpoint …)
// made of parts (forward, backward, optimizer …), each with its operations, bytes, launches and
// waits. A Load says nothing of any GPU: how long a part takes follows from it and a GpuPhysics. It
// is trivially copyable, so it can lie in shared memory beside the state of a simulated GPU.
// workload.h reads one from a file.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/units.h"

namespace hypermile {

enum class Precision : std::uint8_t { kFp64, kFp32, kTf32, kBf16, kFp8 };
inline constexpr std::size_t kPrecisions = 5;  // kBf16 stands for fp16 too: same pipes and rates

inline constexpr std::size_t kMaxPhases = 6;
inline constexpr std::size_t kMaxParts = 8;
inline constexpr std::size_t kMaxNameLength = 23;

// A name short enough to be copied with the numbers; cut off at kMaxNameLength.
using ShortName = std::array<char, kMaxNameLength + 1>;

// One part of an iteration. What depends on the amount of data (operations, bytes) grows with a
// long batch; launches and waits do not, and no clock shortens them.
struct PartWork {
  ShortName name = {};
  std::array<double, kPrecisions> flops = {};
  double bytes = 0;               // to and from DRAM
  double compute_efficiency = 1;  // of the peak rate, when nothing else binds
  double memory_efficiency = 1;   // of the peak bandwidth, when nothing else binds
  // Switching activity of the busy compute pipes: 1 for random data, about 0.2 for zeros.
  double activity = 1;
  double launches = 0;      // kernels started
  Seconds launch_gap = {};  // per launch, what the GPU stands still for it
  Seconds host = {};        // GPU waits for the host, once a part
  Seconds data_stall = {};  // GPU waits for data, once a part
  bool each_micro_batch = false;
  std::uint32_t first_kernel = 0;  // ids of its kernels: first_kernel … +kernel_kinds−1, in turn
  std::uint32_t kernel_kinds = 1;
};

// How the work of single iterations scatters around the mean, as a factor on operations and bytes.
enum class LengthKind : std::uint8_t { kFixed, kNormal, kLognormal, kUniform, kBimodal };
struct LengthSpread {
  LengthKind kind = LengthKind::kFixed;
  double cv = 0;           // standard deviation over mean (normal, lognormal, uniform)
  double long_share = 0;   // bimodal: this share of iterations …
  double long_factor = 1;  // … has this much times the work of the others (mean stays 1)
};

struct PhaseWork {
  ShortName name = {};
  std::array<PartWork, kMaxParts> parts = {};
  std::uint32_t part_count = 0;
  LengthSpread length = {};
  // The first phase is the training loop. Another one runs `iterations` times after every `every`
  // iterations of it (0: never by count) …
  std::uint64_t every = 0;
  std::uint64_t iterations = 1;
  // … or, in an aperiodic job, is drawn for each iteration with this weight.
  double weight = 0;
};

struct Load {
  std::array<PhaseWork, kMaxPhases> phases = {};
  std::uint32_t phase_count = 0;
  std::uint32_t micro_batches = 1;  // gradient accumulation: the parts so marked run this often
  // Which phase comes next is drawn by weight, every iteration: there is no period to be found.
  bool aperiodic = false;
  // Slow change of the work per iteration: 1 + drift·min(1, i/drift_iterations) after i iterations.
  double drift = 0;
  std::uint64_t drift_iterations = 1;
  // Utilisation the job leaves on other parts of the card, for the sensors only (0..1).
  double occupancy = 0.5;
  double pcie_mib_s = 0;
};
static_assert(std::is_trivially_copyable_v<Load>);

}  // namespace hypermile
