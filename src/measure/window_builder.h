// SPDX-License-Identifier: Apache-2.0
//
// Makes one Window from what is observed while a job runs at one Setting: Boundaries of its
// iterations, Samples of the sensors, and the card's own buffer of power samples. `run`, `attach`
// and the controller use it on their loop's thread.
//
//   WindowBuilder builder({.setting = setting, .pattern = boundary.pattern});
//   … builder.add(boundary); builder.add(*sampler.poll()); …
//   if (builder.span() >= wanted) Window window = builder.close();
//
// A Window runs from its first Boundary to its last. Time per iteration is the slope of time over
// iterations, in GPU time where the Boundaries carry it. Energy per iteration is the slope of
// energy over iterations, taken at the steps of the energy counter; where iterations last longer
// than a step, it is taken at the Boundaries, interpolated between two steps by the power samples.
// Errors come from slope.h, which allows for similar neighbouring iterations and for single
// readings that are off.
//
// Nothing here fails. close() gives the reason why a Window is unusable in Window::unusable, and
// still fills in the figures for people to read.
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

// Conditions under which the Window is measured, and what makes it usable.
struct WindowTerms {
  Setting setting = {};        // in force for the whole Window; empty means the driver's default
  PatternId pattern = {};      // Boundaries of other levels are ignored; another phase ends it
  double first_iteration = 0;  // iterations that the job had done at the first Boundary
  double fewest_iterations = 2;
  Seconds shortest = Seconds(0.5);  // five steps of a counter that moves every 100 ms
  // The same where launches alone tell the time: a host that runs ahead may be further ahead at the
  // end of a Window than at its begin.
  Seconds shortest_on_host = Seconds(0.5);
  // True where the caller has already cut out pauses foreign to the job: those left are normal.
  bool pauses_belong = false;
  // Processes that belong to the job. Unless empty, any other process on the GPU is a co-tenant.
  std::vector<std::int64_t> job_processes = {};
};

class WindowBuilder {
 public:
  explicit WindowBuilder(WindowTerms terms);

  // Boundaries, readings and processes may interleave freely, but each kind comes in order of time.
  // Readings from before the first Boundary are useful: the counter steps around it fix the energy
  // there. `behind_pause` says that the job paused just before this Boundary, as it does regularly;
  // such a job is measured in whole rounds, each from the first Boundary behind one pause to the
  // first behind another.
  void add(const Boundary& boundary, bool behind_pause = false);
  void add(const SamplerReading& reading);
  // The processes that were on the GPU at one moment.
  void add(std::span<const GpuProcess> processes);
  // Makes the Window unusable for a reason that the caller knows (the pattern broke, the job was
  // stopped). The first reason stays.
  void refuse(std::string reason);

  double iterations() const;             // from the first Boundary to the last
  Seconds span() const;                  // from the first Boundary to the last, on the host's clock
  std::optional<Instant> first() const;  // time of the first Boundary
  // True once another phase has begun: further input is ignored, and close() gives the Window up to
  // there.
  bool ended() const { return ended_; }
  // True where iterations are long and no counter step after the newest Boundary is known yet: a
  // read now (Sampler::want_energy_counter) would fix the energy there.
  bool wants_energy_counter() const;
  // True where the Window is already unusable, however much longer it lasts.
  bool spoiled() const { return !refusal_.empty(); }

  Window close() const;

 private:
  struct Crossing {
    double iteration = 0;  // since the first Boundary
    Instant time;          // host time, or GPU time shifted onto the host's axis
  };

  // All Boundaries on one time axis: GPU time where enough of them carry it, else host time.
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
  std::vector<std::size_t> behind_pauses_;  // indices into boundaries_
  std::vector<Sample> samples_;
  std::vector<EnergyCounterStep> steps_;
  std::vector<TimedPower> history_;
  bool counter_stands_still_ = false;
  bool ended_ = false;
  std::string refusal_;
};

}  // namespace hypermile
