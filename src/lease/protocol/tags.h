// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the protocol (docs/reference/daemon-protocol.md), for the encoders and decoders in
// this folder. A number is never reused: a field or type that is removed leaves a gap.
#pragma once

#include <cstdint>

namespace hypermile::tags {

enum Tag : std::uint8_t {
  kVersion = 1,
  kType = 2,
  kSequence = 3,
  kLease = 4,
  kGpu = 5,  // UUID, repeated in lists
  kTtl = 6,
  kJob = 7,
  kSmClock = 8,
  kMemoryClock = 9,
  kPowerLimit = 10,
  kClose = 11,
  kReopen = 12,
  kErrorCode = 13,
  kMessage = 14,
  kRemedy = 15,
  kLongest = 16,
  kProblem = 17,     // nested: code, message, remedy
  kLeaseEntry = 18,  // nested
  kUid = 19,
  kPid = 20,
  kSince = 21,
  kExpiresIn = 22,
  kGpuEntry = 23,  // nested
  kRestoring = 24,
  kAllowed = 25,
  kTrouble = 26,
  kProgram = 27,
  kGuardian = 28,
  kAdministrator = 29,
  kClosed = 30,
  kClient = 31,  // the program that holds a lease
  kCount = 32,   // nested
  kName = 33,
  kValue = 34,
  kReadBack = 35,
  kHold = 36,
  kKnob = 37,  // nested: name, allowed, least, most
  kLeast = 38,
  kMost = 39,
};

enum Type : std::uint8_t {
  kAcquire = 1,
  kSet = 2,
  kRenew = 3,
  kRelease = 4,
  kList = 5,
  kStatus = 6,
  kReset = 7,
  kRefused = 128,
  kDone = 129,
  kGranted = 130,
  kApplied = 131,
  kLeases = 132,
  kDaemonStatus = 133,
};

}  // namespace hypermile::tags
