// SPDX-License-Identifier: Apache-2.0
//
// The cost of one decision of the policy hypermile over 110 SM clocks and 5 memory clocks, in the
// middle of a job; also as a multiple of one 60 × 60 Cholesky factorisation on the same machine.
#include <benchmark/benchmark.h>
#include <time.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "policy/job_ledger.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

PolicyContext grid() {
  PolicyContext context;
  context.settings.push_back({});
  for (int memory = 0; memory < 5; ++memory) {
    for (int clock = 0; clock < 110; ++clock) {
      Setting setting{.sm_clock = Mhz(1965 - 10.0 * clock)};
      if (memory > 0) setting.memory_clock = Mhz(5000 - 300.0 * memory);
      context.settings.push_back(setting);
    }
  }
  context.default_values = {.sm_clock = Mhz(1980), .memory_clock = Mhz(5000), .power_limit = {}};
  return context;
}

Window measure(const PolicyContext& context, const Step& step, double first, Random& random) {
  const Setting& setting = context.settings[step.setting];
  const double y = setting.sm_clock.value_or(Mhz(1980)).value() / 1980;
  const double memory = setting.memory_clock.value_or(Mhz(5000)).value() / 5000;
  const double noise = 0.01 * std::sqrt(30 / step.iterations);
  Window window;
  window.setting = setting;
  window.iterations = step.iterations;
  window.first_iteration = first;
  window.time_per_iteration =
      Seconds(0.1 * (0.4 + 0.5 / y + 0.1 / memory) * (1 + noise * random.gaussian()));
  window.power =
      Watts(300 * (0.3 + 0.6 * y * y * y + 0.1 * memory) * (1 + noise * random.gaussian()));
  return window;
}

// Processor time of this thread, so that other work on the machine does not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double cholesky_seconds() {
  const Eigen::MatrixXd half = Eigen::MatrixXd::Random(60, 60);
  const Eigen::MatrixXd c = half * half.transpose() + 60 * Eigen::MatrixXd::Identity(60, 60);
  const double start = thread_seconds();
  constexpr int kTimes = 2000;
  for (int i = 0; i < kTimes; ++i) {
    Eigen::LLT<Eigen::MatrixXd> factor(c);
    benchmark::DoNotOptimize(factor.matrixL());
  }
  return (thread_seconds() - start) / kTimes;
}

// The mean over all decisions of a job, the ledger's share included.
void decision(benchmark::State& state) {
  const PolicyContext context = grid();
  double decisions = 0;
  double seconds = 0;
  double slowest = 0;
  for (auto _ : state) {
    Random random(1);
    auto policy = make_policy("hypermile", context);
    JobLedger ledger(context.settings.size(), context.window_iterations);
    ledger.set_job(20000, 20000);
    double done = 0;
    double job = 0;
    while (done < 20000) {
      const double start = thread_seconds();
      (*policy)->account(ledger);
      const Step step = (*policy)->next();
      const double took = thread_seconds() - start;
      job += took;
      slowest = std::max(slowest, took);
      const Window window = measure(context, step, done, random);
      ledger.pass(step.setting != 0, window.iterations,
                  *window.time_per_iteration * window.iterations);
      ledger.add(step.setting, window);
      (*policy)->observe(window);
      done += step.iterations;
      ++decisions;
    }
    seconds += job;
    state.SetIterationTime(job);
  }
  state.counters["decision_us"] = 1e6 * seconds / decisions;
  state.counters["slowest_us"] = 1e6 * slowest;
  state.counters["per_cholesky60"] = seconds / decisions / cholesky_seconds();
}
BENCHMARK(decision)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hypermile
