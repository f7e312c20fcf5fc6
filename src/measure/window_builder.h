// SPDX-License-Identifier: Apache-2.0
//
// Makes one Window out of what comes in while a job runs at one Setting: Boundaries of its
// iterations, Samples of the sensors and the card's own buffer of power samples. `run`, `simulate`
// and the controller use it alike.
//
//   WindowBuilder builder({.setting = setting, .pattern = boundary.pattern});
//   … builder.add(boundary); builder.add(*sampler.poll()); …
//   if (builder.span() >= wanted) Window window = builder.close();
//
// A Window runs from its first Boundary to its last. Time per iteration is the slope of time over
// iterations, on the GPU's own axis where the Boundaries carry it; energy per iteration is the
// slope of energy over iterations, taken at the steps of the energy counter (or, where iterations
// last longer than a step, at the Boundaries, between two steps by the power samples in between).
// Errors come from slope.h, which knows that neighbouring iterations resemble each other and that a
// single reading may be off.
//
// What must not be used for a decision is refused: close() then says why in Window::unusable. The
// figures are filled in all the same, for people to read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "measure/energy_curve.h"
#include "measure/sampler.h"
#include "measure/window.h"
#include "measure/window_refusal.h"
#include "progress/boundary.h"

namespace hypermile {

// What the Window is of, and what it must fulfil.
struct WindowTerms {
  Setting setting = {};        // in force for all of it; empty is the driver's default
  PatternId pattern = {};      // Boundaries of other levels are passed over; another phase ends it
  double first_iteration = 0;  // how far the job had come at the first Boundary
  double fewest_iterations = 2;
  Seconds shortest = Seconds(0.5);  // five steps of a counter that moves every 100 ms
  // The caller has cut out pauses that do not belong to the job; those left are how it runs.
  bool pauses_belong = false;
  // Processes that belong to the job; with some given, any other on the GPU is a co-tenant.
  std::vector<std::int64_t> job_processes = {};
};

class WindowBuilder {
 public:
  explicit WindowBuilder(WindowTerms terms);

  // Each kind in order of its time; the kinds may come in any order among each other, so that a
  // sensor may be read late. Readings from before the first Boundary are welcome: the steps around
  // it fix the energy there. `behind_pause`: the job paused before it, as it always does after so
  // many iterations. Iterations and pauses are then measured in whole rounds: from the first
  // Boundary behind one pause to that behind another.
  void add(const Boundary& boundary, bool behind_pause = false);
  void add(const SamplerReading& reading);
  // Who was seen on the GPU.
  void add(std::span<const GpuProcess> processes);
  // Whoever knows a reason of their own (the pattern broke, the job was stopped); the first counts.
  void refuse(std::string reason);

  double iterations() const;             // from the first Boundary to the last
  Seconds span() const;                  // the same, on the host's clock
  std::optional<Instant> first() const;  // Boundary
  // Another phase has begun: nothing is added any more, and close() gives what was until then.
  bool ended() const { return ended_; }
  // Iterations are long and no step of the counter is known behind the newest Boundary yet: a read
  // now (Sampler::want_counter) would fix the energy there.
  bool wants_counter() const;
  // close() would refuse for something that no waiting heals.
  bool spoiled() const { return !refusal_.empty(); }

  Window close() const;

 private:
  struct Crossing {
    double iteration = 0;  // since the first Boundary
    Instant time;          // of the host; or the GPU's, moved onto the host's axis
  };

  // Boundaries on one time axis: the GPU's where enough of them carry it.
  std::vector<Crossing> crossings(bool& gpu_timed) const;
  std::vector<Crossing> rounds() const;
  void measure_time(std::span<const Crossing> crossings, Window& window) const;
  void measure_energy(std::span<const Crossing> crossings, Window& window) const;
  EnergyCurve energy_curve() const;
  Objection too_short(const Window& window) const;
  Objection pauses() const;
  WindowSensors sensors_within(Instant from, Instant to) const;

  WindowTerms terms_;
  std::vector<Boundary> boundaries_;
  std::vector<std::size_t> behind_pauses_;  // indices of boundaries_
  std::vector<Sample> samples_;
  std::vector<CounterStep> steps_;
  std::vector<TimedPower> history_;
  bool counter_stands_still_ = false;
  bool ended_ = false;
  std::string refusal_;
};

}  // namespace hypermile
