// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/window_coverage.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "measure/job_sampling.h"
#include "measure/window_builder.h"
#include "sim/sim_gpu.h"
#include "trial/tick_reader.h"

namespace hypermile {
namespace {

constexpr Seconds kWarmUp = Seconds(400);  // temperatures come to rest
constexpr Seconds kEventEvery = milliseconds(50);
constexpr double kZ95 = 1.959963985;

SimGpuOptions options_of(const CoverageCase& one) {
  SimGpuOptions options;
  options.seed = one.seed;
  options.effects = one.effects;
  return options;
}

Workload first_phase_of(Workload workload) {
  if (!workload.load.aperiodic) workload.load.phase_count = 1;
  return workload;
}

// Turns true starts of iterations into what a Window would be given.
class BoundaryMaker {
 public:
  BoundaryMaker(TickSource source, std::uint64_t seed) : source_(source), random_(seed) {}

  Boundary make(const Tick& tick) {
    Boundary boundary;
    boundary.time = tick.time;
    boundary.confidence = 1;
    if (source_ == TickSource::kExact) return boundary;
    boundary.launch = tick.iteration + 1;
    // The host launches ahead until something makes it wait: a lead that grows and breaks off.
    lead_s_ += 0.004 * random_.uniform();
    if (random_.uniform() < 0.1) lead_s_ = 0;
    boundary.time = std::max(tick.time - Seconds(lead_s_), last_host_);
    last_host_ = boundary.time;
    const bool due = !last_event_ || tick.time - *last_event_ >= kEventEvery;
    if (source_ == TickSource::kGpuEvents && due) {
      boundary.gpu_time = tick.time.since_origin() + Seconds(1234);  // an axis of its own
      last_event_ = tick.time;
    }
    return boundary;
  }

 private:
  TickSource source_;
  Random random_;
  double lead_s_ = 0;
  Instant last_host_;
  std::optional<Instant> last_event_;
};

class Run {
 public:
  explicit Run(const CoverageCase& one)
      : one_(one),
        gpu_(one.sheet, clock_, options_of(one)),
        ticks_(gpu_),
        maker_(one.ticks, derive_seed(one.seed, "host")),
        sampler_(gpu_, clock_, beside_a_job()) {
    gpu_.start(first_phase_of(one.workload));
    clock_.advance(kWarmUp);
    while (!sampler_.counter().period() && clock_.now().since_origin() < kWarmUp + Seconds(5)) {
      clock_.sleep_until(sampler_.due());
      (void)sampler_.poll();
    }
    ticks_.take();
  }

  std::vector<Window> windows() {
    std::vector<Window> windows;
    while (static_cast<int>(windows.size()) < one_.windows) windows.push_back(measure());
    return windows;
  }
  // Over all Windows: what the sensors would say with endless patience.
  Seconds mean_time() const { return (last_.time - first_.time) / iterations(); }
  Joules mean_energy() const { return (last_.energy - first_.energy) / iterations(); }

 private:
  struct Mark {
    std::uint64_t iteration = 0;
    Instant time;
    Joules energy;
  };

  double iterations() const { return static_cast<double>(last_.iteration - first_.iteration); }

  // True energy as this card's sensors scale it.
  Joules energy_now() {
    const SimView view = gpu_.true_view();
    const CardTraits& card = gpu_.state().card;
    return Joules(view.totals.energy_j * card.sensor_gain +
                  card.sensor_offset.value() * gpu_.state().now_s);
  }

  Window measure() {
    WindowBuilder builder({});
    sampler_.want_energy_counter();
    while (builder.span() < one_.window || builder.iterations() < 4) {
      if (builder.span() >= one_.window - milliseconds(100)) sampler_.want_energy_counter();
      clock_.sleep_until(sampler_.due());
      if (const auto reading = sampler_.poll()) builder.add(*reading);
      for (const Tick& tick : ticks_.take()) {
        builder.add(maker_.make(tick));
        mark(tick);
      }
      if (builder.wants_energy_counter()) sampler_.want_energy_counter();
    }
    // What the last Boundary needs: a counter step behind it.
    for (int i = 0; i < 12; ++i) {
      sampler_.want_energy_counter();
      if (i == 11) sampler_.want_history();
      clock_.sleep_until(sampler_.due());
      if (const auto reading = sampler_.poll()) builder.add(*reading);
    }
    ticks_.take();
    return builder.close();
  }

  void mark(const Tick& tick) {
    last_ = {tick.iteration, tick.time, energy_now()};
    if (!marked_) first_ = last_;
    marked_ = true;
  }

  const CoverageCase& one_;
  VirtualClock clock_;
  SimGpu gpu_;
  TickReader ticks_;
  BoundaryMaker maker_;
  Sampler sampler_;
  bool marked_ = false;
  Mark first_;
  Mark last_;
};

template <class Value>
void count(const std::optional<Value>& seen, const std::optional<double>& error, double truth,
           Covered& covered) {
  if (!seen || !error) return;
  const double off = seen->value() / truth - 1;
  ++covered.given;
  if (std::abs(seen->value() - truth) <= kZ95 * *error * seen->value()) ++covered.holding;
  covered.mean_error += *error;
  covered.true_scatter += off * off;
}

void finish(Covered& covered) {
  if (covered.given == 0) return;
  covered.mean_error /= covered.given;
  covered.true_scatter = std::sqrt(covered.true_scatter / covered.given);
}

}  // namespace

void Covered::add(const Covered& other) {
  const double all = given + other.given;
  if (all == 0) return;
  const double share_of_other = other.given / all;
  mean_error += (other.mean_error - mean_error) * share_of_other;
  true_scatter = std::sqrt((1 - share_of_other) * true_scatter * true_scatter +
                           share_of_other * other.true_scatter * other.true_scatter);
  given += other.given;
  holding += other.holding;
}

void Coverage::add(const Coverage& other) {
  iteration_s = other.iteration_s;
  time.add(other.time);
  energy.add(other.energy);
  power.add(other.power);
  refused += other.refused;
}

Coverage cover(const CoverageCase& one) {
  Run run(one);
  const std::vector<Window> windows = run.windows();
  const double time = run.mean_time().value();
  const double energy = run.mean_energy().value();
  Coverage coverage;
  coverage.iteration_s = time;
  for (const Window& window : windows) {
    if (!window.usable()) {
      ++coverage.refused;
      continue;
    }
    count(window.time_per_iteration, window.time_error, time, coverage.time);
    count(window.energy_per_iteration, window.energy_error, energy, coverage.energy);
    count(window.power, window.power_error, energy / time, coverage.power);
  }
  finish(coverage.time);
  finish(coverage.energy);
  finish(coverage.power);
  return coverage;
}

}  // namespace hypermile
