// SPDX-License-Identifier: Apache-2.0
//
// The shared memory between a training process and the controller: one file per process, whose
// layout is defined only here. The injected library and the tick library write it; RingReader reads
// it. docs/design/injection.md describes the protocol; in short:
//
// - The file lies in the folder that HYPERMILE_RING_DIR names. It is made under a name without the
//   suffix ".ring" and renamed when it is complete. Its blocks are allocated at once, so that a
//   full disk fails here and not as a signal in the job. Nobody ever resizes it. It is small where
//   little memory is free, and is not made at all where the job may need what there is.
// - The slots form a ring in which new records overwrite the oldest. A writer takes the next number
//   from `head` and publishes its slot under that number. It never looks at the reader, so a slow
//   or dead reader costs records, not time. The reader sees from the numbers what it missed.
// - A slot's seal holds the record's number + 1 and 16 check bits over its three words; it is zero
//   while the slot is written. So a writer that was delayed for a whole round cannot leave a
//   mixture of two records that looks valid.
// - Names are written once, in order, and never change.
// - The controller writes only the control block, with an odd `revision` meanwhile. The block names
//   the boundary for CUDA events and the time until which launches need not be watched.
//
// Everything is a plain integer at a fixed offset, and each side uses its own atomics. The header
// needs neither a C++ library nor other headers of this project.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile {

constexpr const char* kRingDirVariable = "HYPERMILE_RING_DIR";
constexpr const char* kNvtxStepVariable = "HYPERMILE_NVTX_STEP";
constexpr const char* kRingSuffix = ".ring";

constexpr std::uint64_t kRingMagic = 0x676e69526c69'6d48;  // "HmliRing"
constexpr std::uint32_t kRingVersion = 1;
constexpr std::uint32_t kNameLength = 252;  // bytes kept; longer names are cut but stay distinct
constexpr std::uint32_t kNoName = 0xffff'ffff;
constexpr std::uint64_t kLeastSpacingNs = 50'000'000;  // between two CUDA events of one process
// The writer watches again after this time at the latest.
constexpr std::uint64_t kLongestDarkNs = 60'000'000'000;

enum class RingSource : std::uint32_t {
  kLaunches = 1,  // the injected library
  kTicks = 2,     // hypermile_tick() of the framework
};

// The writer's state. In every state but kWatching no launches are recorded, and `reason` says why.
enum class RingStatus : std::uint32_t {
  kStarting = 0,
  kWatching = 1,
  kNoCupti = 2,        // no CUPTI was found, or it lacks functions that we need
  kCuptiFailed = 3,    // CUPTI was found but refused
  kOtherProfiler = 4,  // another tool had subscribed before us
  kHandedOver = 5,     // a profiler came later and got our place
  kEnded = 6,          // the process exits
};

enum class RecordKind : std::uint8_t {
  kLaunch = 1,  // a: host time; b: kind, stream, kernel; c: grid blocks, 0 if unknown
  // a: number of the launch or step; b: kind, axis, device; c: seconds (bits of a double)
  kGpuTime = 2,
  kTick = 3,      // a: host time; b: kind, 0, name of the phase or kNoName
  kStep = 4,      // a: host time; b: kind, 0, name of the NVTX range; c: 0
  kContext = 5,   // a: host time; b: kind, 0, device. First launch of a CUDA context
  kFork = 6,      // a: host time; b: kind; c: pid of the child, which has no ring of its own
  kStatus = 7,    // a: host time; b: kind, 0, the new RingStatus
  kWatch = 8,     // a: host time; b: kind, 0, and 1 if launches are recorded from here on, 0 if not
  kTickTime = 9,  // like kGpuTime; a: number of the tick in the process's ring of ticks
};

// Word b of a slot: the kind in bits 0-7, a stream or axis in bits 8-31, the third value above.
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

// The valid seal of a slot that holds record `number`.
constexpr std::uint64_t seal_of(std::uint64_t number, std::uint64_t a, std::uint64_t b,
                                std::uint64_t c) {
  std::uint64_t mixed =
      (a ^ (b << 23) ^ (b >> 41) ^ (c << 47) ^ (c >> 17) ^ number) * 0x9e37'79b9'7f4a'7c15U;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58'476d'1ce4'e5b9U;
  return ((number + 1) << 16) | (mixed >> 48);
}

// The record number in a seal, plus one; 0 if the slot is being written or was never used.
constexpr std::uint64_t number_in_seal(std::uint64_t seal) {
  return seal >> 16;
}

struct RingName {
  std::uint32_t length;  // 0 until the name is written
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
  std::uint32_t pid;         // as the process itself sees it
  std::uint32_t parent_pid;  // as the process itself sees it
  std::uint64_t start_ns;    // CLOCK_MONOTONIC, when this ring was made
  char process[64];          // comm, NUL-terminated
  std::uint32_t status;      // RingStatus
  std::uint32_t cupti_version;
  std::uint32_t driver_version;
  std::uint32_t names;  // how many names are used so far
  char reason[128];     // NUL-terminated; why the status is not kWatching
  std::uint32_t contexts;
  std::uint32_t forks;
  std::uint64_t names_lost;     // distinct handles whose name found no room
  std::uint64_t events_placed;  // CUDA events recorded
  std::uint64_t
      events_passed;         // boundaries without an event: capture, no free event, other context
  std::uint64_t in_capture;  // launches into a graph under capture; they are not recorded
  std::uint64_t dark_ns;  // total time in which launches were not watched on the controller's wish
  std::uint8_t padding[184];       // puts `head` into a cache line of its own
  alignas(64) std::uint64_t head;  // number of the next record
};

// Bits of RingControl::events_wanted.
constexpr std::uint32_t kEventsAtKernel = 1;
constexpr std::uint32_t kEventsAtSteps = 2;  // at the first launch after an NVTX step or a tick

// What the controller wants. CUDA events are wanted at a launch of `kernel`, only right after a
// launch of `previous` (on any thread or stream) unless `previous` is kNoName.
struct RingControl {
  std::uint64_t revision;  // odd while the controller writes
  std::uint32_t events_wanted;
  std::uint32_t kernel;
  std::uint32_t previous;
  std::uint32_t reserved;
  std::uint64_t spacing_ns;  // at least kLeastSpacingNs; the writer raises it to that
  // Launches need not be watched until this time on CLOCK_MONOTONIC. They are watched if it is 0 or
  // has passed.
  std::uint64_t dark_until_ns;
};

constexpr std::size_t kHeaderOffset = 0;
constexpr std::size_t kControlOffset = 4096;
constexpr std::size_t kNamesOffset = 8192;

// How much a ring holds. The last name is shared by all names that found no room.
struct RingExtent {
  std::uint32_t slots;  // a power of two
  std::uint32_t names;

  constexpr std::size_t slots_offset() const {
    return kNamesOffset + std::size_t{names} * sizeof(RingName);
  }
  constexpr std::size_t file_size() const {
    return slots_offset() + std::size_t{slots} * sizeof(RingSlot);
  }
  constexpr std::uint32_t other_names() const { return names - 1; }
};

// 4.2 MB. At 500,000 launches/s the reader may sleep 0.13 s.
constexpr RingExtent kLargeRing{1U << 16, 8192};
// 0.5 MB, where memory is scarce. The reader sleeps 20 ms, so up to 400,000 launches/s are kept.
constexpr RingExtent kSmallRing{1U << 13, 1024};

// A ring takes this share of what is free where it lies, at most, so that enough is left for the
// job: shared memory in a container often has 64 MB in all.
constexpr std::uint64_t kFreeForOneRing = 64;

// The ring for a file system with so many free bytes; null where there is no room for one.
constexpr const RingExtent* extent_for(std::uint64_t free_bytes) {
  if (free_bytes / kFreeForOneRing >= kLargeRing.file_size()) return &kLargeRing;
  if (free_bytes / kFreeForOneRing >= kSmallRing.file_size()) return &kSmallRing;
  return nullptr;
}

static_assert(sizeof(RingSlot) == 32 && sizeof(RingName) == 256);
static_assert(sizeof(RingHeader) <= kControlOffset && offsetof(RingHeader, head) % 64 == 0);
static_assert(kControlOffset + sizeof(RingControl) <= kNamesOffset);
static_assert(kLargeRing.slots_offset() % 4096 == 0 && kSmallRing.slots_offset() % 4096 == 0);
static_assert((kLargeRing.slots & (kLargeRing.slots - 1)) == 0);
static_assert((kSmallRing.slots & (kSmallRing.slots - 1)) == 0);

}  // namespace hypermile
