// SPDX-License-Identifier: Apache-2.0
//
// What is believed of every Setting of a slice after the windows so far. The prior is a cloud of
// physics models; each is corrected by a Gaussian process for what physics misses (conditioning.h)
// and weighted by how well it explains time and power together. A decision costs two small Cholesky
// factors and a few products.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy/conditioning.h"
#include "policy/objective.h"
#include "policy/observations.h"
#include "policy/particle_table.h"
#include "policy/policy.h"
#include "policy/slice.h"

namespace hypermile {

// The slowdown to aim for: the bound less a reserve for what the model cannot see, such as clocks
// at which time grows faster than the clock falls.
inline constexpr double kReserve = 0.025;  // of the bound
inline std::optional<double> target_bound(const Objective& objective) {
  const auto bound = effective_bound(objective);
  return bound ? std::optional(*bound * (1 - kReserve)) : std::nullopt;
}

// Of one point, relative to the default.
struct Belief {
  double safe = 1;        // probability of keeping the bound (and the power budget)
  double safe_power = 1;  // of keeping the power budget alone
  double score = 1;       // expected, of the objective
  double score_sd = 0;
  double slowdown = 0;  // expected
  double slowdown_sd = 0;
};

class Posterior {
 public:
  Posterior(Slice slice, ParticleTable table);

  const Slice& slice() const { return slice_; }

  // What a predictor says of the policy's Settings weighs the particles before any Window does.
  void expect(std::span<const PredictedRatio> ratios);

  // One belief per point; blocks of Settings outside the slice are passed over. nullopt where the
  // blocks hold nothing to decide on: no default among them, or numbers beyond reason. Clocks under
  // `lowest`, a ratio to the default's, are not asked about and count as unsafe unless seen.
  std::optional<std::vector<Belief>> believe(std::span<const Block> blocks, const Noise& noise,
                                             const Objective& objective, Watts default_power,
                                             double lowest = 0) const;

 private:
  struct Particles;  // those that still count, with their weights
  SeenBlocks sort_out(std::span<const Block> blocks) const;
  Eigen::MatrixXd at_seen(const Eigen::ArrayXXf& table, const SeenBlocks& seen) const;
  Belief believe_point(Eigen::Index point, const Conditioning& time, const Conditioning& power,
                       const Particles& particles, const Objective& objective,
                       Watts default_power) const;

  Slice slice_;
  ParticleTable table_;
  std::optional<Eigen::ArrayXd> expected_;  // ln weight of each particle by a predictor
  Axis axis_;
  Misfit time_misfit_;
  Misfit power_misfit_;
};

}  // namespace hypermile
