// SPDX-License-Identifier: Apache-2.0
//
// What a search has measured so far, and what a measurement is worth against the default.
//
// The searches of the literature are sequential programs ("measure this; if it is slow, measure
// that"), while a Policy is asked for one Step at a time. Trials joins the two: the program is run
// again from its start after every Window, finds what it measured before in the log, and stops at
// the first measurement that is missing. A search is thereby a pure function of the log, with no
// state to keep in step, and costs microseconds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/window.h"
#include "policy/objective.h"

namespace hypermile {

// Means over one or more Windows at one Setting.
struct Measured {
  Seconds time;  // per iteration
  Watts power;
};

// nullopt for a Window that no decision can rest on: unusable, or with a time or power that no GPU
// has (not finite, not positive, absurdly small or large).
std::optional<Measured> measured(const Window& window);

class Trials {
 public:
  // The next measurement, of `setting`. nullopt: it has still to be made, and the search must
  // return at once. Measuring a Setting twice gives two Windows.
  std::optional<Measured> measure(std::size_t setting, std::string_view why);
  // The mean of `windows` consecutive measurements.
  std::optional<Measured> measure(std::size_t setting, int windows, std::string_view why);

  // For whoever runs the search.
  void restart() { cursor_ = 0; }
  void clear() { log_.clear(); }
  void add(const Measured& window) { log_.push_back(window); }
  std::size_t wanted() const { return wanted_; }
  std::size_t count() const { return log_.size(); }  // measurements so far
  const std::string& reason() const { return reason_; }

 private:
  std::vector<Measured> log_;
  std::size_t cursor_ = 0;
  std::size_t wanted_ = 0;
  std::string reason_;
};

// The default as measured, and the objective: the yardstick of every other measurement.
class TrialReference {
 public:
  TrialReference(const Objective& objective, const Measured& base)
      : objective_(objective), base_(base) {}

  const Measured& base() const { return base_; }
  // 0.03: an iteration takes 3 % longer than at the default.
  double slowdown(const Measured& m) const { return m.time / base_.time - 1; }
  // Less is better; 1 is the default.
  double score(const Measured& m) const { return score_as(objective_.goal, m); }
  // The same under another goal.
  double score_as(Goal goal, const Measured& m) const;
  // Within `limit`, or no limit at all.
  bool within(const Measured& m, std::optional<double> limit) const {
    return !limit || slowdown(m) <= *limit;
  }

 private:
  Objective objective_;
  Measured base_;
};

// A measured Setting.
struct Trial {
  std::size_t setting = 0;
  Measured measured;
};

// The Setting of least score among those within `limit`; the default (0), whose score is 1, where
// none is better.
std::size_t best_within(const TrialReference& reference, std::span<const Trial> trials,
                        std::optional<double> limit);

}  // namespace hypermile
