// SPDX-License-Identifier: Apache-2.0
//
// Finds what happens once every several iterations (an optimizer step after several micro-batches,
// logging) from kernels that some iterations launch more or less often than usual. A level is
// believed if one kernel came back after the same number of iterations so often in a row that
// chance is ruled out. Part of the detector.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "progress/tracker.h"

namespace hypermile {

class OuterLevels {
 public:
  static constexpr std::size_t kMost = 2;

  struct Level {
    std::uint32_t inner = 0;  // iterations of level 0 in one iteration of this level
    KernelNumber kernel = 0;  // the kernel that revealed the level
    // Whether outer iterations ended with the iteration just reported, and how many.
    bool ended = false;
    std::uint32_t iterations = 0;
  };

  OuterLevels();

  void start();
  // Iterations were missed: the next one is at an unknown distance from the last.
  void resume();
  // `iterations` (usually one) ended with these unusual counts. True if levels were found or lost.
  bool ended(unsigned iterations, std::span<const CountEvent> events) {
    iteration_ += iterations;
    return (count_ > 0 || !events.empty()) && look(events);
  }

  // From inner to outer.
  std::span<const Level> levels() const { return std::span(levels_).first(count_); }
  // All kernels that were recently launched more often than usual at the rate of `level`. Which of
  // them revealed the level is chance.
  std::vector<KernelNumber> kernels_of(const Level& level) const;
  // By how many launches a kernel usually exceeds its usual count, where it does.
  double more_of(KernelNumber kernel) const {
    return tracks_[track_of({kernel, /*more=*/true, 0})].size;
  }

  std::size_t memory_bytes() const { return tracks_.capacity() * sizeof(Track) + sizeof(*this); }

 private:
  static constexpr std::uint32_t kNever = 0;

  // How one kernel's unusual counts came so far. Iterations are numbered from 1.
  struct Track {
    std::uint32_t last = kNever;   // last iteration with the unusual count
    std::uint32_t burst = kNever;  // first iteration of the latest burst of such iterations
    std::uint16_t gap = 0;         // iterations between the starts of the last two bursts
    std::uint16_t equal = 0;       // consecutive gaps of this size
    float size = 0;                // launches by which the count usually differs
    float matches = 0;             // recent gaps that equalled the gap before…
    float gaps = 0;                // …out of this many, both decaying
  };
  struct State {
    std::size_t track = 0;
    std::uint32_t last = 0;  // the iteration that ended the last outer one
    bool first = true;
  };

  static std::size_t track_of(const CountEvent& event) {
    return 2 * static_cast<std::size_t>(event.kernel) + (event.more ? 1 : 0);
  }
  bool look(std::span<const CountEvent> events);
  bool come(Track& track, std::uint32_t by);
  bool believed(const Track& track, std::uint32_t by, std::uint32_t times) const;
  bool promote(std::span<const CountEvent> events);
  bool drop_lost();
  void end_levels();

  std::vector<Track> tracks_;  // by kernel, and by whether more or fewer
  std::uint32_t iteration_ = 0;
  std::size_t count_ = 0;
  std::array<Level, kMost> levels_{};
  std::array<State, kMost> states_{};
};

}  // namespace hypermile
