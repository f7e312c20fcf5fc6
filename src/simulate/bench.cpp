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
// A pause between two ticks is this much longer than an iteration. More than so many within one
// Window: the job's iterations are like that.
constexpr double kPause = 4;
constexpr int kRestarts = 2;
constexpr SensorSet kSensors =
    Sensor::kEnergy | Sensor::kPowerInstant | Sensor::kClocks | Sensor::kEventReasons;

SimGpuOptions gpu_options(const SimulatedJob& job) {
  SimGpuOptions options;
  options.seed = job.seed;
  options.effects = job.effects;
  return options;
}

// A Window that is being measured, from a tick on.
class OpenWindow {
 public:
  OpenWindow(const Setting& setting, const Tick& tick)
      : meter_(setting, tick.time, static_cast<double>(tick.iteration)), first_(tick) {}

  void add(const Sample& sample) { meter_.add(sample); }
  std::vector<double>& intervals() { return intervals_; }
  double iterations() const { return static_cast<double>(intervals_.size()); }

  bool too_slow(const Step& step, Instant now) const {
    return step.abort_above && iterations() >= step.abort_after &&
           (now - first_.time) / iterations() > *step.abort_above;
  }
  Window close(const Tick& tick) const {
    Window window = meter_.close(tick.time, static_cast<double>(tick.iteration));
    if (const double error = relative_error(intervals_); error > 0) window.time_error = error;
    return window;
  }

 private:
  WindowMeter meter_;
  Tick first_;
  std::vector<double> intervals_;
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
  double clock_sum = 0;
  int clocks_seen = 0;
  while (gpu_.running() && (elapsed() < kWatch || intervals_s.size() < kWatchTicks)) {
    ASSIGN_OR_RETURN(const Sample sample, poll());
    if (sample.sm_clock) {
      clock_sum += sample.sm_clock->value();
      ++clocks_seen;
    }
    if (sample.memory_clock) default_values_.memory_clock = sample.memory_clock;
    for (const Tick& tick : ticks_.take()) pass(tick, intervals_s);
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
  std::optional<OpenWindow> open;
  ticks_.take();  // those of before
  pauses_in_a_row_ = 0;
  while (gpu_.running()) {
    ASSIGN_OR_RETURN(const Sample sample, poll());
    for (const Tick& tick : ticks_.take()) {
      if (!open) {
        open.emplace(setting, tick);
        last_tick_ = tick;
        continue;
      }
      pass(tick, open->intervals());
      if (interrupted(open->intervals())) {
        open.emplace(setting, tick);
        continue;
      }
      const bool abort = open->iterations() < wanted && open->too_slow(step, tick.time);
      if (open->iterations() < wanted && !abort) continue;
      Window window = open->close(tick);
      window.aborted = abort;
      return std::optional(std::move(window));
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

void Bench::pass(const Tick& tick, std::vector<double>& intervals_s) {
  if (last_tick_ && tick.iteration == last_tick_->iteration + 1) {
    intervals_s.push_back((tick.time - last_tick_->time).value());
  }
  last_tick_ = tick;
}

bool Bench::interrupted(const std::vector<double>& intervals_s) {
  if (pauses_are_usual_ || intervals_s.empty()) return false;
  if (intervals_s.back() <= kPause * plan_.typical.value()) return false;
  pauses_are_usual_ = ++pauses_in_a_row_ > kRestarts;
  return true;
}

}  // namespace hypermile
