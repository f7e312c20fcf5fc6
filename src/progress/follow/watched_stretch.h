// SPDX-License-Identifier: Apache-2.0
//
// What was seen of a process since watching last began: how fast it launches and iterates, and
// whether that was long enough for a Window. ProcessProgress makes a new one after every dark
// stretch.
#pragma once

#include <cstdint>
#include <optional>

#include "inject/ring_reader.h"
#include "progress/boundary.h"

namespace hypermile {

class WatchedStretch {
 public:
  WatchedStretch() = default;
  // Records with a number above `first` belong to this stretch.
  explicit WatchedStretch(std::uint64_t first) : first_(first) {}

  void add(const NumberedLaunch& launch) {
    if (launches_++ == 0) began_ = launch.launch.time;
    latest_ = launch.launch.time;
  }
  void add(const Boundary& boundary) {
    if (!first_boundary_) {
      first_boundary_ = boundary.time;
    } else {
      iterations_ += boundary.iterations;
    }
    last_boundary_ = boundary.time;
  }
  void add(const GpuTime& time) {
    if (time.launch < first_) return;
    if (axis_ != time.axis) {
      axis_ = time.axis;
      gpu_began_ = time.time;
    }
    gpu_latest_ = time.time;
  }
  // Called when the pattern has changed.
  void forget_iterations() {
    first_boundary_.reset();
    last_boundary_.reset();
    iterations_ = 0;
  }

  // Whether the stretch is long enough for a Window of `length`, on the GPU's clock if GPU times
  // come.
  bool measured(Seconds length) const {
    if (axis_) return gpu_latest_ - gpu_began_ >= length * 1.1;
    return first_boundary_ && *last_boundary_ - *first_boundary_ >= length * 1.3;
  }
  double iterations() const { return iterations_; }
  std::optional<Instant> last_boundary() const { return last_boundary_; }
  // The period on the host's clock, if the boundaries span `at_least`.
  std::optional<Seconds> period(Seconds at_least) const {
    if (iterations_ <= 0 || *last_boundary_ - *first_boundary_ < at_least) return std::nullopt;
    return (*last_boundary_ - *first_boundary_) / iterations_;
  }
  // 0 until the stretch has lasted 50 ms.
  double launches_per_second() const {
    const Seconds lasted = latest_ - began_;
    return lasted > milliseconds(50) ? static_cast<double>(launches_) / lasted.value() : 0;
  }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t launches_ = 0;
  Instant began_, latest_;
  std::optional<Instant> first_boundary_, last_boundary_;
  double iterations_ = 0;
  std::optional<std::uint32_t> axis_;
  Seconds gpu_began_, gpu_latest_;
};

}  // namespace hypermile
