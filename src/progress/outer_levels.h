// SPDX-License-Identifier: Apache-2.0
//
// Finds what happens once every so many iterations (an optimizer step after several micro-batches,
// logging) from the kernels that are launched more or less often than usual in some iterations.
// An outer level is believed when the same kernel came back after the same number of iterations so
// often in a row that chance is out of the question.
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
    std::uint32_t inner = 0;  // iterations of level 0 in one of this
    KernelNumber kernel = 0;  // that showed it
    // Of the iteration just told: outer iterations that ended with it. Meaningful where `ended`.
    bool ended = false;
    std::uint32_t iterations = 0;
  };

  OuterLevels();

  void start();
  // Iterations were missed: what comes next is at no known distance from what came before.
  void resume();
  // Some iterations ended (usually one), with these unusual counts. True if levels came or went.
  bool ended(unsigned iterations, std::span<const CountEvent> events) {
    iteration_ += iterations;
    return (count_ > 0 || !events.empty()) && look(events);
  }

  // Inner to outer.
  std::span<const Level> levels() const { return std::span(levels_).first(count_); }
  // All kernels that of late were launched more often than usual as seldom as `level` comes: which
  // of them showed it is chance.
  std::vector<KernelNumber> kernels_of(const Level& level) const;

  std::size_t memory_bytes() const { return tracks_.capacity() * sizeof(Track) + sizeof(*this); }

 private:
  static constexpr std::uint32_t kNever = 0;

  // How one kernel's unusual counts came so far. Iterations are numbered from 1.
  struct Track {
    std::uint32_t last = kNever;   // iteration in which it came
    std::uint32_t burst = kNever;  // first of the iterations in a row in which it came
    std::uint16_t gap = 0;         // iterations between the starts of the last two bursts
    std::uint16_t equal = 0;       // gaps in a row of that size
    float size = 0;                // launches by which it usually differs
    float matches = 0;             // of late: gaps like the one before…
    float gaps = 0;                // …of all
  };
  struct State {
    std::size_t track = 0;
    std::uint32_t last = 0;  // iteration that ended an outer one
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

  std::vector<Track> tracks_;  // by kernel and sign
  std::uint32_t iteration_ = 0;
  std::size_t count_ = 0;
  std::array<Level, kMost> levels_{};
  std::array<State, kMost> states_{};
};

}  // namespace hypermile
