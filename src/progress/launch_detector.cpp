// SPDX-License-Identifier: Apache-2.0
#include "progress/launch_detector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "progress/detector_core.h"

namespace hypermile {
namespace {

constexpr double kTentativeConfidence = 0.3;
// An evaluation launches many kinds of kernels of the training again, each as often as an iteration
// does, or, where it comes seldom, equally many times as often: once for each of its batches.
constexpr std::size_t kForwardKinds = 5;
constexpr double kAsOften = 0.9;
constexpr double kMostlyAgain = 0.8;  // of the launches that come on top
constexpr long kBatches = 2;
// An optimizer launches more, or comes more often.
constexpr double kHandful = 4;         // launches
constexpr std::uint32_t kSeldom = 10;  // iterations

}  // namespace

double LaunchDetector::Core::confidence() const {
  if (held_) return held_->left.confidence;
  if (state_ == DetectorState::kSearch) return 0;
  return reference_.quality * (state_ == DetectorState::kLocked ? 1 : kTentativeConfidence);
}

Anchor LaunchDetector::Core::anchor_of(const Reference& reference) const {
  Anchor anchor{numbers_.kernel(reference.anchor.kernel), std::nullopt};
  if (reference.anchor.pair) anchor.previous = numbers_.kernel(reference.anchor.previous);
  return anchor;
}

// Whether what these kernels launch on top of an iteration is an evaluation. An optimizer has
// kernels of its own; where it has none, it launches few kinds.
bool LaunchDetector::Core::repeats_forward_pass(const Reference& reference,
                                                std::span<const KernelNumber> kernels,
                                                bool seldom) const {
  std::map<KernelNumber, double> usual;
  for (const KernelCount& one : reference.counts) usual[one.kernel] = one.count;
  double all = 0;
  double again = 0;
  std::size_t kinds = 0;
  std::map<long, std::size_t> kinds_by_batches;
  for (const KernelNumber kernel : kernels) {
    const double more = outer_.more_of(kernel);
    all += more;
    const auto found = usual.find(kernel);
    if (found == usual.end() || more < kAsOften * found->second) continue;
    again += more;
    ++kinds;
    const long batches = std::lround(more / found->second);
    if (batches >= kBatches) ++kinds_by_batches[batches];
  }
  if (kinds >= kForwardKinds && again >= kMostlyAgain * all) return true;
  return seldom && std::ranges::any_of(kinds_by_batches, [](const auto& each) {
           return each.second >= kForwardKinds;
         });
}

Pattern LaunchDetector::Core::make_pattern(std::uint32_t phase, const Reference& reference) const {
  Pattern pattern{.phase = phase,
                  .anchor = anchor_of(reference),
                  .launches_per_iteration = tracker_.mean_gap(),
                  .similarity = tracker_.similarity(),
                  .confidence = confidence(),
                  .elastic = reference.elastic,
                  .stage = false,
                  .outer = {}};
  if (state_ != DetectorState::kLocked) return pattern;
  std::uint32_t level = 0;
  for (const OuterLevels::Level& each : outer_.levels()) {
    OuterLevel outer{++level, each.inner, {numbers_.kernel(each.kernel)}};
    const std::vector<KernelNumber> kernels = outer_.kernels_of(each);
    for (const KernelNumber number : kernels) {
      if (number != each.kernel) outer.kernels.push_back(numbers_.kernel(number));
    }
    const bool seldom = each.inner >= kSeldom;
    outer.evaluation = repeats_forward_pass(reference, kernels, seldom);
    double more = 0;
    for (const KernelNumber number : kernels) more += outer_.more_of(number);
    outer.logging = seldom && more <= kHandful;
    pattern.outer.push_back(std::move(outer));
  }
  return pattern;
}

std::optional<Pattern> LaunchDetector::Core::pattern() const {
  if (held_) return held_->left;
  if (state_ == DetectorState::kSearch) return std::nullopt;
  return make_pattern(phase_, reference_);
}

std::vector<Pattern> LaunchDetector::Core::phases() const {
  std::vector<Pattern> patterns;
  for (const PhaseLibrary::Phase& phase : library_.phases()) {
    if (state_ == DetectorState::kLocked && phase.number == phase_) {
      patterns.push_back(make_pattern(phase_, reference_));
      continue;
    }
    patterns.push_back({.phase = phase.number,
                        .anchor = anchor_of(phase.reference),
                        .launches_per_iteration = phase.reference.length(),
                        .similarity = phase.reference.similarity,
                        .confidence = phase.reference.quality,
                        .elastic = phase.reference.elastic,
                        .stage = phase.is_stage(),
                        .outer = {}});
  }
  return patterns;
}

std::vector<KernelShare> LaunchDetector::Core::kernel_mix(std::uint32_t phase) const {
  const bool here = state_ == DetectorState::kLocked && phase == phase_;
  const PhaseLibrary::Phase* known = library_.find(phase);
  std::vector<KernelShare> mix;
  if (!here && known == nullptr) return mix;
  for (const KernelCount& each : here ? reference_.counts : known->reference.counts) {
    mix.push_back({numbers_.kernel(each.kernel), static_cast<double>(each.count)});
  }
  return mix;
}

std::size_t LaunchDetector::Core::memory_bytes() const {
  return sizeof(*this) + numbers_.memory_bytes() + ring_.memory_bytes() + analysis_.memory_bytes() +
         tracker_.memory_bytes() + trial_.memory_bytes() + outer_.memory_bytes() +
         library_.memory_bytes() + reference_.counts.capacity() * sizeof(KernelCount);
}

LaunchDetector::LaunchDetector(DetectorSink& sink) : core_(std::make_unique<Core>(sink)) {}
LaunchDetector::~LaunchDetector() = default;
LaunchDetector::LaunchDetector(LaunchDetector&&) noexcept = default;
LaunchDetector& LaunchDetector::operator=(LaunchDetector&&) noexcept = default;

void LaunchDetector::add(const Launch& launch) {
  core_->add(launch);
}
void LaunchDetector::missed(Instant watched_since) {
  core_->missed(watched_since);
}
void LaunchDetector::analyse_if_due() {
  core_->analyse_if_due();
}
void LaunchDetector::add_all(std::span<const Launch> launches) {
  for (const Launch& launch : launches) {
    core_->add(launch);
    core_->analyse_if_due();
  }
}
void LaunchDetector::check_idle(Instant now, Instant arrived) {
  core_->check_idle(now, arrived);
}
DetectorState LaunchDetector::state() const {
  return core_->state();
}
double LaunchDetector::confidence() const {
  return core_->confidence();
}
std::optional<Pattern> LaunchDetector::pattern() const {
  return core_->pattern();
}
std::vector<Pattern> LaunchDetector::phases() const {
  return core_->phases();
}
std::vector<KernelShare> LaunchDetector::kernel_mix(std::uint32_t phase) const {
  return core_->kernel_mix(phase);
}
std::uint64_t LaunchDetector::launches() const {
  return core_->launches();
}
std::size_t LaunchDetector::memory_bytes() const {
  return core_->memory_bytes();
}

}  // namespace hypermile
