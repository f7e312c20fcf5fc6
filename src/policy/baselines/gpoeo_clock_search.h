// SPDX-License-Identifier: Apache-2.0
//
// The SM clock part of GPOEO's search, and the rule by which it compares; gpoeo.cpp says whose it
// is and what was corrected.
#pragma once

#include <cstdint>

#include "policy/baselines/ladder.h"
#include "policy/baselines/probed.h"

namespace hypermile {

// Feasible beats infeasible; among feasible less reward, among infeasible less slowdown.
class GpoeoRule {
 public:
  GpoeoRule(const Objective& objective, const Measured& base, std::optional<double> limit)
      : reference_(objective, base),
        goal_(objective.goal == Goal::kEnergy ? Goal::kEd2p : objective.goal),
        limit_(limit) {}

  double slowdown(const Measured& m) const { return reference_.slowdown(m); }
  double reward(const Measured& m) const { return reference_.score_as(goal_, m); }
  bool feasible(const Measured& m) const { return reference_.within(m, limit_); }
  bool better(const Measured& a, const Measured& b) const;
  std::optional<double> limit() const { return limit_; }

 private:
  TrialReference reference_;
  Goal goal_;
  std::optional<double> limit_;
};

// What a cubic does where fewer than four gears were measured.
enum class GpoeoFit {
  kLowerDegree,      // a polynomial of as many coefficients as there are points
  kUnderdetermined,  // the cubic of least norm, as the authors' least squares gives it
};

class GpoeoClockSearch {
 public:
  GpoeoClockSearch(const Ladder& ladder, const GpoeoRule& rule, Probed& probed, bool lower_memory);

  // Brackets from `height` on and narrows; false: a measurement is missing.
  bool run(double height);
  // The Setting that the fits say is best, between the lowest and the highest rung probed. After a
  // run() that was true.
  std::size_t choose(GpoeoFit fit) const;

 private:
  struct Point {
    std::size_t rung = 0;
    Measured measured;
  };

  std::int64_t gear_of(std::size_t rung) const;
  std::size_t rung_of(std::int64_t gear) const;
  // A radius away, but at least one rung; the end of the ladder at most.
  std::int64_t above(std::int64_t gear) const;
  std::int64_t below(std::int64_t gear) const;
  std::optional<Measured> probe(std::int64_t gear);
  bool search_up(std::int64_t& centre, std::int64_t& low, std::int64_t& high);
  bool search_down(std::int64_t& centre, std::int64_t& low, std::int64_t& high);

  const Ladder& ladder_;
  const GpoeoRule& rule_;
  Probed& probed_;
  std::int64_t radius_;
  std::vector<Point> points_;
};

}  // namespace hypermile
