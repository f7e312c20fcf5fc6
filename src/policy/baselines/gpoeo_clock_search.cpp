// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/gpoeo_clock_search.h"

#include <algorithm>
#include <cmath>

#include "policy/baselines/golden_section.h"
#include "policy/baselines/polynomial_fit.h"

namespace hypermile {
namespace {

constexpr double kGear = 15.0 / 1995.0;  // of the default's value
constexpr std::int64_t kRadius = 12;
constexpr std::int64_t kRadiusLowerMemory = 18;
constexpr double kPlainlyFast = 0.8;  // of the limit: search downwards only
constexpr double kPlainlySlow = 1.2;  // of the limit: search upwards only
constexpr double kRecentre = 0.85;    // reward, relative to the centre's
constexpr double kGoodEnough = 0.75;  // reward, relative to the default's
constexpr std::int64_t kNarrow = 6;   // gears; "less than 7"
constexpr int kGoldenProbes = 6;

}  // namespace

bool GpoeoRule::better(const Measured& a, const Measured& b) const {
  if (feasible(a) != feasible(b)) return feasible(a);
  return feasible(a) ? reward(a) < reward(b) : slowdown(a) < slowdown(b);
}

GpoeoClockSearch::GpoeoClockSearch(const Ladder& ladder, const GpoeoRule& rule, Probed& probed,
                                   bool lower_memory)
    : ladder_(ladder),
      rule_(rule),
      probed_(probed),
      radius_(lower_memory ? kRadiusLowerMemory : kRadius) {}

std::int64_t GpoeoClockSearch::gear_of(std::size_t rung) const {
  return std::lround(ladder_[rung].height / kGear);
}

std::size_t GpoeoClockSearch::rung_of(std::int64_t gear) const {
  return nearest_rung(ladder_, static_cast<double>(gear) * kGear);
}

std::int64_t GpoeoClockSearch::above(std::int64_t gear) const {
  const std::size_t here = rung_of(gear);
  if (here == 0) return gear_of(0);
  return gear_of(std::min(rung_of(gear + radius_), here - 1));
}

std::int64_t GpoeoClockSearch::below(std::int64_t gear) const {
  const std::size_t here = rung_of(gear);
  const std::size_t last = ladder_.size() - 1;
  if (here == last) return gear_of(last);
  return gear_of(std::max(rung_of(gear - radius_), here + 1));
}

std::optional<Measured> GpoeoClockSearch::probe(std::int64_t gear) {
  const std::size_t rung = rung_of(gear);
  const auto m = probed_.at(ladder_[rung].setting, "gear near the predicted one");
  if (m && std::ranges::find(points_, rung, &Point::rung) == points_.end()) {
    points_.push_back({rung, *m});
  }
  return m;
}

bool GpoeoClockSearch::run(double height) {
  std::int64_t centre = gear_of(nearest_rung(ladder_, height));
  const auto first = probe(centre);
  if (!first) return false;
  const double used = rule_.limit() ? rule_.slowdown(*first) / *rule_.limit() : 1;
  std::int64_t low = centre;
  std::int64_t high = centre;
  if (used >= kPlainlyFast && !search_up(centre, low, high)) return false;
  // Once re-centred upwards, the old centre is the lower end.
  if (used <= kPlainlySlow && low == centre && !search_down(centre, low, high)) return false;
  const GoldenInterval bracket{low, high, kNarrow, kGoldenProbes};
  return golden_section(
      bracket, [&](std::int64_t gear) { return probe(gear); },
      [&](const Measured& a, const Measured& b) { return rule_.better(a, b); });
}

bool GpoeoClockSearch::search_up(std::int64_t& centre, std::int64_t& low, std::int64_t& high) {
  const auto middle = probe(centre);
  const std::int64_t top = gear_of(0);
  while (high < top) {
    const std::int64_t next = above(high);
    if (next <= high) break;  // rungs closer than one gear
    high = next;
    const auto m = probe(high);
    if (!middle || !m) return false;
    const bool go_on = rule_.better(*m, *middle) && high < top;
    if (go_on) continue;
    if (rule_.reward(*m) < kRecentre * rule_.reward(*middle)) {
      low = centre;
      centre = high;
    }
    break;
  }
  return true;
}

bool GpoeoClockSearch::search_down(std::int64_t& centre, std::int64_t& low, std::int64_t& high) {
  const auto middle = probe(centre);
  const std::int64_t bottom = gear_of(ladder_.size() - 1);
  while (low > bottom) {
    const std::int64_t next = below(low);
    if (next >= low) break;  // rungs closer than one gear
    low = next;
    const auto m = probe(low);
    if (!middle || !m) return false;
    const bool go_on = rule_.better(*m, *middle) && rule_.feasible(*m) && low > bottom &&
                       rule_.reward(*m) >= kGoodEnough;
    if (go_on) continue;
    if (rule_.reward(*m) < kRecentre * rule_.reward(*middle)) {
      high = centre;
      centre = low;
    }
    break;
  }
  return true;
}

std::size_t GpoeoClockSearch::choose(GpoeoFit fit) const {
  std::vector<double> heights;
  std::vector<double> times;
  std::vector<double> energies;
  for (const Point& point : points_) {
    heights.push_back(ladder_[point.rung].height);
    times.push_back(point.measured.time.value());
    energies.push_back((point.measured.time * point.measured.power).value());
  }
  const auto kind = fit == GpoeoFit::kLowerDegree ? PolynomialFit::Degree::kWhatPointsDetermine
                                                  : PolynomialFit::Degree::kAsAsked;
  const PolynomialFit time(heights, times, 3, kind);
  const PolynomialFit energy(heights, energies, 3, kind);
  const auto [highest, lowest] = std::ranges::minmax(points_, {}, &Point::rung);
  std::size_t best = points_.front().rung;
  Measured best_fitted = points_.front().measured;
  for (std::size_t rung = highest.rung; rung <= lowest.rung; ++rung) {
    const Seconds t(time(ladder_[rung].height));
    const Joules e(energy(ladder_[rung].height));
    if (!(t > Seconds(0)) || !(e > Joules(0))) continue;
    const Measured fitted{t, e / t};
    if (rung == best || rule_.better(fitted, best_fitted)) {
      best = rung;
      best_fitted = fitted;
    }
  }
  return ladder_[best].setting;
}

}  // namespace hypermile
