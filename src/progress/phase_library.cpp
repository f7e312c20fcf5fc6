// SPDX-License-Identifier: Apache-2.0
#include "progress/phase_library.h"

#include <algorithm>
#include <limits>
#include <map>

namespace hypermile {
namespace {

constexpr double kSamePhase = 0.85;
constexpr double kAsUsual = 0.15;  // a segment's similarity may be lower by this much
constexpr unsigned kSegments = 2;
constexpr Seconds kLasting = milliseconds(100);
// Nobody waits longer for a phase to come back.
constexpr Seconds kLongestInterlude(3);
// An evaluation is reported as a phase this often before it counts as an interlude.
constexpr unsigned kEvaluations = 3;
constexpr int kCatchUp = 4;  // launches looked at per new launch
constexpr double kTooLong = 2.5;
constexpr double kSlack = 64;  // launches

double alike(const Reference& a, const Reference& b) {
  std::map<KernelNumber, float> counts;
  for (const KernelCount& each : a.counts) counts[each.kernel] = each.count;
  double matched = 0;
  for (const KernelCount& each : b.counts) {
    const auto found = counts.find(each.kernel);
    if (found != counts.end()) matched += std::min(found->second, each.count);
  }
  return similarity(matched, a.length(), b.length());
}

}  // namespace

PhaseLibrary::PhaseLibrary() : searches_(kMost) {
  phases_.reserve(kMost);
  for (Search& search : searches_) {
    search.counts.resize(KernelNumbers::kMost);
    search.touched.reserve(KernelNumbers::kMost);
  }
}

PhaseLibrary::Recognised PhaseLibrary::recognise(const Reference& reference) {
  Phase* best = nullptr;
  double most = kSamePhase;
  for (Phase& phase : phases_) {
    const double now = alike(phase.reference, reference);
    if (now > most) {
      most = now;
      best = &phase;
    }
  }
  const bool known = best != nullptr;
  if (!known) {
    best = phases_.size() < kMost ? &phases_.emplace_back()
                                  : &*std::ranges::min_element(phases_, {}, &Phase::used);
    best->number = next_number_++;
    best->interlude = Seconds(0);
    best->evaluations = 0;
    best->other_stages = 0;
  }
  best->reference = reference;
  best->used = ++uses_;
  return {best->number, known};
}

void PhaseLibrary::update(std::uint32_t number, Reference reference) {
  const auto phase = std::ranges::find(phases_, number, &Phase::number);
  if (phase == phases_.end()) return;
  phase->reference = std::move(reference);
  phase->used = ++uses_;
}

const PhaseLibrary::Phase* PhaseLibrary::find(std::uint32_t number) const {
  const auto phase = std::ranges::find(phases_, number, &Phase::number);
  return phase == phases_.end() ? nullptr : &*phase;
}

// Of an interlude that was longer once, a little is forgotten each time.
void PhaseLibrary::came_back(std::uint32_t number, Seconds interlude, bool evaluated) {
  const auto phase = std::ranges::find(phases_, number, &Phase::number);
  if (phase == phases_.end()) return;
  if (evaluated && ++phase->evaluations < kEvaluations) return;
  phase->interlude =
      interlude > kLongestInterlude ? Seconds(0) : std::max(interlude, 0.9 * phase->interlude);
}

void PhaseLibrary::came_back_from_stage(std::uint32_t number, std::uint64_t begin,
                                        std::uint64_t launches) {
  const auto phase = std::ranges::find(phases_, number, &Phase::number);
  if (phase == phases_.end()) return;
  if (phase->other_stages++ == 0) {
    phase->shortest_other = launches;
    phase->first_other = begin;
  }
  phase->shortest_other = std::min(phase->shortest_other, launches);
}

void PhaseLibrary::clear(Search& search) {
  for (const KernelNumber kernel : search.touched) search.counts[kernel] = 0;
  search.touched.clear();
}

void PhaseLibrary::search_from(std::uint64_t launch) {
  next_launch_ = launch;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    Search& search = searches_[i];
    clear(search);
    search.open = false;
    search.run = 0;
    search.length = phases_[i].reference.length();
  }
}

std::optional<PhaseLibrary::Match> PhaseLibrary::search(const LaunchRing& ring) {
  next_launch_ = std::max(next_launch_, ring.begin());
  for (int i = 0; i < kCatchUp && next_launch_ < ring.end(); ++i, ++next_launch_) {
    for (std::size_t p = 0; p < phases_.size(); ++p) {
      if (!look(searches_[p], phases_[p], ring, next_launch_)) continue;
      searches_[p].run = 0;
      return Match{phases_[p].number, searches_[p].run_start};
    }
  }
  return std::nullopt;
}

// True if enough consecutive segments have matched.
bool PhaseLibrary::look(Search& search, const Phase& phase, const LaunchRing& ring,
                        std::uint64_t launch) {
  const TokenName& anchor = phase.reference.anchor;
  const KernelNumber kernel = ring.kernel(launch);
  const std::uint64_t length = launch - search.start;
  bool found = false;
  const bool is_anchor =
      kernel == anchor.kernel && (!anchor.pair || ring.previous(launch) == anchor.previous);
  const bool stray =
      search.open && !phase.reference.elastic && static_cast<double>(length) < 0.5 * search.length;
  if (is_anchor && !stray) {
    if (search.open && matches(search, phase, length)) {
      if (search.run++ == 0) search.run_start = search.start;
      found = search.run >= kSegments &&
              ring.time(launch) - ring.time(std::max(search.run_start, ring.begin())) >= kLasting;
    } else {
      search.run = 0;
    }
    clear(search);
    search.open = true;
    search.start = launch;
  } else if (search.open &&
             static_cast<double>(length) > kTooLong * phase.reference.longest + kSlack) {
    clear(search);
    search.open = false;
    search.run = 0;
  }
  if (search.open) {
    std::uint16_t& count = search.counts[kernel];
    if (count == 0) search.touched.push_back(kernel);
    if (count < std::numeric_limits<std::uint16_t>::max()) ++count;
  }
  return found;
}

// The share of the witnesses that came as often as usual.
double PhaseLibrary::witnesses_come(const Search& search, const Reference& reference) {
  double come = 0;
  for (const KernelCount& each : reference.counts) {
    if (std::ranges::count(reference.witnesses, each.kernel) == 0) continue;
    if (usual_count(search.counts[each.kernel], each.count)) come += 1;
  }
  return come / static_cast<double>(std::max<std::size_t>(1, reference.witnesses.size()));
}

bool PhaseLibrary::matches(const Search& search, const Phase& phase,
                           std::uint64_t segment_length) const {
  if (phase.reference.elastic) {
    return witnesses_come(search, phase.reference) >= 1 - kAsUsual;
  }
  double matched = 0;
  for (const KernelCount& each : phase.reference.counts) {
    matched +=
        std::min(static_cast<double>(search.counts[each.kernel]), static_cast<double>(each.count));
  }
  return similarity(matched, static_cast<double>(segment_length), search.length) >=
         phase.reference.similarity - kAsUsual;
}

std::size_t PhaseLibrary::memory_bytes() const {
  // References are copied in; each holds at most all kernels.
  constexpr std::size_t kEach =
      KernelNumbers::kMost * (sizeof(std::uint16_t) + sizeof(KernelNumber));
  std::size_t bytes = sizeof(*this) + kMost * (sizeof(Phase) + sizeof(Search) + kEach);
  for (const Phase& phase : phases_)
    bytes += phase.reference.counts.capacity() * sizeof(KernelCount);
  return bytes;
}

}  // namespace hypermile
