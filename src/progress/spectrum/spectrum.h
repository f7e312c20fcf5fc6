// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of short real series, by KissFFT: what the spectral detectors share. Cannot
// fail; an empty series has an empty spectrum.
#pragma once

#include <span>
#include <vector>

namespace hypermile {

// Magnitudes of the frequencies 0, 1/length, … of the series padded with zeros to `length` (at
// least its own).
std::vector<double> magnitudes(std::span<const double> series, std::size_t length);

// Autocorrelation at lags 0, 1/fine, 2/fine … `lags` samples (between samples as a band-limited
// series would have it), each over the pairs there are: 1 at lag 0. All zero for a series that does
// not vary.
std::vector<double> autocorrelation(std::span<const double> series, std::size_t lags,
                                    std::size_t fine);

}  // namespace hypermile
