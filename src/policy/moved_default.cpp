// SPDX-License-Identifier: Apache-2.0
#include "policy/moved_default.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hypermile {
namespace {

// Two probes make a line where their clocks differ by so much (ln).
constexpr double kFarApart = 0.06;
// Beyond what is possible by so much, and by so many standard errors.
constexpr double kPlainly = 0.01;
constexpr double kErrors = 2;

struct Probe {
  double position = 0;  // as Candidate's
  double slower = 0;    // ln of the time over that of the default
  double windows = 0;
};

// The default first, then what was probed behind it.
std::vector<Probe> since_default(const Slice& slice, const Observations& seen) {
  std::vector<Probe> probes;
  double usual = 0;
  for (const Block& block : seen.blocks()) {
    const auto point = std::ranges::find(slice.points, block.setting, &Candidate::setting);
    if (block.setting == 0) {
      usual = block.log_time;
      probes = {Probe{0, 0, block.windows}};
    } else if (point != slice.points.end() && !probes.empty()) {
      probes.push_back({point->position, block.log_time - usual, block.windows});
    }
  }
  return probes;
}

// No job slows down by more than its clock.
bool beyond_its_clock(const Probe& last, const Probe& higher, const Noise& noise) {
  const double error = noise.time * std::sqrt(1 / last.windows + 1 / higher.windows);
  const double clock = higher.position - last.position;
  return last.slower - higher.slower - clock > kPlainly + kErrors * error;
}

// None is faster for a lower clock, or at the same one later.
bool faster_by_itself(const Probe& last, const Probe& higher, const Noise& noise) {
  const double error = noise.time * std::sqrt(1 / last.windows + 1 / higher.windows);
  return higher.slower - last.slower > kPlainly + kErrors * error;
}

// A job gains the less from a higher clock the higher it is, so that the line through two probes
// never passes above the default.
bool above_the_default(const Probe& last, const Probe& lower, const Noise& noise) {
  const double reach = -last.position / (last.position - lower.position);
  const double at_default = last.slower - reach * (lower.slower - last.slower);
  const double error = noise.time * std::hypot((1 + reach) / std::sqrt(last.windows),
                                               reach / std::sqrt(lower.windows), 1.0);
  return at_default > kPlainly + kErrors * error;
}

}  // namespace

bool default_has_moved(const Slice& slice, const Observations& seen, const Noise& noise) {
  if (slice.limits || slice.own_level) return false;
  const std::vector<Probe> probes = since_default(slice, seen);
  if (probes.size() < 2) return false;
  const Probe& last = probes.back();
  return std::any_of(probes.begin(), probes.end() - 1, [&](const Probe& other) {
    if (other.position >= last.position) {
      return beyond_its_clock(last, other, noise) || faster_by_itself(last, other, noise);
    }
    return last.position - other.position >= kFarApart && above_the_default(last, other, noise);
  });
}

}  // namespace hypermile
