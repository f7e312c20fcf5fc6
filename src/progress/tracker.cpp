// SPDX-License-Identifier: Apache-2.0
#include "progress/tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr double kAsUsual = 0.2;  // an iteration's similarity may be this much below the usual
constexpr double kLearnSimilarity = 0.02;
constexpr float kLearnCounts = 0.03F;
constexpr float kForget = 0.02F;
constexpr std::size_t kLeastWitnesses = 6;
constexpr std::size_t kLeastDisorder = 4;
constexpr double kTooSoon = 0.6;    // share of all witnesses that must have come in between
constexpr double kTooShort = 0.85;  // share of the shortest iteration
constexpr double kSlowestGap = 2.5;
constexpr double kSlack = 64;  // launches

}  // namespace

Tracker::Tracker() : kernels_(KernelNumbers::kMost) {
  members_.reserve(KernelNumbers::kMost);
  events_.reserve(KernelNumbers::kMost);
}

void Tracker::start(const Reference& reference) {
  for (const KernelNumber number : members_) kernels_[number] = {};
  members_.clear();
  anchor_ = reference.anchor;
  length_ = 0;
  for (const KernelCount& each : reference.counts) {
    kernels_[each.kernel].reference = each.count;
    kernels_[each.kernel].member = true;
    members_.push_back(each.kernel);
    length_ += each.count;
  }
  witnesses_ = 0;
  in_order_ = true;
  for (const KernelNumber number : reference.witnesses) {
    // A witness is in every iteration, so it must be a member already.
    if (witnesses_ == kMostWitnesses || !kernels_[number].member) continue;
    kernels_[number].witness = static_cast<std::int16_t>(witnesses_++);
    in_order_ = in_order_ && kernels_[number].reference < 1.5F;
  }
  last_fired_.fill(0);
  witness_clock_ = kMostWitnesses;
  disorder_ = 0;
  similarity_ = reference.similarity;
  elastic_ = reference.elastic && witnesses_ > 0;
  shortest_ = reference.shortest;
  longest_ = reference.longest;
  most_bad_ = std::max({0.75 * length_, 1.25 * reference.worst_mismatch, 32.0});
  give_up_ = kSlowestGap * longest_ + kSlack;
  open_ = false;
  resumed_ = false;
  iterations_ = 0;
  segments_ = 0;
  bad_ = 0;
  segment_length_ = 0;
  excess_ = 0;
  excess_twice_ = 0;
}

void Tracker::resume(std::uint64_t launch) {
  begin_segment(/*learn=*/false);
  segment_start_ = launch;
  open_ = false;
  resumed_ = true;
  bad_ = 0;
  disorder_ = 0;
  last_fired_.fill(0);
}

Tracker::Outcome Tracker::add(std::uint64_t launch, KernelNumber previous, KernelNumber number) {
  Outcome outcome = Outcome::kNothing;
  if (is_anchor(previous, number) && !stray_anchor()) {
    close_segment(launch);
    if (bad_ > most_bad_) return Outcome::kBroken;
    outcome = Outcome::kBoundary;
  }
  if (!open_) return ++segment_length_ > give_up_ ? Outcome::kBroken : Outcome::kNothing;
  Kernel& kernel = kernels_[number];
  if (count(kernel, number)) return Outcome::kBroken;
  if (in_order_ && kernel.witness >= 0 && out_of_order(kernel.witness)) return Outcome::kBroken;
  return outcome;
}

// Counts the launch; true if the pattern is broken by it.
bool Tracker::count(Kernel& kernel, KernelNumber number) {
  if (!kernel.member) {
    kernel.member = true;
    members_.push_back(number);
  }
  ++kernel.count;
  ++segment_length_;
  const float counted = static_cast<float>(kernel.count);
  if (counted <= kernel.reference + 0.5F) return false;
  ++excess_;
  if (counted > 2 * kernel.reference + 0.5F) ++excess_twice_;
  return too_much_unexplained();
}

// True for a launch of the anchor's kernel in the middle of an iteration.
bool Tracker::stray_anchor() const {
  if (!open_) return false;
  if (elastic_) return witnesses_come() < 0.5;
  if (segment_length_ < kTooShort * shortest_) return true;
  const double explained = segment_length_ - excess_;
  return segment_length_ < 0.5 * length_ && explained < 0.5 * similarity_ * length_;
}

// The share of the witnesses that came as often as usual in this segment, most of them once.
double Tracker::witnesses_come() const {
  std::size_t come = 0;
  for (const KernelNumber number : members_) {
    const Kernel& kernel = kernels_[number];
    if (kernel.witness >= 0 && usual_count(kernel.count, kernel.reference)) ++come;
  }
  return static_cast<double>(come) / static_cast<double>(witnesses_);
}

bool Tracker::too_much_unexplained() const {
  if (segment_length_ > give_up_) return true;
  if (elastic_) return false;
  const double unexplained = bad_ + excess_ - (1.2 - similarity_) * length_;
  if (unexplained <= most_bad_) return false;
  // A missed anchor doubles every count, so only launches beyond twice the reference and beyond the
  // usual variation mean something else.
  const double beyond_twice = (0.2 + 1.5 * (1 - similarity_)) * length_;
  return bad_ > 0 || excess_twice_ > beyond_twice || segment_length_ > 2.3 * length_;
}

// Between two launches of one witness, most other witnesses must have come.
bool Tracker::out_of_order(std::int16_t witness) {
  std::uint64_t& last = last_fired_[static_cast<std::size_t>(witness)];
  ++witness_clock_;
  const bool soon = last > 0 && static_cast<double>(witness_clock_ - last) <
                                    kTooSoon * static_cast<double>(witnesses_);
  last = witness_clock_;
  if (witnesses_ < kLeastWitnesses) return false;
  if (!soon) {
    if (disorder_ > 0) --disorder_;
    return false;
  }
  return ++disorder_ >= std::max(kLeastDisorder, witnesses_ / 4);
}

void Tracker::close_segment(std::uint64_t launch) {
  iterations_ = 0;
  bool learn = false;
  if (!open_) {
    events_.clear();
    open_ = true;
    first_boundary_ = launch;
  } else {
    iterations_ = 1;
    double alike = hypermile::similarity(compare(1), segment_length_, length_);
    if (elastic_) {
      alike = witnesses_come();
    } else if (alike < similarity_ - kAsUsual && segment_length_ > 1.6 * length_) {
      alike = try_several(alike);
    }
    const bool unusual = alike < similarity_ - kAsUsual;
    if (unusual && (segments_ == 0 || std::exchange(resumed_, false))) {
      // Tracking has not begun: whatever lies before the first usual iteration is something else,
      // or began in the middle of an iteration.
      iterations_ = 0;
      first_boundary_ = launch;
    } else {
      resumed_ = false;
      learn = judge(alike);
      gaps_[segments_ % kGaps] = iterations_ == 1 ? segment_length_ : segment_length_ / iterations_;
      ++segments_;
    }
  }
  begin_segment(learn);
  segment_start_ = launch;
}

// Checks whether the segment is two or three iterations whose anchors were missed; sets
// iterations_.
double Tracker::try_several(double alike) {
  const auto times = static_cast<unsigned>(std::lround(segment_length_ / length_));
  if (times < 2 || times > 3) return alike;
  const double several = hypermile::similarity(compare(times), segment_length_, times * length_);
  if (several < similarity_ - kAsUsual) {
    compare(1);
    return alike;
  }
  iterations_ = times;
  return several;
}

// Returns the launches that `times` references explain, and records unusual counts.
double Tracker::compare(unsigned times) {
  events_.clear();
  double matched = 0;
  for (const KernelNumber number : members_) {
    const Kernel& kernel = kernels_[number];
    const float reference = static_cast<float>(times) * kernel.reference;
    const float count = static_cast<float>(kernel.count);
    matched += std::min(count, reference);
    const float off = count - reference;
    if (off <= 0.5F && off > -0.5F) continue;
    // How often the kernels of time steps come tells nothing.
    if (elastic_ && kernel.reference >= 1.5F) continue;
    const auto by = static_cast<std::uint32_t>(std::lround(std::abs(off)));
    events_.push_back({number, off > 0, by});
  }
  return matched;
}

// True if the segment is usual and should be learnt from.
bool Tracker::judge(double alike) {
  if (alike < similarity_ - kAsUsual) {
    if (bad_ == 0) first_bad_ = segment_start_;
    bad_ += (1 - alike) * std::max(static_cast<double>(segment_length_), length_);
    return false;
  }
  bad_ = 0;
  similarity_ += kLearnSimilarity * (alike - similarity_);
  const double length = segment_length_;
  shortest_ = std::min(1.002 * shortest_, iterations_ == 1 ? length : length / iterations_);
  longest_ = std::max(0.999 * longest_, length);
  give_up_ = kSlowestGap * longest_ + kSlack;
  return iterations_ == 1;
}

// Clears the counts, after learning from them if `learn`, and forgets kernels that are no longer
// used.
void Tracker::begin_segment(bool learn) {
  const float rate = learn ? kLearnCounts : 0;
  std::size_t kept = 0;
  double length = 0;
  for (const KernelNumber number : members_) {
    Kernel& kernel = kernels_[number];
    kernel.reference += rate * (static_cast<float>(kernel.count) - kernel.reference);
    kernel.count = 0;
    if (kernel.reference < kForget && kernel.witness < 0) {
      kernel = {};
    } else {
      length += kernel.reference;
      members_[kept++] = number;
    }
  }
  members_.resize(kept);
  length_ = length;
  segment_length_ = 0;
  excess_ = 0;
  excess_twice_ = 0;
}

double Tracker::mean_gap() const {
  double sum = 0;
  for (std::size_t i = 0; i < gaps(); ++i) sum += gaps_[i];
  return gaps() > 0 ? sum / static_cast<double>(gaps()) : length_;
}

double Tracker::gap_cv() const {
  if (gaps() < 2) return 0;
  double squares = 0;
  for (std::size_t i = 0; i < gaps(); ++i) squares += static_cast<double>(gaps_[i]) * gaps_[i];
  const double mean = mean_gap();
  return std::sqrt(std::max(0.0, squares / static_cast<double>(gaps()) - mean * mean)) / mean;
}

std::size_t Tracker::distinct() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      members_, [&](KernelNumber number) { return kernels_[number].reference >= 0.5F; }));
}

Reference Tracker::learnt(const Reference& from) const {
  Reference reference = from;
  reference.counts.clear();
  for (const KernelNumber number : members_) {
    const float count = kernels_[number].reference;
    if (count >= kForget) reference.counts.push_back({number, count});
  }
  reference.similarity = similarity_;
  reference.shortest = shortest_;
  reference.longest = longest_;
  return reference;
}

std::size_t Tracker::memory_bytes() const {
  return sizeof(*this) + kernels_.capacity() * sizeof(Kernel) +
         members_.capacity() * sizeof(KernelNumber) + events_.capacity() * sizeof(CountEvent);
}

}  // namespace hypermile
