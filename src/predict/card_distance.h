// SPDX-License-Identifier: Apache-2.0
//
// How far a job on an unknown card lies from what a model was trained on: by which features are
// known of it and what they are, against the jobs of the training card that it resembles most. Of
// training jobs only means and spreads by card are kept, no row.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "predict/examples.h"

namespace hypermile {

struct CardProfile {
  std::string card;
  std::array<double, kFeatureCount> known = {};   // share of the card's jobs that have it
  std::array<double, kFeatureCount> mean = {};    // of those
  std::array<double, kFeatureCount> spread = {};  // standard deviation
};

// One for each card, in order of their names.
std::vector<CardProfile> card_profiles(std::span<const Example> examples);

// In standard deviations, 0 to 3; 0 without profiles. The card `except` is passed over.
double card_distance(std::span<const CardProfile> profiles, const Features& features,
                     std::string_view except = {});

// How many times its doubt a bound lies away at a distance.
struct DistanceScale {
  double base = 1;
  double slope = 0;

  double at(double distance) const { return base + slope * distance; }
};

}  // namespace hypermile
