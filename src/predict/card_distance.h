// SPDX-License-Identifier: Apache-2.0
//
// How far a job on an unknown card lies from what a model was trained on: by which features are
// known of it and what they are, against the jobs of the training card that it resembles most. A
// knob counts the cards alone whose jobs moved it: what was never seen to move is as far as
// anything. Of training jobs only means and spreads by card are kept, no row.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/examples.h"

namespace hypermile {

// In the order of kAllKnobs.
using KnobDistances = std::array<double, std::size(kAllKnobs)>;

struct CardProfile {
  std::string card;
  std::array<double, kFeatureCount> known = {};       // share of its jobs that have it
  std::array<double, kFeatureCount> mean = {};        // of those
  std::array<double, kFeatureCount> spread = {};      // standard deviation
  std::array<bool, std::size(kAllKnobs)> moved = {};  // by any of its jobs
};

// The part of a card's name that its variants share: "NVIDIA A100-SXM4-40GB" and "A100-PCIE-80GB"
// are "A100", "GTX 980 (low P-state)" is "980". The whole name where no word has two digits.
std::string card_family(std::string_view card);

// One for each card, in order of their names.
std::vector<CardProfile> card_profiles(std::span<const Example> examples);

// In standard deviations, 0 to 3; 3 where no card is left. The family `except` is passed over.
KnobDistances card_distances(std::span<const CardProfile> profiles, const Features& features,
                             std::string_view except = {});

inline double limit_distance(const KnobDistances& distances) {
  return distances[static_cast<std::size_t>(Knob::kPowerLimit)];
}

}  // namespace hypermile
