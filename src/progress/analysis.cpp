// SPDX-License-Identifier: Apache-2.0
#include "progress/analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "progress/waits.h"

namespace hypermile {
namespace {

constexpr double kLeastQuality = 0.55;
constexpr double kFinerCosts = 0.05;  // a finer class may be worse by this much quality
constexpr float kFinerCv = 0.6F;      // a finer class may be at most this uneven
// Rejects a kernel that comes thousands of times in a row, once in a while. A pause of the pattern
// inside the stretch raises the variation of gaps to a few at most.
constexpr float kInRunsCv = 10;
constexpr double kByChance = 2;
constexpr double kWholeRatio = 0.05;  // how near the ratio of gaps must be to a whole number
// Launches per graph: at least three of five launches are that graph.
constexpr double kGraphGap = 1.67;
constexpr Seconds kGraphTime = milliseconds(1);
constexpr double kSameGap = 1.3;
// So many even members may replace similarity by evenness.
constexpr std::uint32_t kEvenMembers = 3;
constexpr std::uint32_t kEvenOccurrences = 7;
constexpr std::size_t kAnchorMembers = 12;
constexpr std::size_t kWitnessMembers = 96;
constexpr std::size_t kMostWitnesses = 16;
constexpr double kOnce = 0.9;
// Among random launches some token falls once into every segment, but not at the same place. The
// anchor's neighbours do stay in place, and prove nothing.
constexpr double kInPlace = 0.15;  // as a share of the segment's length
constexpr double kApart = 2;       // launches from the anchor
constexpr std::size_t kLeastInPlace = 2;
constexpr double kLongEnough = 8;  // launches; shorter segments have no distinct places
constexpr double kLongAlike = 256;
constexpr std::size_t kManyAlike = 5;  // segments
constexpr double kAlikeToTheLaunch = 0.995;
constexpr double kElasticQuality = 0.8;
constexpr double kElasticShare = 0.95;
// Of lengths. One step in thirty that holds a whole evaluation scatters more than sequences do.
constexpr double kElasticCv = 1;
constexpr double kAlikeThough = 0.95;   // quality
constexpr std::size_t kManyRounds = 8;  // segments
constexpr std::size_t kConstantKernels = 6;
// Of a pattern that something else interrupts now and then.
constexpr std::size_t kInterruptedSegments = 24;
// Launches. A layer that is computed anew for its backward pass has up to 400.
constexpr double kMoreThanLayer = 400;
constexpr double kUsualShare = 0.9;
constexpr double kInterruptedAlike = 0.4;
constexpr double kInterruptedQuality = 0.9;
constexpr double kPairPenalty = 0.02;

// The spread of the time between occurrences: (p90 - p10) / p50.
double time_spread(const LaunchRing& ring, std::uint64_t begin,
                   std::span<const std::uint32_t> positions) {
  constexpr std::size_t kMostIntervals = 256;
  if (positions.size() > kMostIntervals + 1) positions = positions.last(kMostIntervals + 1);
  std::vector<double> intervals;
  intervals.reserve(positions.size());
  for (std::size_t i = 1; i < positions.size(); ++i) {
    intervals.push_back(
        (ring.time(begin + positions[i]) - ring.time(begin + positions[i - 1])).value());
  }
  std::ranges::sort(intervals);
  const auto quantile = [&](double q) {
    return intervals[static_cast<std::size_t>(q * static_cast<double>(intervals.size() - 1))];
  };
  const double middle = quantile(0.5);
  return middle > 0 ? (quantile(0.9) - quantile(0.1)) / middle
                    : std::numeric_limits<double>::infinity();
}

}  // namespace

double Reference::length() const {
  return std::accumulate(counts.begin(), counts.end(), 0.0,
                         [](double sum, const KernelCount& each) { return sum + each.count; });
}

// True for short epochs, in which nearly every segment is the same to the launch and a few hold an
// evaluation as well. The layers of a long pass are also the same, but a layer launches less than a
// whole iteration.
bool Analysis::interrupted() const {
  return segmentation_.reference_length() > kMoreThanLayer &&
         segmentation_.segments() >= kInterruptedSegments &&
         segmentation_.usual_share() >= kUsualShare &&
         segmentation_.mean_similarity() >= kInterruptedAlike;
}

// Evenness helps jobs whose kernel names depend on the lengths of their inputs: no two segments are
// alike, but a handful of other kernels comes exactly once per iteration.
double Analysis::plain_quality(const TokenClass& of) const {
  const Token& most_even = classes_.members(of).front();
  double alike = segmentation_.mean_similarity();
  if (interrupted()) alike = std::max(alike, kInterruptedQuality);
  if (of.steady < kEvenMembers || most_even.count < kEvenOccurrences) return alike;
  return std::max(alike, 1 - 3.0 * of.cv);
}

// Sequences of different lengths make iterations of different lengths: the same kernels, but the
// time steps' come more or less often. Every kernel is in every iteration, and several come in
// constant numbers. The layers of one pass are not like that: one segment of them holds the
// backward pass, whose kernels the others lack.
bool Analysis::elastic(const TokenClass& of) {
  if (segmentation_.segments() < kManyRounds || of.cv > kElasticCv) return false;
  if (segmentation_.reference_length() < kLongAlike) return false;
  return segmentation_.constant(table_, kElasticShare).size() >= kConstantKernels &&
         segmentation_.present(table_, kElasticShare) >= kElasticShare;
}

// Some lengths look alike by chance for a while, so that it is enough that they vary.
bool Analysis::stretches(const TokenClass& of, double plain) {
  return plain < kAlikeThough && !interrupted() && elastic(of);
}

double Analysis::quality(const TokenClass& of) {
  const double plain = plain_quality(of);
  return stretches(of, plain) ? std::max(plain, kElasticQuality) : plain;
}

std::vector<Analysis::Rated> Analysis::rate_classes(const LaunchRing& ring, double least) {
  std::vector<Rated> rated;
  rated.reserve(classes_.candidates().size());
  for (const TokenClass& candidate : classes_.candidates()) {
    if (candidate.cv > kInRunsCv || candidate.gap <= least) continue;
    const auto positions = table_.positions(classes_.members(candidate).front());
    segmentation_.cut(table_, positions);
    const Seconds lasting = ring.time(table_.begin() + positions.back()) -
                            ring.time(table_.begin() + positions.front());
    const bool varies = stretches(candidate, plain_quality(candidate));
    // Of rounds, some are alike by chance. Constant numbers are not.
    const bool rounds = varies && least > 0;
    rated.push_back({.of = &candidate,
                     .quality = rounds ? kAlikeThough : quality(candidate),
                     .gap = candidate.gap,
                     .each = lasting / static_cast<double>(positions.size() - 1),
                     .interrupted = interrupted(),
                     .elastic = varies});
  }
  return rated;
}

// Whether a finer class explains the stream as well as the best. If iterations vary by chance,
// segments of n iterations look more alike, by the square root of n. Layers are uneven, so they do
// not pass. A single launch that fills most of the stream and takes milliseconds is a graph,
// whatever is logged in between.
bool Analysis::good_enough(const Rated& finer, const Rated& top, double ratio) {
  if (finer.gap <= kGraphGap && finer.each >= kGraphTime) return finer.quality >= kLeastQuality;
  if (finer.interrupted) return true;
  if (finer.of->cv > kFinerCv) return false;
  if (finer.quality >= top.quality - kFinerCosts) return true;
  const bool steady = finer.of->steady >= kEvenMembers && finer.of->cv <= kSteadyCv;
  return steady && 1 - finer.quality <= kByChance * std::sqrt(ratio) * (1 - top.quality);
}

std::optional<Finding> Analysis::run(const LaunchRing& ring, std::uint64_t begin, std::uint64_t end,
                                     double least) {
  table_.group(ring, begin, end);
  classes_.sort(table_.tokens());
  const std::vector<Rated> rated = rate_classes(ring, least);
  if (rated.empty()) return std::nullopt;
  const auto rank = [](const Rated& each) {
    return std::tuple(-std::lround(each.quality * 100), each.gap);
  };
  const Rated top = *std::ranges::min_element(rated, {}, rank);
  if (top.quality < kLeastQuality) return std::nullopt;
  Rated finest = top;
  for (const Rated& each : rated) {
    const double ratio = top.gap / each.gap;
    const double whole = std::round(ratio);
    const bool divides = whole >= 2 && std::abs(ratio - whole) <= kWholeRatio * std::sqrt(whole);
    if (divides && each.gap < finest.gap && good_enough(each, top, whole)) finest = each;
  }
  Rated best = finest;
  for (const Rated& each : rated) {
    const bool same = each.gap < finest.gap * kSameGap && finest.gap < each.gap * kSameGap;
    if (same && each.quality > best.quality) best = each;
  }
  // Some kernels are launched for some lengths only. They come once in two iterations or so, and
  // are no iteration while others come once in each.
  for (const Rated& each : rated) {
    if (best.elastic && each.elastic && each.gap < best.gap) best = each;
  }
  if (auto finding = describe(ring, *best.of)) return finding;
  return best.of == top.of ? std::nullopt : describe(ring, *top.of);
}

std::optional<Finding> Analysis::describe(const LaunchRing& ring, const TokenClass& of) {
  const Token& anchor = choose_anchor(ring, of);
  const auto positions = table_.positions(anchor);
  segmentation_.cut(table_, positions);
  auto witnesses = choose_witnesses(of);
  if (!witnesses || segmentation_.reference_length() < 1 || quality(of) < kLeastQuality) {
    return std::nullopt;
  }
  const double longest = segmentation_.longest();
  const bool varies = stretches(of, plain_quality(of));
  const auto counts = segmentation_.reference();
  Reference reference{.anchor = anchor.name,
                      .counts = {counts.begin(), counts.end()},
                      .witnesses = *std::move(witnesses),
                      .similarity = varies ? 1 : segmentation_.mean_similarity(),
                      .quality = quality(of),
                      .worst_mismatch = segmentation_.worst_mismatch(),
                      .shortest = anchor.cv <= kSteadyCv ? segmentation_.shortest() : 0.0,
                      .longest = longest,
                      .elastic = varies,
                      .interrupted = interrupted()};
  return Finding{.reference = std::move(reference),
                 .gap = anchor.gap,
                 .waits = waits(ring, positions),
                 .first_boundary = table_.begin() + positions.front()};
}

double Analysis::waits(const LaunchRing& ring, std::span<const std::uint32_t> cuts) const {
  constexpr std::size_t kSegments = 64;
  constexpr std::size_t kMostLaunches = 256;  // per segment
  // A host waits once or twice in a short iteration. In a longer one it waits for each of a few
  // large kernels, while a layer of as many launches has its time in more of them.
  constexpr std::size_t kPauses = 2;
  constexpr std::size_t kLaunchesPerPause = 40;
  if (cuts.size() > kSegments + 1) cuts = cuts.last(kSegments + 1);
  const std::size_t segments = cuts.size() - 1;
  const std::size_t launches = cuts.back() - cuts.front();
  if (launches > kMostLaunches * segments) return 1;
  const std::size_t pauses = std::max(kPauses * segments, launches / kLaunchesPerPause);
  return share_of_longest_pauses(ring, table_.begin() + cuts.front(), table_.begin() + cuts.back(),
                                 pauses);
}

const Token& Analysis::choose_anchor(const LaunchRing& ring, const TokenClass& of) const {
  auto members = classes_.members(of);
  members = members.first(std::min(members.size(), kAnchorMembers));
  const Token* best = &members.front();
  double least = std::numeric_limits<double>::infinity();
  for (const Token& token : members) {
    if (token.cv > of.cv + 0.02F) continue;
    const double spread = time_spread(ring, table_.begin(), table_.positions(token)) +
                          (token.name.pair ? kPairPenalty : 0.0);
    if (spread < least) {
      least = spread;
      best = &token;
    }
  }
  return *best;
}

std::optional<std::vector<KernelNumber>> Analysis::choose_witnesses(const TokenClass& of) {
  auto members = classes_.members(of);
  members = members.first(std::min(members.size(), kWitnessMembers));
  const double length = segmentation_.reference_length();
  std::size_t passing = 0;
  std::size_t in_place = 0;
  std::vector<std::pair<double, KernelNumber>> found;
  for (const Token& token : members) {
    const auto positions = table_.positions(token);
    if (segmentation_.once_in(positions) < kOnce) continue;
    ++passing;
    const Segmentation::Place place = segmentation_.place(positions);
    const double apart = std::min(place.mean, 1 - place.mean) * length;
    if (place.deviation <= kInPlace && apart >= kApart) ++in_place;
    if (!token.name.pair) found.emplace_back(place.mean, token.name.kernel);
  }
  const std::size_t distinct = segmentation_.reference().size();
  // An epoch that ends with an evaluation has only two launches of its own, at the two changes. But
  // chance never makes long segments agree to the launch.
  const bool alike = length >= kLongAlike && segmentation_.segments() >= kManyAlike &&
                     segmentation_.mean_similarity() >= kAlikeToTheLaunch;
  // A round of a reinforcement learner has few launches of its own as well: it plays for a while
  // and then learns in a fixed number of steps. Chance never makes so many kernels that often come
  // in constant numbers, again and again. Nor do rounds that agree to the launch need as many.
  const std::vector<KernelNumber> constant = segmentation_.constant(table_, kOnce);
  const bool rounds = length >= kLongAlike &&
                      segmentation_.segments() >= (alike ? kManyAlike : kManyRounds) &&
                      passing > 0 && constant.size() >= kConstantKernels;
  if (!rounds) {
    if (passing < std::min<std::size_t>(alike ? 2 : 3, distinct)) return std::nullopt;
    if (length >= kLongEnough && in_place < (alike ? 1 : kLeastInPlace)) return std::nullopt;
  }
  std::ranges::sort(found);
  if (rounds && found.size() < kConstantKernels) {
    found.clear();
    for (const KernelNumber kernel : constant) found.emplace_back(0, kernel);
  }
  std::vector<KernelNumber> witnesses;
  const std::size_t count = std::min(found.size(), kMostWitnesses);
  for (std::size_t i = 0; i < count; ++i) {
    witnesses.push_back(found[i * found.size() / count].second);
  }
  return witnesses;
}

std::size_t Analysis::memory_bytes() const {
  return table_.memory_bytes() + classes_.memory_bytes() + segmentation_.memory_bytes() +
         sizeof(*this);
}

}  // namespace hypermile
