// SPDX-License-Identifier: Apache-2.0
#include "progress/outer_levels.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::uint32_t kMostInner = 128;
constexpr std::uint32_t kLongestGap = 4096;
constexpr double kDecay = 0.98;
constexpr double kChance = 8e-4;  // six gaps of four, or five of eight or sixteen, pass this
// One kernel launched once more or less is weak evidence among hundreds of kernels.
constexpr double kChanceAlone = 1e-7;
constexpr double kBelieve = 0.8;
constexpr double kDoubt = 0.6;

}  // namespace

OuterLevels::OuterLevels() : tracks_(2 * KernelNumbers::kMost) {}

void OuterLevels::start() {
  std::ranges::fill(tracks_, Track{});
  iteration_ = 0;
  count_ = 0;
}

void OuterLevels::resume() {
  for (Track& track : tracks_) {
    if (track.last == kNever) continue;
    track.last = iteration_;
    track.burst = kNever;
  }
  iteration_ += 2;  // leaves a gap, so that no burst continues across it
  for (State& state : states_) state.first = true;
}

bool OuterLevels::look(std::span<const CountEvent> events) {
  bool began = false;
  for (const CountEvent& event : events) began |= come(tracks_[track_of(event)], event.by);
  bool changed = count_ > 0 && drop_lost();
  if (began) changed |= promote(events);
  if (count_ > 0) end_levels();
  return changed;
}

// Records that the track's kernel had an unusual count now; true if that starts a burst.
bool OuterLevels::come(Track& track, std::uint32_t by) {
  // One stray launch does not belong to an optimizer's twenty; twenty after strays start a new
  // track.
  const float size = static_cast<float>(by);
  if (2 * size < track.size) return false;
  if (size > 2 * track.size) track = {};
  track.size = std::max(0.9F * track.size, size);
  const bool goes_on = track.last != kNever && iteration_ - track.last <= 1;
  track.last = iteration_;
  if (goes_on) return false;
  const std::uint32_t gap = track.burst == kNever ? 0 : iteration_ - track.burst;
  track.burst = iteration_;
  if (gap == 0) return true;
  track.gaps = static_cast<float>(kDecay * track.gaps + 1);
  track.matches = static_cast<float>(kDecay * track.matches);
  if (gap == track.gap || track.gap == 0) {
    track.matches += 1;
    track.equal = static_cast<std::uint16_t>(std::min(track.equal + 1, 1000));
  } else {
    track.equal = 1;
  }
  track.gap = static_cast<std::uint16_t>(std::min(gap, kLongestGap + 1));
  return true;
}

// `times` is the gap in units of the level below: iterations of level 0 or of level 1.
bool OuterLevels::believed(const Track& track, std::uint32_t by, std::uint32_t times) const {
  if (track.burst != iteration_ || times < 2 || times > kMostInner) return false;
  if (track.matches < kBelieve * track.gaps) return false;
  const double equal = track.equal;
  const double chance = std::pow(static_cast<double>(times), 1 - equal) / equal;
  if (chance > kChance) return false;
  if (chance <= kChanceAlone || by > 1) return true;
  return false;
}

bool OuterLevels::promote(std::span<const CountEvent> events) {
  bool changed = false;
  // Kernels that come together with the same gap support each other.
  std::array<std::uint32_t, kMostInner + 1> together{};
  for (const CountEvent& event : events) {
    const Track& track = tracks_[track_of(event)];
    if (track.burst == iteration_ && track.gap <= kMostInner) ++together[track.gap];
  }
  for (const CountEvent& event : events) {
    const Track& track = tracks_[track_of(event)];
    const std::uint32_t company = track.gap <= kMostInner ? together[track.gap] : 1;
    const std::uint32_t by = std::max(event.by, company);
    if (count_ == 0 || (count_ >= 1 && track.gap < levels_[0].inner &&
                        levels_[0].inner % std::max<std::uint32_t>(track.gap, 1) == 0)) {
      if (!believed(track, by, track.gap)) continue;
      // A single level becomes the outer one; of two levels, the inner one is replaced.
      if (count_ == 1) {
        levels_[1] = levels_[0];
        states_[1] = states_[0];
        count_ = 2;
      } else if (count_ == 0) {
        count_ = 1;
      }
      levels_[0] = {track.gap, event.kernel, false, 0};
      states_[0] = {track_of(event), iteration_, true};
      changed = true;
    } else if (count_ == 1 && track.gap > levels_[0].inner && track.gap % levels_[0].inner == 0) {
      if (!believed(track, by, track.gap / levels_[0].inner)) continue;
      levels_[1] = {track.gap, event.kernel, false, 0};
      states_[1] = {track_of(event), iteration_, true};
      count_ = 2;
      changed = true;
    }
  }
  return changed;
}

std::vector<KernelNumber> OuterLevels::kernels_of(const Level& level) const {
  std::vector<KernelNumber> kernels;
  // Odd tracks count launches above the usual; see track_of().
  for (std::size_t i = 1; i < tracks_.size(); i += 2) {
    const Track& track = tracks_[i];
    const bool comes = track.last != kNever && iteration_ - track.last <= level.inner;
    if (comes && track.gap == level.inner && track.equal >= 2) {
      kernels.push_back(static_cast<KernelNumber>(i / 2));
    }
  }
  return kernels;
}

bool OuterLevels::drop_lost() {
  const std::size_t before = count_;
  for (std::size_t i = 0; i < count_; ++i) {
    const Track& track = tracks_[states_[i].track];
    const bool lost = iteration_ - track.last > 2 * levels_[i].inner + 1;
    if (!lost && track.matches >= kDoubt * track.gaps) continue;
    // The outer level is counted in units of the inner one, so both are lost.
    count_ = i;
  }
  return count_ != before;
}

// An outer iteration ends when its kernel comes or, if that fails once, after the usual number of
// iterations.
void OuterLevels::end_levels() {
  for (std::size_t i = 0; i < count_; ++i) {
    Level& level = levels_[i];
    State& state = states_[i];
    level.ended = false;
    const std::uint32_t since = iteration_ - state.last;
    const bool came = tracks_[state.track].burst == iteration_;
    if (!came && (state.first || since < level.inner)) continue;
    if (!state.first && since < (level.inner + 1) / 2) {
      state.last = iteration_;  // the kernel comes earlier from now on, and nothing ended
      continue;
    }
    level.ended = true;
    level.iterations = state.first ? 0 : std::max(1U, (since + level.inner / 2) / level.inner);
    state.last = iteration_;
    state.first = false;
  }
}

}  // namespace hypermile
