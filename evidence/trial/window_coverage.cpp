// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/window_coverage.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "evidence/trial/watched_job.h"
#include "measure/window_maker.h"

namespace hypermile {
namespace {

constexpr Seconds kWarmUp = Seconds(400);  // temperatures come to rest
constexpr Seconds kEventEvery = milliseconds(50);
constexpr Seconds kGpuAxis = Seconds(1234);  // GPU times count from an instant of their own

// Turns the true starts of iterations, which ticks report, into the boundaries that the case is
// about.
class BoundaryMaker {
 public:
  BoundaryMaker(TickSource source, std::uint64_t seed) : source_(source), random_(seed) {}

  Boundary make(Boundary boundary) {
    if (source_ == TickSource::kExact) return boundary;
    const Instant start = boundary.time;
    boundary.launch = ++launch_;
    // The host launches ahead until something makes it wait: a lead that grows and breaks off.
    lead_s_ += 0.004 * random_.uniform();
    if (random_.uniform() < 0.1) lead_s_ = 0;
    boundary.time = std::max(start - Seconds(lead_s_), last_host_);
    last_host_ = boundary.time;
    const bool due = !last_event_ || start - *last_event_ >= kEventEvery;
    if (source_ == TickSource::kGpuEvents && due) {
      boundary.gpu_time = start.since_origin() + kGpuAxis;
      last_event_ = start;
    }
    return boundary;
  }

 private:
  TickSource source_;
  Random random_;
  std::uint64_t launch_ = 0;
  double lead_s_ = 0;
  Instant last_host_;
  std::optional<Instant> last_event_;
};

// Makes windows as a Session does.
class WindowSink final : public WatchedJob::Sink {
 public:
  explicit WindowSink(const CoverageCase& one)
      : boundaries_(one.ticks, derive_seed(one.seed, "host")), lengths_{.length = one.window} {}

  // Before the first step.
  void watch(GpuWatch& gpu) {
    maker_.emplace(&gpu, lengths_, [this](const Window& window) {
      if (window.begin >= since) windows.push_back(window);
    });
  }
  void boundary(const Boundary& boundary, bool fresh) override {
    maker_->add(boundaries_.make(boundary), fresh);
  }
  void changed(const ProcessProgress&, const ProgressChange&) override {}
  void reading(const SamplerReading& reading) override { maker_->add(reading); }

  Instant since;  // earlier windows are dropped
  std::vector<Window> windows;

 private:
  BoundaryMaker boundaries_;
  WindowLengths lengths_;
  std::optional<WindowMaker> maker_;
};

SimulatedJob job_of(const CoverageCase& one) {
  SimulatedJob job;
  job.sheet = one.sheet;
  job.workload = one.workload;
  if (!job.workload.load.aperiodic) job.workload.load.phase_count = 1;
  job.seed = one.seed;
  job.effects = one.effects;
  return job;
}

// Windows of one run, and the run's own means: what its sensors would say with endless patience.
struct MeasuredRun {
  std::vector<Window> windows;
  Seconds time;   // per iteration
  Joules energy;  // per iteration, as this card's sensors scale it
};

Result<MeasuredRun> measure(const CoverageCase& one) {
  WindowSink sink(one);
  ASSIGN_OR_RETURN(const auto watched, WatchedJob::start(job_of(one), sink));
  sink.watch(watched->watch());
  sink.since = watched->now() + kWarmUp;
  watched->step_until(sink.since);
  const TrueTotals from = watched->totals();
  while (static_cast<int>(sink.windows.size()) < one.windows) watched->step();
  const TrueTotals passed = watched->totals() - from;
  const CardTraits& card = watched->card().state().card;
  const double joules =
      passed.joules * card.sensor_gain + card.sensor_offset.value() * passed.seconds;
  return MeasuredRun{std::move(sink.windows), Seconds(passed.seconds / passed.iterations),
                     Joules(joules / passed.iterations)};
}

template <class Value>
void count(const std::optional<Value>& seen, const std::optional<double>& error, double truth,
           Covered& covered) {
  if (!seen || !error) return;
  const double off = seen->value() / truth - 1;
  ++covered.given;
  if (std::abs(seen->value() - truth) <= normal_half_width95() * *error * seen->value())
    ++covered.holding;
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

Result<Coverage> cover(const CoverageCase& one) {
  ASSIGN_OR_RETURN(const MeasuredRun run, measure(one));
  const double time = run.time.value();
  const double energy = run.energy.value();
  Coverage coverage;
  coverage.iteration_s = time;
  for (const Window& window : run.windows) {
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
