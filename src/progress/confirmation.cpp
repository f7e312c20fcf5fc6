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
constexpr std::array<Tier, 3> kTiers = {{{0.88, 8, 0.5, 1}, {0.75, 24, 1.0, 2}, {0, 48, 2.0, 4}}};

constexpr double kExplainedShare = 0.5;
constexpr std::uint64_t kExplainedEnough = 32768;

// Few launches at a slow pace look like the equal layers of one long forward pass. Networks have up
// to 126 of them; only more repetitions than that are certainly no layers. A whole iteration
// captured as one to three graphs is none of this.
constexpr double kLayerLaunches = 150;
constexpr std::size_t kLayerDistinct = 4;
constexpr Seconds kLayerPace = milliseconds(0.1);  // per launch
constexpr std::uint64_t kMoreThanLayers = 130;

bool may_be_layers(const Evidence& evidence) {
  if (evidence.launches > kLayerLaunches || evidence.distinct < kLayerDistinct) return false;
  return evidence.lasting > kLayerPace * static_cast<double>(evidence.explained);
}

bool even_enough(const Evidence& evidence) {
  return evidence.gap_cv <= (evidence.gaps < 16 ? 0.35 : 0.6);
}

}  // namespace

Verdict judge(const Evidence& evidence) {
  const auto tier = std::ranges::find_if(
      kTiers, [&](const Tier& each) { return evidence.quality >= each.quality; });
  if (tier == kTiers.end() || evidence.segments < tier->segments) return Verdict::kNotYet;
  if (evidence.lasting < Seconds(tier->seconds)) return Verdict::kNotYet;
  if (may_be_layers(evidence) && evidence.segments < kMoreThanLayers) return Verdict::kNotYet;
  const double share = kExplainedShare * static_cast<double>(evidence.searched);
  if (static_cast<double>(evidence.explained) < share && evidence.explained < kExplainedEnough) {
    return Verdict::kNotYet;
  }
  if (!even_enough(evidence)) return Verdict::kNotYet;
  return evidence.agreeing < tier->agreeing ? Verdict::kAnalyse : Verdict::kBelieved;
}

}  // namespace hypermile
