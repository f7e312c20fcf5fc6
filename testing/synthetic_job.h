// SPDX-License-Identifier: Apache-2.0
//
// A made-up job for tests of policies: a list of Settings with known time and power, and a loop
// that runs a policy on it.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "base/random.h"
#include "policy/policies.h"
#include "policy/policy.h"
#include "testing/ledgered_policy.h"

namespace hypermile {

struct SyntheticJob {
  SyntheticJob() { context.traces = true; }  // though its windows have none

  PolicyContext context;
  std::vector<double> time;   // per Setting, relative to the default
  std::vector<double> power;  // per Setting, W

  void add(const Setting& setting, double time_ratio, double watts) {
    context.settings.push_back(setting);
    time.push_back(time_ratio);
    power.push_back(watts);
  }
  double energy(std::size_t i) const { return time[i] * power[i]; }
  double slowdown(std::size_t i) const { return time[i] - 1; }
  // The Setting with the least energy within the bound.
  std::size_t best(double bound) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < time.size(); ++i) {
      if (slowdown(i) <= bound && energy(i) < energy(best)) best = i;
    }
    return best;
  }
  Window window(std::size_t i, double noise, Random& random) const {
    Window w;
    w.setting = context.settings[i];
    w.iterations = 30;
    w.time_per_iteration = Seconds(0.1 * time[i] * (1 + noise * random.gaussian()));
    w.power = Watts(power[i] * (1 + noise * random.gaussian()));
    return w;
  }
};

// Time and power at a share `y` of the default clock: the share `compute_bound` of the time scales
// with 1/y, and power has a constant part of 40 % and a part that scales with the cube of the
// clock. The least energy lies well below the default.
inline double time_at(double y, double compute_bound) {
  return 1 - compute_bound + compute_bound / y;
}
inline double power_at(double y) {
  return 300 * (0.4 + 0.6 * y * y * y);
}

// SM clocks every 15 MHz from 1410 down to 570; the default runs at 1410.
inline SyntheticJob clock_job(double compute_bound) {
  SyntheticJob job;
  job.context.default_values.sm_clock = Mhz(1410);
  job.add({}, 1, power_at(1));
  for (double mhz = 1395; mhz >= 570; mhz -= 15) {
    job.add({.sm_clock = Mhz(mhz)}, time_at(mhz / 1410, compute_bound), power_at(mhz / 1410));
  }
  return job;
}

// Limits every 25 W from 250 down to 100; the default draws 250 W.
inline SyntheticJob limit_job() {
  SyntheticJob job;
  job.context.default_values.power_limit = Watts(250);
  job.add({}, 1, 250);
  for (double watts = 225; watts >= 100; watts -= 25) {
    const double y = std::cbrt((watts / 250 - 0.2) / 0.8);
    job.add({.power_limit = Watts(watts)}, time_at(y, 0.5), watts);
  }
  return job;
}

// Five SM clocks at each of three memory clocks; the lower memory clocks add 2 % and 60 % of time
// and save 60 W and 90 W.
inline SyntheticJob memory_job(double compute_bound) {
  SyntheticJob job;
  job.context.default_values.sm_clock = Mhz(1900);
  job.context.default_values.memory_clock = Mhz(9501);
  const double memory_time[] = {0, 0.02, 0.6};
  const double memory_watts[] = {0, 60, 90};
  const std::optional<Mhz> clocks[] = {std::nullopt, Mhz(5001), Mhz(810)};
  for (std::size_t m = 0; m < 3; ++m) {
    for (const double mhz : {1900.0, 1700.0, 1500.0, 1300.0, 1100.0}) {
      Setting setting{.memory_clock = clocks[m]};
      if (mhz < 1900) setting.sm_clock = Mhz(mhz);
      job.add(setting, time_at(mhz / 1900, compute_bound) + memory_time[m],
              power_at(mhz / 1900) - memory_watts[m]);
    }
  }
  return job;
}

struct Played {
  std::vector<Step> probes;  // exploring Steps, in order
  std::size_t kept = 0;      // Setting of the last Step
  bool exploring = false;    // whether the last Step still was
  double time = 0;           // mean over the job, relative to the default
  double energy = 0;         // the same
};

inline Played play(LedgeredPolicy& policy, const SyntheticJob& job, int windows = 150,
                   double noise = 0) {
  Random random(7);
  Played played;
  for (int i = 0; i < windows; ++i) {
    const Step step = policy.next();
    if (step.exploring) played.probes.push_back(step);
    played.kept = step.setting;
    played.exploring = step.exploring;
    played.time += job.time[step.setting] / windows;
    played.energy += job.energy(step.setting) / job.energy(0) / windows;
    policy.observe(job.window(step.setting, noise, random));
  }
  return played;
}

inline Played play(std::string_view policy, const SyntheticJob& job, int windows = 150,
                   double noise = 0) {
  LedgeredPolicy made(*make_policy(policy, job.context), job.context, 30.0 * windows);
  return play(made, job, windows, noise);
}

}  // namespace hypermile
