// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/spectrum.h"

#include <kissfft/kiss_fftr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace hypermile {
namespace {

struct FreePlan {
  void operator()(kiss_fftr_state* plan) const { kiss_fftr_free(plan); }
};
using Plan = std::unique_ptr<kiss_fftr_state, FreePlan>;

// KissFFT's real transform requires an even length; small factors make it fast.
std::size_t quick_length(std::size_t at_least) {
  return static_cast<std::size_t>(
      kiss_fftr_next_fast_size_real(static_cast<int>(std::max<std::size_t>(2, at_least))));
}

std::vector<kiss_fft_cpx> transform(std::span<const double> series, std::size_t length) {
  std::vector<kiss_fft_scalar> in(length, 0);
  std::ranges::transform(series, in.begin(), [](double v) { return static_cast<float>(v); });
  std::vector<kiss_fft_cpx> out(length / 2 + 1);
  const Plan plan(kiss_fftr_alloc(static_cast<int>(length), 0, nullptr, nullptr));
  kiss_fftr(plan.get(), in.data(), out.data());
  return out;
}

}  // namespace

std::vector<double> magnitudes(std::span<const double> series, std::size_t length) {
  if (series.empty()) return {};
  length = std::max(length, series.size());
  length += length % 2;
  std::vector<double> sizes;
  for (const kiss_fft_cpx& bin : transform(series, length))
    sizes.push_back(std::hypot(bin.r, bin.i));
  return sizes;
}

std::vector<double> autocorrelation(std::span<const double> series, std::size_t lags,
                                    std::size_t fine) {
  std::vector<double> result(lags * fine + 1, 0);
  if (series.empty()) return result;
  const auto size = static_cast<double>(series.size());
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / size;
  double squares = 0;
  for (const double value : series) squares += (value - mean) * (value - mean);
  if (!(squares > 0)) return result;
  std::vector<double> centred;  // scaled to variance 1, which keeps single precision in range
  for (const double value : series) centred.push_back((value - mean) / std::sqrt(squares / size));
  // Wiener-Khinchin: the autocorrelation is the transform of the squared spectrum, padded so that
  // nothing wraps. Appending zeros to the spectrum makes the lags finer.
  const std::size_t length = quick_length(series.size() + lags + 1);
  std::vector<kiss_fft_cpx> bins = transform(centred, length);
  for (kiss_fft_cpx& bin : bins) bin = {bin.r * bin.r + bin.i * bin.i, 0};
  // The highest frequency now stands for itself and its mirror image.
  if (fine > 1) bins.back().r /= 2;
  bins.resize(length * fine / 2 + 1, {0, 0});
  std::vector<kiss_fft_scalar> sums(length * fine);
  const Plan back(kiss_fftr_alloc(static_cast<int>(length * fine), 1, nullptr, nullptr));
  kiss_fftri(back.get(), bins.data(), sums.data());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double pairs = size - static_cast<double>(i) / static_cast<double>(fine);
    if (pairs < 1) break;
    result[i] = static_cast<double>(sums[i]) / static_cast<double>(length) / pairs;
  }
  return result;
}

}  // namespace hypermile
