// SPDX-License-Identifier: Apache-2.0
//
// The window is cut into bins. Each bin counts its launches and blocks, and its launches by
// (hashed) kernel. The rate is the Theil-Sen slope of the running sums over the bins; its error
// comes from the spread between eight parts of the window. The mixture has changed if the halves of
// the window differ by clearly more than alternate bins do.
#include "progress/work_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/statistics.h"

namespace hypermile {
namespace {

constexpr std::size_t kBins = 64;
constexpr std::size_t kParts = 8;
constexpr std::size_t kKinds = 256;
constexpr double kShift = 0.05;      // share of launches that may always differ
constexpr double kShiftByNoise = 2;  // times the difference between alternate bins
constexpr double kLeastLaunches = 64;

std::size_t kind_of(std::uint32_t kernel) {
  return (kernel * 0x9E3779B1U) >> 24;
}

// The median slope of pairs at least a quarter of the window apart.
double slope(const std::vector<double>& sums, double bin_s) {
  std::vector<double> slopes;
  const std::size_t apart = std::max<std::size_t>(1, sums.size() / 4);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = i + apart; j < sums.size(); ++j) {
      slopes.push_back((sums[j] - sums[i]) / (static_cast<double>(j - i) * bin_s));
    }
  }
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::ranges::nth_element(slopes, middle);
  return *middle;
}

RateEstimate rate(const std::vector<double>& per_bin, double bin_s) {
  std::vector<double> sums(1, 0.0);
  for (const double work : per_bin) sums.push_back(sums.back() + work);
  const std::size_t bins = per_bin.size();
  double sum = 0;
  double squares = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t from = part * bins / kParts;
    const std::size_t to = (part + 1) * bins / kParts;
    const double here = (sums[to] - sums[from]) / (static_cast<double>(to - from) * bin_s);
    sum += here;
    squares += here * here;
  }
  const double mean = sum / kParts;
  const double variance = std::max(0.0, squares / kParts - mean * mean) / (kParts - 1);
  // Eight parts estimate their own spread poorly. Widened like this, ±1.96 standard errors still
  // cover 95 %.
  static const double few_parts = student_half_width95(kParts - 1) / normal_half_width95();
  return {slope(sums, bin_s), few_parts * std::sqrt(variance)};
}

using Kinds = std::array<double, kKinds>;

// The share of launches by which two mixtures differ.
double differ(const Kinds& a, const Kinds& b) {
  double all_a = 0;
  double all_b = 0;
  for (std::size_t k = 0; k < kKinds; ++k) {
    all_a += a[k];
    all_b += b[k];
  }
  if (all_a == 0 || all_b == 0) return 1;
  double sum = 0;
  for (std::size_t k = 0; k < kKinds; ++k) sum += std::abs(a[k] / all_a - b[k] / all_b);
  return sum / 2;
}

Error refuse(std::string why, std::string remedy) {
  return Error{ErrorCode::kNotReady, std::move(why), std::move(remedy)};
}

}  // namespace

class WorkRate::Bins {
 public:
  explicit Bins(Seconds window)
      : bin_ns_(std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::clamp(window.value(), 0.1, 3600.0) * 1e9 / kBins))) {
    // One more bin, because the bin that is being filled does not count.
    bins_.resize(kBins + 1);
  }

  void restart() {
    for (Bin& bin : bins_) bin.number = -1;
    first_ = -1;
    newest_ = nullptr;
  }

  void add(const Launch& launch) {
    // Nearly every launch falls into the same bin as the one before and needs no division.
    const std::int64_t ns = launch.time.nanoseconds();
    if (newest_ == nullptr || ns < newest_begin_ || ns - newest_begin_ >= bin_ns_) turn_to(ns);
    if (newest_ == nullptr) return;
    Bin& bin = *newest_;
    ++bin.launches;
    bin.blocks += launch.blocks;
    bin.without_blocks |= launch.blocks == 0;
    ++bin.kinds[kind_of(launch.kernel)];
  }

  Result<WorkRateEstimate> estimate(Instant now) const;

 private:
  struct Bin {
    std::int64_t number = -1;  // bins since the clock's origin
    double launches = 0;
    double blocks = 0;
    bool without_blocks = false;
    std::array<std::uint32_t, kKinds> kinds{};
  };

  std::int64_t number_of(Instant time) const { return time.nanoseconds() / bin_ns_; }
  // Makes the bin of this time the newest. newest_ is null if that bin is gone; late launches are
  // dropped.
  void turn_to(std::int64_t ns) {
    newest_ = nullptr;
    const std::int64_t number = ns / bin_ns_;
    if (ns < 0) return;
    Bin& bin = bins_[static_cast<std::size_t>(number) % bins_.size()];
    if (bin.number > number) return;
    if (bin.number < number) {
      bin = {};
      bin.number = number;
    }
    if (first_ < 0) first_ = number + 1;  // the first bin is incomplete
    newest_ = &bin;
    newest_begin_ = number * bin_ns_;
  }
  // The bin with this number; nullptr if nothing was launched in it.
  const Bin* find(std::int64_t number) const {
    const Bin& bin = bins_[static_cast<std::size_t>(number) % bins_.size()];
    return bin.number == number ? &bin : nullptr;
  }

  std::int64_t bin_ns_;  // length of a bin
  std::vector<Bin> bins_;
  std::int64_t first_ = -1;
  Bin* newest_ = nullptr;          // launches go into this bin
  std::int64_t newest_begin_ = 0;  // ns
};

Result<WorkRateEstimate> WorkRate::Bins::estimate(Instant now) const {
  const std::int64_t end = number_of(now);  // this bin is not complete yet
  const std::int64_t begin = std::max<std::int64_t>(first_, end - static_cast<std::int64_t>(kBins));
  if (first_ < 0 || end - begin < static_cast<std::int64_t>(kBins / 2)) {
    return refuse("launches were seen for less than half a window", "wait a few seconds");
  }
  std::vector<double> launches;
  std::vector<double> blocks;
  bool all_blocks = true;
  double total = 0;
  Kinds first_half{}, second_half{}, even{}, odd{};
  for (std::int64_t number = begin; number < end; ++number) {
    const Bin* bin = find(number);
    launches.push_back(bin ? bin->launches : 0);
    blocks.push_back(bin ? bin->blocks : 0);
    if (bin == nullptr) continue;
    all_blocks &= !bin->without_blocks;
    total += bin->launches;
    Kinds& half = number < begin + (end - begin) / 2 ? first_half : second_half;
    Kinds& turn = number % 2 == 0 ? even : odd;
    for (std::size_t k = 0; k < kKinds; ++k) {
      half[k] += bin->kinds[k];
      turn[k] += bin->kinds[k];
    }
  }
  if (total < kLeastLaunches) return refuse("too few launches for a rate", "use a longer window");
  const double shift = differ(first_half, second_half);
  if (shift > kShift + kShiftByNoise * differ(even, odd)) {
    return refuse(
        fmt::format("the mixture of kernels changed by {:.0f} % within the window", 100 * shift),
        "wait until the job does the same work for a whole window");
  }
  const double bin_s = static_cast<double>(bin_ns_) * 1e-9;
  WorkRateEstimate estimate{.launches = rate(launches, bin_s),
                            .blocks = std::nullopt,
                            .mixture_shift = shift,
                            .span = Seconds(static_cast<double>(end - begin) * bin_s)};
  if (all_blocks) estimate.blocks = rate(blocks, bin_s);
  return estimate;
}

WorkRate::WorkRate(Seconds window) : bins_(std::make_unique<Bins>(window)) {}
WorkRate::~WorkRate() = default;
WorkRate::WorkRate(WorkRate&&) noexcept = default;
WorkRate& WorkRate::operator=(WorkRate&&) noexcept = default;

void WorkRate::add(const Launch& launch) {
  bins_->add(launch);
}
void WorkRate::restart() {
  bins_->restart();
}
Result<WorkRateEstimate> WorkRate::estimate(Instant now) const {
  return bins_->estimate(now);
}

}  // namespace hypermile
