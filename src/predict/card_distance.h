// SPDX-License-Identifier: Apache-2.0
//
// How far a job on an unknown card lies from the training data: its features are compared with
// those of each training card, and the nearest card counts. For a knob, only cards whose jobs moved
// that knob count; a knob that no job moved gets the largest distance. Model files keep means and
// spreads by card, and no measured rows. Called by training and by ModelPredictor.
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
  std::array<double, kFeatureCount> known = {};       // share of the card's jobs with the feature
  std::array<double, kFeatureCount> mean = {};        // over the jobs that have the feature
  std::array<double, kFeatureCount> spread = {};      // their standard deviation
  std::array<bool, std::size(kAllKnobs)> moved = {};  // whether any job moved the knob
};

// The part of a card's name that its variants share: the first word with two digits or more, else
// the whole name. "NVIDIA A100-SXM4-40GB" and "A100-PCIE-80GB" give "A100", "GTX 980 (low P-state)"
// gives "980".
std::string card_family(std::string_view card);

// One profile for each card, in order of the cards' names.
std::vector<CardProfile> card_profiles(std::span<const Example> examples);

// By knob, in standard deviations from 0 to 3; 3 where no card has moved the knob. Cards of the
// family `except` are skipped.
KnobDistances card_distances(std::span<const CardProfile> profiles, const Features& features,
                             std::string_view except = {});

// How far a model of the training cards is believed about a job at this distance: wholly where the
// job is like theirs, not at all from the distance on of a job that shares no feature with them.
double nearness(double distance);

inline double limit_distance(const KnobDistances& distances) {
  return distances[static_cast<std::size_t>(Knob::kPowerLimit)];
}

}  // namespace hypermile
