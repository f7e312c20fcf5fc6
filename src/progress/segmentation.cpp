// SPDX-License-Identifier: Apache-2.0
#include "progress/segmentation.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kUsual = 0.97;  // similarity

}  // namespace

void Segmentation::cut(const TokenTable& table, std::span<const std::uint32_t> cuts) {
  cuts_ = cuts.size() > kMost + 1 ? cuts.last(kMost + 1) : cuts;
  reference_.clear();
  reference_length_ = 0;
  std::fill_n(matched_.begin(), segments(), 0.0);
  for (const KernelNumber kernel : table.kernels()) {
    count(table.kernel_positions(kernel));
    const float median = median_count();
    if (median == 0) continue;
    reference_.push_back({kernel, median});
    reference_length_ += median;
    for (std::size_t i = 0; i < occurring_; ++i) {
      matched_[occurrences_[i].segment] +=
          std::min(static_cast<double>(occurrences_[i].count), static_cast<double>(median));
    }
  }
  rate();
}

// Fills occurrences_ with the segments in which `positions` occur, and how often.
void Segmentation::count(std::span<const std::uint32_t> positions) {
  occurring_ = 0;
  auto at = std::ranges::lower_bound(positions, cuts_.front());
  std::uint32_t segment = 0;
  while (at != positions.end() && *at < cuts_.back()) {
    // Rare kernels skip many segments.
    if (*at >= cuts_[segment + 1]) {
      segment = static_cast<std::uint32_t>(
          std::ranges::upper_bound(cuts_.subspan(segment + 1), *at) - cuts_.begin() - 1);
    }
    const std::uint32_t end = cuts_[segment + 1];
    std::uint32_t counted = 0;
    while (at != positions.end() && *at < end) ++counted, ++at;
    occurrences_[occurring_++] = {segment, counted};
  }
}

float Segmentation::median_count() {
  const std::size_t zeros = segments() - occurring_;
  const std::size_t middle = segments() / 2;
  if (middle < zeros) return 0;
  for (std::size_t i = 0; i < occurring_; ++i) sorted_[i] = occurrences_[i].count;
  const auto begin = sorted_.begin();
  const auto nth = begin + static_cast<std::ptrdiff_t>(middle - zeros);
  std::nth_element(begin, nth, begin + static_cast<std::ptrdiff_t>(occurring_));
  if (segments() % 2 == 1) return static_cast<float>(*nth);
  const std::uint32_t below = middle == zeros ? 0 : *std::max_element(begin, nth);
  return static_cast<float>(*nth + below) / 2;
}

void Segmentation::rate() {
  double weighted = 0;
  double usual = 0;
  worst_mismatch_ = 0;
  longest_ = 0;
  for (std::size_t s = 0; s < segments(); ++s) {
    const std::uint32_t length = cuts_[s + 1] - cuts_[s];
    const double alike = similarity(matched_[s], length, reference_length_);
    weighted += alike * length;
    usual += alike >= kUsual ? 1 : 0;
    const double longer = std::max(static_cast<double>(length), reference_length_);
    worst_mismatch_ = std::max(worst_mismatch_, (1 - alike) * longer);
    longest_ = std::max(longest_, length);
  }
  mean_similarity_ = weighted / (cuts_.back() - cuts_.front());
  usual_share_ = usual / static_cast<double>(segments());
}

std::uint32_t Segmentation::shortest() {
  for (std::size_t s = 0; s < segments(); ++s) sorted_[s] = cuts_[s + 1] - cuts_[s];
  const auto begin = sorted_.begin();
  const auto nth = begin + static_cast<std::ptrdiff_t>(segments() / 10);
  std::nth_element(begin, nth, begin + static_cast<std::ptrdiff_t>(segments()));
  return *nth;
}

double Segmentation::once_in(std::span<const std::uint32_t> positions) const {
  std::size_t once = 0;
  auto at = std::ranges::lower_bound(positions, cuts_.front());
  for (std::size_t s = 0; s < segments(); ++s) {
    std::size_t here = 0;
    while (at != positions.end() && *at < cuts_[s + 1]) ++here, ++at;
    if (here == 1) ++once;
  }
  return static_cast<double>(once) / static_cast<double>(segments());
}

double Segmentation::present(const TokenTable& table, double share) {
  double all = 0;
  double present = 0;
  for (const KernelNumber kernel : table.kernels()) {
    count(table.kernel_positions(kernel));
    double launches = 0;
    for (std::size_t i = 0; i < occurring_; ++i) launches += occurrences_[i].count;
    all += launches;
    if (static_cast<double>(occurring_) >= share * static_cast<double>(segments())) {
      present += launches;
    }
  }
  return all > 0 ? present / all : 0;
}

std::vector<KernelNumber> Segmentation::constant(const TokenTable& table, double share) {
  std::vector<KernelNumber> kernels;
  for (const KernelCount& each : reference_) {
    count(table.kernel_positions(each.kernel));
    const auto same = std::count_if(
        occurrences_.begin(), occurrences_.begin() + static_cast<std::ptrdiff_t>(occurring_),
        [&](const Occurrence& one) { return static_cast<float>(one.count) == each.count; });
    if (static_cast<double>(same) >= share * static_cast<double>(segments())) {
      kernels.push_back(each.kernel);
    }
  }
  return kernels;
}

Segmentation::Place Segmentation::place(std::span<const std::uint32_t> positions) const {
  double sum = 0;
  double squares = 0;
  double found = 0;
  auto at = std::ranges::lower_bound(positions, cuts_.front());
  for (std::size_t s = 0; s < segments(); ++s) {
    const double length = cuts_[s + 1] - cuts_[s];
    for (; at != positions.end() && *at < cuts_[s + 1]; ++at, ++found) {
      const double offset = (*at - cuts_[s]) / length;
      sum += offset;
      squares += offset * offset;
    }
  }
  if (found == 0) return {};
  const double mean = sum / found;
  return {mean, std::sqrt(std::max(0.0, squares / found - mean * mean))};
}

}  // namespace hypermile
