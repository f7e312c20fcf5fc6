// SPDX-License-Identifier: Apache-2.0
//
// What a search believes of its slice at one moment: the posterior's word on every point, what the
// points' own windows say against it, and what the job can still afford. Made anew for every
// decision from Windows alone; SliceSearch decides on it.
#pragma once

#include <optional>
#include <vector>

#include "policy/observations.h"
#include "policy/policy.h"
#include "policy/posterior.h"

namespace hypermile {

// Where the job stands.
struct JobState {
  double length = 5000;      // iterations, known or assumed
  double done = 0;           // iterations run
  std::size_t explored = 0;  // exploration windows so far, baselines included
  Watts default_power;
  Seconds default_time;         // per iteration, latest known
  std::optional<JobLoss> loss;  // where somebody keeps account of it
};

// A Setting measured in this many windows can be forbidden by them alone, whatever the model says.
inline constexpr double kEnoughToForbid = 4;

struct SliceView {
  std::vector<Belief> beliefs;
  Noise noise;
  std::vector<double> windows;  // seen, per point
  double since_baseline = 0;    // windows since the last one at the default
  double stale_after = 0;       // windows after which that one must be renewed
  double baseline_age = 0;      // iterations since then
  double baseline_slower = 0;   // log ratio of its time to that of the fastest default window
  double wander = 0;            // of the job's own speed, standard deviation
  int baseline_stays = 0;       // at the default, with other Settings in between
  double floor = 0;             // clock ratio under which nothing is probed yet
  double lowest = 1;            // exp of the lowest position probed
  double lowest_slowdown = 0;   // there, expected
  double probed = 0;            // windows off the default
  double slack = 0;             // iterations' worth of time that may still be lost
  double remaining = 1;         // iterations
  double bound = 0;
  bool default_too_strong = false;  // it breaks the power budget
};

// nullopt where there is nothing to decide on: no default was measured.
std::optional<SliceView> look(const Posterior& posterior, const PolicyContext& context,
                              const Observations& seen, const JobState& job);

}  // namespace hypermile
