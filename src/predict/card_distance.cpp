// SPDX-License-Identifier: Apache-2.0
#include "predict/card_distance.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hypermile {
namespace {

// Jobs of one card may all be alike; another one that is a little different is not yet far away.
constexpr double kLeastSpread = 0.05;
constexpr double kFarthest = 3;
// A feature that is known of the job but not of the card's jobs, or the other way round.
constexpr double kUnlike = 2;
constexpr double kUsual = 0.5;

CardProfile profile_of(const std::string& card, const std::vector<const Example*>& jobs) {
  CardProfile profile;
  profile.card = card;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (const Example* job : jobs) {
      const auto value = job->features.get(static_cast<Feature>(i));
      if (!value) continue;
      n += 1;
      sum += *value;
      squares += *value * *value;
    }
    if (n == 0) continue;
    profile.known[i] = n / static_cast<double>(jobs.size());
    profile.mean[i] = sum / n;
    profile.spread[i] = std::sqrt(std::max(0.0, squares / n - profile.mean[i] * profile.mean[i]));
  }
  return profile;
}

double distance(const CardProfile& profile, const Features& features) {
  double sum = 0;
  double n = 0;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto value = features.get(static_cast<Feature>(i));
    const bool usual = profile.known[i] >= kUsual;
    if (!value && !usual) continue;
    double away = kUnlike;
    if (value && profile.known[i] > 0) {
      away = std::min(kFarthest, std::abs(*value - profile.mean[i]) /
                                     std::max(kLeastSpread, profile.spread[i]));
    }
    sum += away * away;
    n += 1;
  }
  return n > 0 ? std::sqrt(sum / n) : 0;
}

}  // namespace

std::vector<CardProfile> card_profiles(std::span<const Example> examples) {
  std::map<std::string, std::vector<const Example*>> jobs;
  for (const Example& example : examples) jobs[example.key.gpu].push_back(&example);
  std::vector<CardProfile> profiles;
  for (const auto& [card, own] : jobs) profiles.push_back(profile_of(card, own));
  return profiles;
}

double card_distance(std::span<const CardProfile> profiles, const Features& features,
                     std::string_view except) {
  std::optional<double> nearest;
  for (const CardProfile& profile : profiles) {
    if (profile.card == except) continue;
    const double here = distance(profile, features);
    nearest = std::min(nearest.value_or(here), here);
  }
  return nearest.value_or(0);
}

}  // namespace hypermile
