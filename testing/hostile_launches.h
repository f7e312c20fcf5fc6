// SPDX-License-Identifier: Apache-2.0
//
// Turns bytes into launches that no honest process would write: repeated stretches, huge and zero
// ids, times that jump. For the fuzz target and the property test.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "inject/launch.h"

namespace hypermile {

class HostileLaunches {
 public:
  using ByteSource = std::function<unsigned()>;
  explicit HostileLaunches(ByteSource byte) : byte_(std::move(byte)) {}

  Launch next() {
    const unsigned kind = byte_() % 16;
    if (kind == 0) time_ = jumped();
    time_ = wrapped_sum(time_, static_cast<std::int64_t>(byte_()) * 10000);
    Launch launch;
    launch.time = Instant::from_nanoseconds(time_);
    launch.kernel = byte_() % 8;
    if (kind == 1) launch.kernel = ~launch.kernel;
    if (kind == 2) launch.kernel = byte_() * 65537U * 251U;
    // Mostly a short cycle, so that patterns are found and broken.
    if (kind > 4) launch.kernel = step_++ % (3 + byte_() % 2);
    launch.blocks = byte_();
    return launch;
  }

 private:
  std::int64_t jumped() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | (byte_() & 0xFFU);
    return static_cast<std::int64_t>(bits >> (byte_() % 64));
  }
  static std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }

  ByteSource byte_;
  std::int64_t time_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace hypermile
