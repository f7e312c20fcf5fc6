// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of short real series with KissFFT, shared by the spectral detectors. Cannot
// fail; an empty series has an empty spectrum.
#pragma once

#include <span>
#include <vector>

namespace hypermile {

// Magnitudes at the frequencies 0, 1/length, … of the series, padded with zeros to `length` (or its
// own length if that is larger).
std::vector<double> magnitudes(std::span<const double> series, std::size_t length);

// Autocorrelation at lags 0, 1/fine, 2/fine … `lags` samples, interpolated between samples as for a
// band-limited series. Each lag averages over the pairs that exist; lag 0 gives 1. A constant
// series gives all zeros.
std::vector<double> autocorrelation(std::span<const double> series, std::size_t lags,
                                    std::size_t fine);

}  // namespace hypermile
