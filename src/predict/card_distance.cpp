// SPDX-License-Identifier: Apache-2.0
#include "predict/card_distance.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace hypermile {
namespace {

// A floor for the standard deviation: where all jobs of a card are alike, a job that differs a
// little is not yet far away.
constexpr double kLeastSpread = 0.05;
constexpr double kFarthest = 3;
// The distance, in standard deviations, of a feature that only the job or only the card's jobs
// have.
constexpr double kUnlike = 2;
constexpr double kUsual = 0.5;

bool moves(std::size_t knob, const RelativeSetting& at) {
  switch (kAllKnobs[knob]) {
    case Knob::kSmClock:
      return at.sm != 1;
    case Knob::kMemoryClock:
      return at.memory != 1;
    case Knob::kPowerLimit:
      return at.limit.has_value();
  }
  return false;
}

CardProfile profile_of(const std::string& card, const std::vector<const Example*>& jobs) {
  CardProfile profile;
  profile.card = card;
  for (std::size_t knob = 0; knob < profile.moved.size(); ++knob) {
    for (const Example* job : jobs) {
      profile.moved[knob] |= std::ranges::any_of(
          job->points, [&](const MeasuredRatio& point) { return moves(knob, point.at); });
    }
  }
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

std::string card_family(std::string_view card) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t from = 0; from < card.size();) {
    std::size_t to = from;
    while (to < card.size() && is_word(card[to])) ++to;
    const std::string_view word = card.substr(from, to - from);
    const auto digits = std::ranges::count_if(
        word, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
    if (digits >= 2) return std::string(word);
    from = to + 1;
  }
  return std::string(card);
}

std::vector<CardProfile> card_profiles(std::span<const Example> examples) {
  std::map<std::string, std::vector<const Example*>> jobs;
  for (const Example& example : examples) jobs[example.key.gpu].push_back(&example);
  std::vector<CardProfile> profiles;
  for (const auto& [card, own] : jobs) profiles.push_back(profile_of(card, own));
  return profiles;
}

double nearness(double distance) {
  return std::max(0.0, 1 - distance / kUnlike);
}

KnobDistances card_distances(std::span<const CardProfile> profiles, const Features& features,
                             std::string_view except) {
  KnobDistances nearest;
  nearest.fill(kFarthest);
  for (const CardProfile& profile : profiles) {
    if (!except.empty() && card_family(profile.card) == except) continue;
    const double here = distance(profile, features);
    for (std::size_t knob = 0; knob < nearest.size(); ++knob) {
      if (profile.moved[knob]) nearest[knob] = std::min(nearest[knob], here);
    }
  }
  return nearest;
}

}  // namespace hypermile
