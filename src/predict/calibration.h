// SPDX-License-Identifier: Apache-2.0
//
// Sets the bounds for jobs on known cards. Each error on a job that the model has not seen is
// divided by the model's own doubt; the 90 % quantile of these quotients is the scale by which
// doubts are multiplied. Every workload has the same weight, however many inputs and rows it has.
// As in conformal prediction, the quantile is taken a little farther out where there are few
// workloads, because the next workload is a new one. Called by train.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "predict/model.h"
#include "predict/model_predictor.h"

namespace hypermile {

// The least SM clock of scored rows, as a share of the default's. Training also uses the rows
// below.
inline constexpr double kScoredFrom = 0.6;

// Rows at a power limit and rows at clocks alone are scored apart.
enum class RowKind { kClocks, kLimits };
inline bool is_of(RowKind kind, const MeasuredRatio& point) {
  return point.at.limit.has_value() == (kind == RowKind::kLimits);
}

inline std::vector<RelativeSetting> settings_of(const Example& example) {
  std::vector<RelativeSetting> settings;
  for (const MeasuredRatio& point : example.points) settings.push_back(point.at);
  return settings;
}

// A doubt of 0 means that the setting moves no knob that the model knows.
inline bool is_scored(RowKind kind, const MeasuredRatio& point, const RawEstimate& raw) {
  return is_of(kind, point) && point.at.sm >= kScoredFrom && raw.time_doubt > 0 &&
         raw.energy_doubt > 0;
}

class Residuals {
 public:
  explicit Residuals(RowKind kind) : kind_(kind) {}

  // `estimates` has one entry for each point of `example`, made by members that have not seen it.
  void add(const Example& example, std::span<const RawEstimate> estimates);

  std::size_t workloads() const { return time_.size(); }  // with a row of this kind
  double time_scale() const { return quantile(time_); }
  double energy_scale() const { return quantile(energy_); }
  // The mean errors, and the share of errors that lie within bounds of these scales.
  Scores scores(double time_scale, double energy_scale) const;

 private:
  // Errors divided by doubts, by workload.
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
