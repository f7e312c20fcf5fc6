// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/segment_similarity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "progress/spectrum/moments.h"

namespace hypermile {
namespace {

constexpr double kQuantiles[] = {0.2, 0.4, 0.6, 0.8};
constexpr double kHeld = 0.33;        // share of samples in the chosen interval
constexpr double kResolution = 0.03;  // of the range: how precisely the interval is found
constexpr double kMergedMean = 0.03;  // neighbours merge if their means differ by less than this …
constexpr double kGapMean = 0.04;     // … and the gap between them differs by less than this
constexpr double kSmallPiece = 0.04;    // of a segment; both limits double for smaller pieces
constexpr double kLargestGroup = 0.85;  // of a segment
constexpr double kMuchLonger = 1.7;

struct Interval {
  double low = 0;
  double high = 0;
};

// The narrowest symmetric interval around one of the quantiles that holds a third of the samples.
Interval densest_interval(std::span<const double> segment) {
  std::vector<double> sorted(segment.begin(), segment.end());
  std::ranges::sort(sorted);
  const double range = sorted.back() - sorted.front();
  const auto held = [&](double centre, double half) {
    const auto from = std::ranges::lower_bound(sorted, centre - half);
    const auto to = std::ranges::upper_bound(sorted, centre + half);
    return static_cast<double>(to - from) / static_cast<double>(sorted.size());
  };
  Interval best{sorted.front(), sorted.back()};
  double narrowest = range;
  for (const double quantile : kQuantiles) {
    const double centre =
        sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))];
    double low = 0;
    double high = range;
    while (high - low > kResolution * range && high > 0) {
      const double middle = (low + high) / 2;
      (held(centre, middle) >= kHeld ? high : low) = middle;
    }
    if (high < narrowest) {
      narrowest = high;
      best = {centre - high, centre + high};
    }
  }
  return best;
}

struct Group {
  std::size_t from = 0;
  std::size_t to = 0;  // one past its end
  std::size_t size() const { return to - from; }
};

std::vector<Group> runs_inside(std::span<const double> segment, const Interval& interval) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] < interval.low || segment[i] > interval.high) continue;
    if (!groups.empty() && groups.back().to == i) {
      ++groups.back().to;
    } else {
      groups.push_back({i, i + 1});
    }
  }
  return groups;
}

// Whether two neighbouring groups and the samples between them look alike.
bool one_kind(std::span<const double> segment, const Group& a, const Group& b, double deviation) {
  const auto part = [&](std::size_t from, std::size_t to) {
    return segment.subspan(from, to - from);
  };
  const double reference = mean_of(part(a.from, a.to));
  if (!(std::abs(reference) > 0)) return false;
  const auto whole = part(a.from, b.to);
  const auto gap = part(a.to, b.from);
  const auto limit = [&](double usual, std::size_t piece) {
    const bool small =
        static_cast<double>(piece) <= kSmallPiece * static_cast<double>(segment.size());
    return small ? 2 * usual : usual;
  };
  const double merged_off = std::abs(mean_of(whole) / reference - 1);
  const double gap_off = gap.empty() ? 0 : std::abs(mean_of(gap) / reference - 1);
  return deviation_of(whole) < deviation && merged_off < limit(kMergedMean, b.size()) &&
         gap_off < limit(kGapMean, gap.size());
}

// Contiguous groups of similar samples; the pair that spans the longest range is merged first.
std::vector<Group> cluster(std::span<const double> segment) {
  std::vector<Group> groups = runs_inside(segment, densest_interval(segment));
  const double deviation = deviation_of(segment);
  const double most = kLargestGroup * static_cast<double>(segment.size());
  for (;;) {
    std::size_t best = 0;
    std::size_t reach = 0;
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
      const std::size_t length = groups[i + 1].to - groups[i].from;
      if (length <= reach || static_cast<double>(length) > most) continue;
      if (!one_kind(segment, groups[i], groups[i + 1], deviation)) continue;
      best = i;
      reach = length;
    }
    if (reach == 0) return groups;
    groups[best].to = groups[best + 1].to;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

double pair_error(std::span<const double> first, std::span<const double> second) {
  const auto& leading = deviation_of(first) >= deviation_of(second) ? first : second;
  const std::vector<Group> groups = cluster(leading);
  const double mean_first = mean_of(first);
  const double mean_second = mean_of(second);
  const double scale = std::abs((mean_first + mean_second) / 2);
  if (groups.empty() || !(scale > 0)) return 100;
  double sum = 0;
  double weight = 0;
  for (const Group& group : groups) {
    const double one = mean_of(first.subspan(group.from, group.size())) - mean_first;
    const double other = mean_of(second.subspan(group.from, group.size())) - mean_second;
    const auto length = static_cast<double>(group.size());
    sum += length * std::abs(one - other) / scale * 100;
    weight += length;
  }
  return sum / weight;
}

}  // namespace

std::optional<double> dissimilarity(std::span<const double> series, double period, double longest) {
  const auto length = static_cast<std::size_t>(std::floor(period));
  if (length < 2 || series.size() < 2 * length) return std::nullopt;
  std::vector<double> errors;
  for (std::size_t at = 0; at + 2 * length <= series.size(); at += length) {
    errors.push_back(pair_error(series.subspan(at, length), series.subspan(at + length, length)));
  }
  if (longest / period >= kMuchLonger) {
    const auto block = static_cast<std::size_t>(std::ceil(longest / period));
    std::vector<double> worst;
    for (std::size_t at = 0; at < errors.size(); at += block) {
      const auto end =
          errors.begin() + static_cast<std::ptrdiff_t>(std::min(at + block, errors.size()));
      worst.push_back(*std::max_element(errors.begin() + static_cast<std::ptrdiff_t>(at), end));
    }
    errors = std::move(worst);
  }
  return mean_of(errors);
}

}  // namespace hypermile
