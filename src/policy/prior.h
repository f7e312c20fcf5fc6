// SPDX-License-Identifier: Apache-2.0
//
// What is believed of a job before its first window: a cloud of physics models. Most come from fits
// to measured sweeps of several GPU families (models/search_prior.csv, compiled in), the rest from
// a broad law that excludes nothing plausible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/physics.h"

namespace hypermile {

// The architecture that a GPU's name tells: "Volta" for "V100-SXM2 300W"; "" where it tells none.
std::string gpu_family(std::string_view gpu_name);

// One draw from the broad law.
class Random;
Physics draw_broad(Random& random);

// `count` particles: fitted ones, those of `without_gpu`'s family left out and replaced by jittered
// copies of the others, and a share of broad ones; broad ones alone where no fit is left. The same
// arguments give the same particles.
std::vector<Physics> prior_particles(std::size_t count, std::string_view without_gpu);

}  // namespace hypermile
