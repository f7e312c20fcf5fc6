// SPDX-License-Identifier: Apache-2.0
#include "measure/window_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/slope.h"

namespace hypermile {
namespace {

// GPU times are used where there are enough of them for an error and they cover most of the Window.
constexpr std::size_t kFewestGpuTimes = 4;
constexpr double kGpuTimesCover = 0.8;
// Share of the iterations that whole rounds must hold to be used.
constexpr double kRoundsCover = 0.5;
// Energy is taken at the counter's steps while an iteration is shorter than this share of the time
// between two steps that were read. A longer iteration spans several of these intervals, which are
// then more alike than a few points can reveal.
constexpr double kShortIteration = 0.2;
// An iteration of at least this length deserves a counter read of its own.
constexpr Seconds kLongIteration = milliseconds(200);
// A host runs ahead of its GPU and waits for it now and then, so its times mean nothing until it
// has waited several times.
constexpr std::size_t kFewestHostTimes = 24;
// Relative error of energy between two counter steps, at best.
constexpr double kFinest = 3e-5;
// The same where power samples fill a long time between two counter reads.
constexpr double kFinestBetweenReads = 5e-4;

std::optional<double> at_best(const std::optional<double>& error, double finest) {
  return error ? std::optional(std::hypot(*error, finest)) : std::nullopt;
}

// Time varies at most in proportion to the clock, and so does power at a power limit.
void widen(std::optional<double>& error, double clock_error) {
  if (error) error = std::hypot(*error, clock_error);
}

}  // namespace

WindowBuilder::WindowBuilder(WindowTerms terms) : terms_(std::move(terms)) {}

void WindowBuilder::add(const Boundary& boundary, bool behind_pause) {
  if (boundary.pattern.phase != terms_.pattern.phase) {
    ended_ = ended_ || !boundaries_.empty();
    return;
  }
  if (ended_ || boundary.pattern.level != terms_.pattern.level) return;
  if (behind_pause) behind_pauses_.push_back(boundaries_.size());
  boundaries_.push_back(boundary);
}

void WindowBuilder::add(const SamplerReading& reading) {
  samples_.push_back(reading.sample);
  if (reading.step) steps_.push_back(*reading.step);
  history_.insert(history_.end(), reading.history.begin(), reading.history.end());
  if (!ended_ && !boundaries_.empty()) {
    counter_stands_still_ = counter_stands_still_ || reading.counter_stands_still;
  }
}

void WindowBuilder::add(std::span<const GpuProcess> processes) {
  if (terms_.job_processes.empty()) return;
  for (const GpuProcess& process : processes) {
    if (std::ranges::find(terms_.job_processes, process.pid) == terms_.job_processes.end()) {
      refuse(fmt::format("another process (pid {}) used the GPU", process.pid));
    }
  }
}

void WindowBuilder::refuse(std::string reason) {
  if (refusal_.empty()) refusal_ = std::move(reason);
}

double WindowBuilder::iterations() const {
  double sum = 0;
  for (std::size_t i = 1; i < boundaries_.size(); ++i) sum += boundaries_[i].iterations;
  return sum;
}

Seconds WindowBuilder::span() const {
  if (boundaries_.empty()) return Seconds(0);
  return boundaries_.back().time - boundaries_.front().time;
}

std::optional<Instant> WindowBuilder::first() const {
  return boundaries_.empty() ? std::nullopt : std::optional(boundaries_.front().time);
}

bool WindowBuilder::wants_energy_counter() const {
  if (boundaries_.empty() || ended_) return false;
  const Instant newest = boundaries_.back().time;
  if (!steps_.empty() && steps_.back().time > newest) return false;
  return boundaries_.size() == 1 ||
         newest - boundaries_[boundaries_.size() - 2].time >= kLongIteration;
}

std::vector<WindowBuilder::Crossing> WindowBuilder::crossings(bool& gpu_timed) const {
  std::vector<Crossing> host;
  std::vector<Crossing> gpu;
  // A launch always precedes its work on the GPU. The two time axes are aligned at the Boundary
  // where the host is least ahead.
  std::optional<Seconds> offset;
  double iteration = 0;
  for (std::size_t i = 0; i < boundaries_.size(); ++i) {
    const Boundary& boundary = boundaries_[i];
    if (i > 0) iteration += boundary.iterations;
    host.push_back({iteration, boundary.time});
    if (!boundary.gpu_time) continue;
    gpu.push_back({iteration, Instant() + *boundary.gpu_time});
    const Seconds ahead = boundary.time.since_origin() - *boundary.gpu_time;
    offset = offset ? std::max(*offset, ahead) : ahead;
  }
  gpu_timed = gpu.size() >= kFewestGpuTimes &&
              gpu.back().iteration - gpu.front().iteration >= kGpuTimesCover * iteration;
  if (!gpu_timed) return host;
  for (Crossing& crossing : gpu) crossing.time = crossing.time + *offset;
  return gpu;
}

// Ends of whole rounds; empty where fewer than two were seen. A job that pauses regularly must be
// measured in whole rounds, because one pause more or less changes a Window's time by more than any
// clock does. Host times are exact here: behind a pause the host is not ahead of its GPU.
std::vector<WindowBuilder::Crossing> WindowBuilder::rounds() const {
  std::vector<Crossing> ends;
  double iteration = 0;
  auto pause = behind_pauses_.begin();
  for (std::size_t i = 0; i < boundaries_.size() && pause != behind_pauses_.end(); ++i) {
    if (i > 0) iteration += boundaries_[i].iterations;
    if (*pause != i) continue;
    ends.push_back({iteration, boundaries_[i].time});
    ++pause;
  }
  const bool whole = ends.size() >= 2 &&
                     ends.back().iteration - ends.front().iteration >= kRoundsCover * iterations();
  return whole ? ends : std::vector<Crossing>();
}

Window WindowBuilder::close() const {
  Window window;
  window.setting = terms_.setting;
  window.pattern = terms_.pattern;
  window.first_iteration = terms_.first_iteration;
  window.iterations = iterations();
  window.duration = span();
  window.unusable = refusal_;
  const auto object = [&](Objection against) {
    if (!window.unusable.empty()) return;
    window.unusable = std::move(against.text);
    window.refusal = against.kind;
  };
  if (boundaries_.size() < 2 || !(window.duration > Seconds(0))) {
    if (!boundaries_.empty()) window.begin = boundaries_.front().time;
    object({"the job made no iteration"});
    return window;
  }
  window.begin = boundaries_.front().time;
  std::vector<Crossing> crossed = crossings(window.gpu_timed);
  if (auto ends = rounds(); !ends.empty()) crossed = std::move(ends);
  object(too_short(window));
  measure_time(crossed, window);
  measure_energy(crossed, window);

  const WindowSensors sensors = sensors_within(window.begin, boundaries_.back().time);
  window.sm_clock = sensors.sm_clock;
  window.memory_clock = sensors.memory_clock;
  window.throttled_share = sensors.throttled_share;
  widen(window.time_error, sensors.sm_clock_error);
  widen(window.energy_error, sensors.sm_clock_error);
  object(sensors_object(terms_.setting, sensors));
  if (!terms_.pauses_belong) object(pauses());
  if (counter_stands_still_) object({"the energy counter stands still"});
  if (!window.time_per_iteration) object({"the times of the iterations do not increase"});
  object(energy_objects(window.energy_disagreement));
  if (!window.power) object({"power is not known", Refusal::kNoPower});
  object(heat_objects(sensors));
  return window;
}

Objection WindowBuilder::too_short(const Window& window) const {
  const bool launches_alone = !window.gpu_timed && boundaries_.front().launch > 0;
  const bool few = launches_alone && (boundaries_.size() < kFewestHostTimes ||
                                      window.duration < terms_.shortest_on_host);
  if (!few && window.iterations >= terms_.fewest_iterations && window.duration >= terms_.shortest) {
    return {};
  }
  return {fmt::format("too short: {:.0f} iterations in {:.2f} s{}{}", window.iterations,
                      window.duration.value(), few ? " on the host's clock alone" : "",
                      ended_ ? " before the phase changed" : "")};
}

Objection WindowBuilder::pauses() const {
  std::vector<double> intervals;
  for (std::size_t i = 1; i < boundaries_.size(); ++i) {
    intervals.push_back((boundaries_[i].time - boundaries_[i - 1].time).value());
  }
  return pause_objects(intervals);
}

void WindowBuilder::measure_time(std::span<const Crossing> crossed, Window& window) const {
  std::vector<SlopePoint> points;
  for (const Crossing& crossing : crossed) {
    points.push_back({crossing.iteration, (crossing.time - crossed.front().time).value()});
  }
  const auto slope = estimate_slope(points);
  if (!slope) return;
  window.time_per_iteration = Seconds(slope->value);
  window.time_error = slope->error;
}

EnergyCurve WindowBuilder::energy_curve() const {
  std::vector<TimedPower> readings;
  for (const Sample& sample : samples_) {
    const auto& power = sample.power_instant ? sample.power_instant : sample.power_average;
    if (power) readings.push_back({sample.time, *power});
  }
  return EnergyCurve(steps_, history_, readings);
}

void WindowBuilder::measure_energy(std::span<const Crossing> crossed, Window& window) const {
  const EnergyCurve curve = energy_curve();
  const Instant begin = crossed.front().time;
  const Instant end = crossed.back().time;
  std::vector<SlopePoint> over_time;
  std::vector<SlopePoint> over_iterations;
  auto crossing = crossed.begin();
  for (const EnergyCounterStep& knot : curve.knots()) {
    if (knot.time < begin || knot.time > end) continue;
    over_time.push_back({(knot.time - begin).value(), knot.energy.value()});
    while (crossing + 2 < crossed.end() && (crossing + 1)->time < knot.time) ++crossing;
    const Crossing& next = *(crossing + 1);
    const double share = (knot.time - crossing->time) / (next.time - crossing->time);
    over_iterations.push_back({crossing->iteration + share * (next.iteration - crossing->iteration),
                               knot.energy.value()});
  }
  const double knots = static_cast<double>(over_time.size());
  const Seconds each = (end - begin) / std::max(1.0, crossed.back().iteration);
  const bool between_reads = knots < 4 || each > kShortIteration * (end - begin) / knots;
  if (between_reads) {
    over_iterations.clear();
    over_time.clear();
    for (const Crossing& one : crossed) {
      if (const auto energy = curve.at(one.time)) {
        over_time.push_back({(one.time - begin).value(), energy->value()});
        over_iterations.push_back({one.iteration, energy->value()});
      }
    }
  }
  if (const auto power = estimate_slope(over_time)) {
    window.power = Watts(power->value);
    window.power_error = at_best(power->error, between_reads ? kFinestBetweenReads : kFinest);
  }
  if (const auto joules = estimate_slope(over_iterations)) {
    window.energy_per_iteration = Joules(joules->value);
    window.energy_error = at_best(joules->error, kFinest);
    window.energy = *window.energy_per_iteration * window.iterations;
  }
  if (over_time.size() >= 2) {
    window.energy_disagreement = curve.disagreement(begin + Seconds(over_time.front().x),
                                                    begin + Seconds(over_time.back().x));
  }
}

WindowSensors WindowBuilder::sensors_within(Instant from, Instant to) const {
  std::vector<Sample> within;
  std::ranges::copy_if(samples_, std::back_inserter(within), [&](const Sample& sample) {
    return sample.time >= from && sample.time <= to;
  });
  return summarize(within);
}

}  // namespace hypermile
