// SPDX-License-Identifier: Apache-2.0
#include "progress/confirmation.h"

#include <algorithm>
#include <array>

namespace hypermile {
namespace {

struct Tier {
  double quality;
  std::uint64_t segments;
  double seconds;
  unsigned agreeing;
};
// The first tier is for small data sets, which train for less than half a second between two
// evaluations: many similar repetitions make up for the short time.
constexpr std::array<Tier, 5> kTiers = {{{0.95, 40, 0.15, 2},
                                         {0.95, 6, 0.5, 1},
                                         {0.88, 8, 0.5, 1},
                                         {0.75, 24, 1.0, 2},
                                         {0.7, 48, 2.0, 4}}};

constexpr double kAlike = 0.8;  // quality
constexpr double kExplainedShare = 0.5;
constexpr std::uint64_t kExplainedEnough = 32768;
constexpr Seconds kLastingLong(1.5);
constexpr Seconds kLastingEnough(8);
// Iterations of so few launches (graphs) never make up half of a start-up's thousands. For those it
// is enough that nothing else is launched for half a second, or for a second where they are long.
constexpr double kGraphLaunches = 8;
constexpr double kPure = 0.95;  // quality
constexpr std::uint64_t kManySegments = 40;
constexpr Seconds kPureLasting(0.5);
constexpr std::uint64_t kFewSegments = 16;
constexpr Seconds kPureLong(1);

// Few launches at a slow, even pace look like the equal layers of one long forward pass. Networks
// have up to 126 layers, so only more repetitions than that rule layers out. A whole iteration of
// so few launches (a graph, a small network that waits for data) spends its time in one or two
// waits.
constexpr double kLayerLaunches = 150;
constexpr std::size_t kLayerDistinct = 4;
constexpr Seconds kLayerPace = milliseconds(0.1);  // time per launch
constexpr double kLayerWaits = 0.8;
constexpr std::uint64_t kMoreThanLayers = 130;

bool may_be_layers(const Evidence& evidence) {
  if (evidence.launches > kLayerLaunches || evidence.distinct < kLayerDistinct) return false;
  if (evidence.waits >= kLayerWaits) return false;
  return evidence.lasting > kLayerPace * static_cast<double>(evidence.explained);
}

// Half of the launches since the search began, or half of the time: a job of few launches may
// follow a start-up of many.
bool explains_enough(const Evidence& evidence) {
  if (evidence.explained >= kExplainedEnough || evidence.lasting >= kLastingEnough) return true;
  const double share = kExplainedShare * static_cast<double>(evidence.searched);
  if (static_cast<double>(evidence.explained) >= share) return true;
  if (evidence.launches <= kGraphLaunches && evidence.quality >= kPure) {
    const bool many = evidence.segments >= kManySegments && evidence.lasting >= kPureLasting;
    if (many || (evidence.segments >= kFewSegments && evidence.lasting >= kPureLong)) return true;
  }
  return evidence.lasting >= kLastingLong &&
         evidence.lasting >= kExplainedShare * evidence.searching;
}

// The fewer gaps there are, and the less alike the iterations, the more even the gaps must be.
bool even_enough(const Evidence& evidence) {
  if ((evidence.elastic || evidence.interrupted) && evidence.gaps >= 16) return true;
  const double most = evidence.gaps < 16 ? 0.1 : evidence.quality < kAlike ? 0.35 : 0.6;
  return evidence.gap_cv <= most;
}

Verdict judge_by(const Tier& tier, const Evidence& evidence) {
  if (evidence.quality < tier.quality || evidence.segments < tier.segments) return Verdict::kNotYet;
  if (evidence.lasting < Seconds(tier.seconds)) return Verdict::kNotYet;
  return evidence.agreeing < tier.agreeing ? Verdict::kAnalyse : Verdict::kBelieved;
}

}  // namespace

Verdict judge(const Evidence& evidence) {
  if (may_be_layers(evidence) && evidence.segments < kMoreThanLayers) return Verdict::kNotYet;
  if (!explains_enough(evidence)) return Verdict::kNotYet;
  if (!even_enough(evidence)) return Verdict::kNotYet;
  Verdict best = Verdict::kNotYet;
  for (const Tier& tier : kTiers) best = std::max(best, judge_by(tier, evidence));
  return best;
}

}  // namespace hypermile
