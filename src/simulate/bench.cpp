// SPDX-License-Identifier: Apache-2.0
#include "simulate/bench.h"

#include <algorithm>
#include <cmath>

#include "measure/window_meter.h"

namespace hypermile {
namespace {

constexpr Seconds kPoll = milliseconds(20);
constexpr Seconds kWatch = Seconds(3);  // at the default before anything is planned
constexpr std::size_t kWatchTicks = 9;
// A pause between two ticks is this much longer than an iteration. Pauses that come several times a
// Window are part of how the job runs; others end a Window that has enough iterations, or begin it
// anew, a few times. How far apart they are is counted in iterations: a clock must not change it.
constexpr double kPause = 4;
constexpr double kUsual = 1.0 / 3;  // of a Window as planned
constexpr double kEnough = 0.25;    // of the iterations asked for
constexpr int kRestarts = 2;
constexpr SensorSet kSensors =
    Sensor::kEnergy | Sensor::kPowerInstant | Sensor::kClocks | Sensor::kEventReasons;

SimGpuOptions gpu_options(const SimulatedJob& job) {
  SimGpuOptions options;
  options.seed = job.seed;
  options.effects = job.effects;
  return options;
}

// A Window that is being measured, from a tick to a tick. Samples count once a tick has shown that
// they lie within an iteration and not within a pause.
class OpenWindow {
 public:
  OpenWindow(const Setting& setting, const Tick& tick)
      : meter_(setting, tick.time, static_cast<double>(tick.iteration)),
        first_(tick),
        last_(tick) {}

  double iterations() const { return static_cast<double>(last_.iteration - first_.iteration); }
  const Tick& last() const { return last_; }

  void add(const Sample& sample) { pending_.push_back(sample); }
  void extend(const Tick& tick) {
    for (const Sample& sample : pending_) meter_.add(sample);
    pending_.clear();
    intervals_s_.push_back((tick.time - last_.time).value());
    last_ = tick;
  }
  bool too_slow(const Step& step) const {
    return step.abort_above && iterations() >= step.abort_after &&
           (last_.time - first_.time) / iterations() > *step.abort_above;
  }
  Window close() const {
    Window window = meter_.close(last_.time, static_cast<double>(last_.iteration));
    if (const double error = relative_error(intervals_s_); error > 0) window.time_error = error;
    return window;
  }

 private:
  WindowMeter meter_;
  Tick first_;
  Tick last_;
  std::vector<Sample> pending_;
  std::vector<double> intervals_s_;
};

}  // namespace

Bench::Bench(const SimulatedJob& job)
    : job_(job), clock_(job.unix_time), gpu_(job.sheet, clock_, gpu_options(job)), ticks_(gpu_) {}

Result<void> Bench::start() {
  gpu_.start(job_.workload, job_.iterations);
  begin_ = clock_.now();
  last_ = begin_;
  ASSIGN_OR_RETURN(const Sample sample, gpu_.read(kSensors));
  first_energy_ = sample.energy;
  return {};
}

Result<WindowPlan> Bench::watch() {
  std::vector<double> intervals_s;
  std::optional<Tick> last_tick;
  double clock_sum = 0;
  int clocks_seen = 0;
  while (gpu_.running() && (elapsed() < kWatch || intervals_s.size() < kWatchTicks)) {
    ASSIGN_OR_RETURN(const Sample sample, poll());
    if (sample.sm_clock) {
      clock_sum += sample.sm_clock->value();
      ++clocks_seen;
    }
    if (sample.memory_clock) default_values_.memory_clock = sample.memory_clock;
    for (const Tick& tick : ticks_.take()) {
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
  plan_ = plan_windows(intervals_s);
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
  int restarts = 0;
  std::optional<OpenWindow> open;
  ticks_.take();  // those of before
  while (gpu_.running()) {
    ASSIGN_OR_RETURN(const Sample sample, poll());
    for (const Tick& tick : ticks_.take()) {
      if (!open) {
        open.emplace(setting, tick);
      } else if (cuts(open->last(), tick)) {
        const bool enough = open->iterations() >= kEnough * wanted || ++restarts > kRestarts;
        if (enough && open->iterations() > 0) return std::optional(open->close());
        open.emplace(setting, tick);
      } else {
        open->extend(tick);
        const bool whole = open->iterations() >= wanted;
        if (!whole && !open->too_slow(step)) continue;
        Window window = open->close();
        window.aborted = !whole;
        return std::optional(std::move(window));
      }
    }
    if (open) open->add(sample);
  }
  return std::optional<Window>();
}

std::optional<Joules> Bench::energy() const {
  if (!first_energy_ || !last_energy_) return std::nullopt;
  return *last_energy_ - *first_energy_;
}

Result<Sample> Bench::poll() {
  clock_.advance(kPoll);
  ASSIGN_OR_RETURN(Sample sample, gpu_.read(kSensors));
  last_ = clock_.now();
  if (sample.energy) last_energy_ = sample.energy;
  return sample;
}

bool Bench::cuts(const Tick& before, const Tick& after) {
  if (after.time - before.time <= kPause * plan_.typical) return false;
  const auto apart = static_cast<double>(after.iteration - last_pause_);
  last_pause_ = after.iteration;
  return apart >= kUsual * plan_.window_iterations;
}

}  // namespace hypermile
