// SPDX-License-Identifier: Apache-2.0
//
// The shared memory between a training process and the controller: one file per process, laid out
// here and nowhere else. The injected library and the tick library write it, RingReader reads it.
// docs/design/injection.md tells the protocol; in short:
//
// - The file lies in the folder named by HYPERMILE_RING_DIR, made under a name without the suffix
//   ".ring" and renamed when it is whole. Its blocks are allocated at once, so that a full disk
//   shows then and not as a signal in the job. Nobody ever resizes it.
// - Slots are a ring that overwrites its oldest. A writer takes the next number from `head` and
//   publishes its slot under that number; it never looks at the reader, so that a slow or dead
//   reader costs records and not time. The reader knows from the numbers what it missed.
// - A slot's seal is number + 1 and 16 check bits of its three words. Zero while it is written. A
//   writer that was held up for a whole round cannot pass off a mixture as a record.
// - Names are written once, in order, and never change.
// - The control block is the only part that the controller writes, `revision` odd meanwhile. It
// names
//   the boundary at which CUDA events are wanted, and until when launches need not be watched.
//
// Everything is a plain integer at a fixed offset: whoever shares the memory uses atomics of its
// own. No C++ library is needed, and none of ours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile {

constexpr const char* kRingDirVariable = "HYPERMILE_RING_DIR";
constexpr const char* kNvtxStepVariable = "HYPERMILE_NVTX_STEP";
constexpr const char* kRingSuffix = ".ring";

constexpr std::uint64_t kRingMagic = 0x676e69526c69'6d48;  // "HmliRing"
constexpr std::uint32_t kRingVersion = 1;
constexpr std::uint32_t kSlotCount = 1U << 16;  // at 500,000 launches/s the reader may sleep 0.13 s
constexpr std::uint32_t kNameCount = 8192;
constexpr std::uint32_t kNameLength = 252;  // bytes kept; longer names are cut, not confused
constexpr std::uint32_t kOtherNames = kNameCount - 1;  // the id all names share that found no room
constexpr std::uint32_t kNoName = 0xffff'ffff;
constexpr std::uint64_t kLeastSpacingNs = 50'000'000;     // between two CUDA events of one process
constexpr std::uint64_t kLongestDarkNs = 60'000'000'000;  // the writer watches again by then

enum class RingSource : std::uint32_t {
  kLaunches = 1,  // the injected library
  kTicks = 2,     // hypermile_tick() of the framework
};

// How the writer stands. Everything but kWatching means that no launches come; `reason` says why.
enum class RingStatus : std::uint32_t {
  kStarting = 0,
  kWatching = 1,
  kNoCupti = 2,        // none found, or one that lacks what we need
  kCuptiFailed = 3,    // found, but it refused
  kOtherProfiler = 4,  // somebody else was subscribed before us
  kHandedOver = 5,     // a profiler came later and was given our place
  kEnded = 6,          // the process exits
};

enum class RecordKind : std::uint8_t {
  kLaunch = 1,  // a: host time; b: kind, stream, kernel; c: grid blocks (0: unknown)
  // a: number of the launch or step; b: kind, axis, device; c: seconds (bits of a double)
  kGpuTime = 2,
  kTick = 3,      // a: host time; b: kind, 0, name of the phase or kNoName
  kStep = 4,      // a: host time; b: kind, 0, name of the NVTX range; c: 0
  kContext = 5,   // a: host time; b: kind, 0, device; a CUDA context launches for the first time
  kFork = 6,      // a: host time; b: kind; c: pid of the child, which has no ring of its own
  kStatus = 7,    // a: host time; b: kind, 0, the new RingStatus
  kWatch = 8,     // a: host time; b: kind, 0, 1: launches are records again from here on, 0: not
  kTickTime = 9,  // as kGpuTime; a: number of the tick in the process's ring of ticks
};

// Word b of a slot: kind in bits 0-7, a dense stream or axis in bits 8-31, the rest above.
constexpr std::uint64_t pack_b(RecordKind kind, std::uint32_t middle, std::uint32_t high) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} |
         (std::uint64_t{middle & 0x00ff'ffffU} << 8) | (std::uint64_t{high} << 32);
}

struct RingSlot {
  std::uint64_t seal;
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t c;
};

// What a slot that holds record `number` must carry as its seal.
constexpr std::uint64_t seal_of(std::uint64_t number, std::uint64_t a, std::uint64_t b,
                                std::uint64_t c) {
  std::uint64_t mixed =
      (a ^ (b << 23) ^ (b >> 41) ^ (c << 47) ^ (c >> 17) ^ number) * 0x9e37'79b9'7f4a'7c15U;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58'476d'1ce4'e5b9U;
  return ((number + 1) << 16) | (mixed >> 48);
}

// The record number in a seal, plus one; 0 when the slot is being written or never was.
constexpr std::uint64_t number_in_seal(std::uint64_t seal) {
  return seal >> 16;
}

struct RingName {
  std::uint32_t length;  // 0: not there yet
  char text[kNameLength];
};

struct RingHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t source;  // RingSource
  std::uint32_t slot_count;
  std::uint32_t slot_size;
  std::uint32_t name_count;
  std::uint32_t name_size;
  std::uint64_t file_size;
  std::uint32_t pid;         // as the process sees itself
  std::uint32_t parent_pid;  // likewise
  std::uint64_t start_ns;    // CLOCK_MONOTONIC, when this ring was made
  char process[64];          // comm, NUL-terminated
  std::uint32_t status;      // RingStatus
  std::uint32_t cupti_version;
  std::uint32_t driver_version;
  std::uint32_t names;  // used so far
  char reason[128];     // NUL-terminated; for kNoCupti and its like
  std::uint32_t contexts;
  std::uint32_t forks;
  std::uint64_t names_lost;        // distinct handles whose name found no room
  std::uint64_t events_placed;     // CUDA events recorded
  std::uint64_t events_passed;     // boundaries without one: capture, pool empty, another context
  std::uint64_t in_capture;        // launches into a graph that is being captured: not records
  std::uint64_t dark_ns;           // during which launches were not watched, because nobody wanted
  std::uint8_t padding[184];       // to a cache line that only writers of records touch
  alignas(64) std::uint64_t head;  // the next record's number
};

// Bits of RingControl::events_wanted.
constexpr std::uint32_t kEventsAtKernel = 1;
constexpr std::uint32_t kEventsAtSteps = 2;  // at the first launch after an NVTX step or a tick

// The boundary at which CUDA events are wanted: a launch of `kernel`, right after one of `previous`
// (whichever thread or stream that came from) unless that is kNoName.
struct RingControl {
  std::uint64_t revision;  // odd while the controller writes
  std::uint32_t events_wanted;
  std::uint32_t kernel;
  std::uint32_t previous;
  std::uint32_t reserved;
  std::uint64_t spacing_ns;  // at least kLeastSpacingNs; the writer raises it to that
  // CLOCK_MONOTONIC: until then launches need not be watched. 0, or past: they are.
  std::uint64_t dark_until_ns;
};

constexpr std::size_t kHeaderOffset = 0;
constexpr std::size_t kControlOffset = 4096;
constexpr std::size_t kNamesOffset = 8192;
constexpr std::size_t kSlotsOffset = kNamesOffset + std::size_t{kNameCount} * sizeof(RingName);
constexpr std::size_t kRingSize = kSlotsOffset + std::size_t{kSlotCount} * sizeof(RingSlot);

static_assert(sizeof(RingSlot) == 32 && sizeof(RingName) == 256);
static_assert(sizeof(RingHeader) <= kControlOffset && offsetof(RingHeader, head) % 64 == 0);
static_assert(kControlOffset + sizeof(RingControl) <= kNamesOffset);
static_assert(kSlotsOffset % 4096 == 0 && (kSlotCount & (kSlotCount - 1)) == 0);

}  // namespace hypermile
