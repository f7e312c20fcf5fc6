// SPDX-License-Identifier: Apache-2.0
#include "policy/bound_guard.h"

#include <algorithm>

namespace hypermile {
namespace {

// Standard errors of the default's pace that the guard adds to what was lost.
constexpr double kSure = 1;
// Of what may be lost: from here on the default, until it is back below. Our own policy plans to
// stay below by itself; this is for the others, and for what nobody planned.
constexpr double kNearBound = 0.97;
constexpr double kEarnedBack = 0.94;

}  // namespace

LostTime lost_time(const JobLedger& ledger, Seconds typical, bool length_known) {
  LostTime time;
  time.lost = ledger.lost();
  time.error = ledger.lost_error();
  // A job of known length is relied on for as long again as it has run.
  time.job = length_known ? ledger.sure_job() : std::max(ledger.done(), kLeastJob / typical);
  return time;
}

bool near_bound(const LostTime& time, double bound, bool earning_back) {
  const double upper = (time.lost + kSure * time.error) / time.job;
  return upper >= (earning_back ? kEarnedBack : kNearBound) * bound;
}

double likely_job(const JobLedger& ledger, Seconds typical) {
  return std::max(2 * ledger.done(), kLeastJob / typical);
}

}  // namespace hypermile
