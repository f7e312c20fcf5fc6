// SPDX-License-Identifier: Apache-2.0
//
// Judges whether the sensors of a Window, or pauses of the job, make it unusable. Called by
// WindowBuilder; pure functions that cannot fail. The text goes to Window::unusable, and from there
// to people and the event log; the kind is for callers that act on it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

struct Objection {
  std::string text;  // empty where nothing is wrong
  Refusal kind = Refusal::kOther;
};

// Summary of the Samples within a Window.
struct WindowSensors {
  std::optional<Mhz> sm_clock;      // mean
  std::optional<Mhz> memory_clock;  // mean
  // Relative error of the mean SM clock as an estimate of the long-term mean: a card at its power
  // limit wanders between clock steps, and a few changes of clock reveal little.
  double sm_clock_error = 0;
  // Share held down for any reason except an idle job and our own setting.
  double throttled_share = 0;
  // Share in which heat or the hardware held the clock down, which reveals nothing about the
  // Setting. A power cap is excluded, because it is how the Setting works on this card.
  double slowed_share = 0;
  // Share of the Samples in which the GPU had almost nothing to do.
  std::optional<double> idle_share;
};

WindowSensors summarize(std::span<const Sample> samples);

// Objects to a clock other than `setting`, and to an idle GPU.
Objection sensors_object(const Setting& setting, const WindowSensors& sensors);
// Objects to a card that heat or its hardware held back.
Objection heat_objects(const WindowSensors& sensors);

// Whether an energy counter that shows `disagreement` (counter / integral - 1) against the power
// samples is so far off that one of the two must be wrong. Real ones differ by a tenth, since the
// samples of many cards cover a part of the time.
bool disagree(double disagreement);
// Objects to energy that two sensors tell differently.
Objection energy_objects(const std::optional<double>& disagreement);

// Objects to one or two pauses that make up much of a Window; regular pauses are normal.
// `intervals_s` holds the seconds between consecutive Boundaries.
Objection pause_objects(std::span<const double> intervals_s);

}  // namespace hypermile
