// SPDX-License-Identifier: Apache-2.0
//
// Honest bounds: errors on jobs that were not seen, measured in units of the model's own doubt.
// Their 90 % quantile is what doubts are multiplied by. Every workload counts alike, whatever its
// inputs and rows, and the quantile is taken a little farther out the fewer they are, as conformal
// prediction asks: the next workload is one more of the same kind, not one of these.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "predict/model.h"
#include "predict/model_predictor.h"

namespace hypermile {

// Rows below this share of the default's SM clock are learnt from but not scored.
inline constexpr double kScoredFrom = 0.6;

// Which rows of a job are looked at: those at a power limit, or those at clocks alone.
enum class RowKind { kClocks, kLimits };
inline bool is_of(RowKind kind, const MeasuredRatio& point) {
  return point.at.limit.has_value() == (kind == RowKind::kLimits);
}

inline std::vector<RelativeSetting> settings_of(const Example& example) {
  std::vector<RelativeSetting> settings;
  for (const MeasuredRatio& point : example.points) settings.push_back(point.at);
  return settings;
}

// Without a doubt nothing was moved that the model knows of.
inline bool is_scored(RowKind kind, const MeasuredRatio& point, const RawEstimate& raw) {
  return is_of(kind, point) && point.at.sm >= kScoredFrom && raw.time_doubt > 0 &&
         raw.energy_doubt > 0;
}

class Residuals {
 public:
  explicit Residuals(RowKind kind) : kind_(kind) {}

  // `estimates` were made without knowing `example`, one for each of its points.
  void add(const Example& example, std::span<const RawEstimate> estimates);

  double time_scale() const { return quantile(time_); }
  double energy_scale() const { return quantile(energy_); }
  // With bounds at these scales.
  Scores scores(double time_scale, double energy_scale) const;

 private:
  // Errors over doubts, by workload.
  using Groups = std::map<std::string, std::vector<double>>;
  static double quantile(const Groups& groups);

  RowKind kind_;
  Groups time_;
  Groups energy_;
  std::size_t rows_ = 0;
  double time_sum_ = 0;
  double energy_sum_ = 0;
};

}  // namespace hypermile
