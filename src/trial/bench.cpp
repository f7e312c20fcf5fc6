// SPDX-License-Identifier: Apache-2.0
#include "trial/bench.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kWatch = Seconds(3);  // at the default before anything is planned
constexpr int kPatience = 15;           // polls for a step of the energy counter
constexpr std::size_t kWatchTicks = 9;
// A pause between two ticks is this much longer than an iteration. Pauses that come several times a
// Window are part of how the job runs; others end a Window that has enough iterations, or begin it
// anew, a few times. How far apart they are is counted in iterations: a clock must not change it.
constexpr double kPause = 4;
constexpr double kUsual = 1.0 / 3;  // of a Window as planned
constexpr double kEnough = 0.25;    // of the iterations asked for
constexpr int kRestarts = 2;
SimGpuOptions gpu_options(const SimulatedJob& job) {
  SimGpuOptions options;
  options.seed = job.seed;
  options.effects = job.effects;
  return options;
}

Boundary boundary_at(const Tick& tick, double iterations) {
  Boundary boundary;
  boundary.time = tick.time;
  boundary.iterations = iterations;
  boundary.confidence = 1;
  return boundary;
}

// A Window that is being measured, from a tick to a tick.
class OpenWindow {
 public:
  OpenWindow(const Setting& setting, const Tick& tick)
      : builder_({.setting = setting,
                  .first_iteration = static_cast<double>(tick.iteration),
                  .pauses_belong = true}),
        first_(tick),
        last_(tick) {
    builder_.add(boundary_at(tick, 1));
  }

  WindowBuilder& builder() { return builder_; }
  double iterations() const { return static_cast<double>(last_.iteration - first_.iteration); }
  const Tick& last() const { return last_; }

  void extend(const Tick& tick) {
    builder_.add(boundary_at(tick, static_cast<double>(tick.iteration - last_.iteration)));
    last_ = tick;
  }
  bool too_slow(const Step& step) const {
    return step.abort_above && iterations() >= step.abort_after &&
           (last_.time - first_.time) / iterations() > *step.abort_above;
  }

 private:
  WindowBuilder builder_;
  Tick first_;
  Tick last_;
};

}  // namespace

Bench::Bench(const SimulatedJob& job)
    : job_(job),
      clock_(job.unix_time),
      gpu_(job.sheet, clock_, gpu_options(job)),
      progress_(gpu_),
      sampler_(gpu_, clock_) {}

Result<void> Bench::start() {
  gpu_.start(job_.workload, job_.iterations);
  begin_ = clock_.now();
  last_ = begin_;
  ASSIGN_OR_RETURN(const Sample sample, gpu_.read(Sensor::kEnergy));
  first_energy_ = sample.energy;
  return {};
}

Result<StepPlan> Bench::watch() {
  std::vector<double> intervals_s;
  std::optional<Tick> last_tick;
  double clock_sum = 0;
  int clocks_seen = 0;
  while (gpu_.running() && (elapsed() < kWatch || intervals_s.size() < kWatchTicks)) {
    ASSIGN_OR_RETURN(const SamplerReading reading, poll());
    if (reading.sample.sm_clock) {
      clock_sum += reading.sample.sm_clock->value();
      ++clocks_seen;
    }
    if (reading.sample.memory_clock) default_values_.memory_clock = reading.sample.memory_clock;
    for (const Tick& tick : progress_.take()) {
      if (last_tick) intervals_s.push_back((tick.time - last_tick->time).value());
      last_tick = tick;
    }
  }
  if (intervals_s.empty()) {
    return Error{ErrorCode::kUsage, "the job ends before it can be measured",
                 "give it more --iterations"};
  }
  if (clocks_seen > 0) default_values_.sm_clock = Mhz(clock_sum / clocks_seen);
  default_values_.power_limit = gpu_.capabilities().default_power_limit;
  plan_ = plan_steps(intervals_s);
  return plan_;
}

Result<void> Bench::change_to(const Setting& setting) {
  for (const Knob knob : kAllKnobs) {
    if (!setting.has(knob)) RETURN_IF_ERROR(gpu_.reset(knob));
  }
  RETURN_IF_ERROR(all_applied(gpu_.apply(setting)));
  const Instant settled = clock_.now() + kSettle;
  while (gpu_.running() && clock_.now() < settled) RETURN_IF_ERROR(poll());
  return {};
}

Result<std::optional<Window>> Bench::measure(const Setting& setting, const Step& step) {
  const double wanted = std::isfinite(step.iterations) ? std::max(1.0, step.iterations) : 1;
  const Instant begin = clock_.now();
  int restarts = 0;
  std::optional<OpenWindow> open;
  progress_.take();  // those of before
  sampler_.want_energy_counter();
  while (gpu_.running()) {
    ASSIGN_OR_RETURN(const SamplerReading reading, poll());
    if (open) open->builder().add(reading);
    for (const Tick& tick : progress_.take()) {
      if (tick.time < begin) continue;  // of before, told late
      if (!open) {
        open.emplace(setting, tick);
      } else if (cuts(open->last(), tick)) {
        const bool enough = open->iterations() >= kEnough * wanted || ++restarts > kRestarts;
        if (enough && open->iterations() > 0) {
          ASSIGN_OR_RETURN(Window window, close(open->builder()));
          return std::optional(std::move(window));
        }
        open.emplace(setting, tick);
      } else {
        open->extend(tick);
        const bool whole = open->iterations() >= wanted;
        if (!whole && !open->too_slow(step)) continue;
        ASSIGN_OR_RETURN(Window window, close(open->builder()));
        window.aborted = !whole;
        return std::optional(std::move(window));
      }
    }
    if (open && open->builder().wants_energy_counter()) sampler_.want_energy_counter();
  }
  return std::optional<Window>();
}

Result<Window> Bench::close(WindowBuilder& builder) {
  for (int i = 0; i < kPatience && gpu_.running() && builder.wants_energy_counter(); ++i) {
    sampler_.want_energy_counter();
    ASSIGN_OR_RETURN(const SamplerReading reading, poll());
    builder.add(reading);
  }
  return builder.close();
}

std::optional<Joules> Bench::energy() {
  const auto sample = gpu_.read(Sensor::kEnergy);
  if (!first_energy_ || !sample || !sample->energy) return std::nullopt;
  return *sample->energy - *first_energy_;
}

Result<SamplerReading> Bench::poll() {
  clock_.sleep_until(sampler_.due());
  Result<SamplerReading> reading = sampler_.poll();
  last_ = clock_.now();
  return reading;
}

bool Bench::cuts(const Tick& before, const Tick& after) {
  if (after.time - before.time <= kPause * plan_.typical) return false;
  const auto apart = static_cast<double>(after.iteration - last_pause_);
  last_pause_ = after.iteration;
  return apart >= kUsual * plan_.window_iterations;
}

}  // namespace hypermile
