// SPDX-License-Identifier: Apache-2.0
//
// Why a Window must not be used for a decision: what its sensors and pauses say against it.
// WindowBuilder asks. The text goes to Window::unusable and from there to people and the event log;
// the kind is for those who act on it.
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
  std::string text;  // empty: nothing is wrong
  Refusal kind = Refusal::kOther;
};

// Of the Samples within a Window.
struct WindowSensors {
  std::optional<Mhz> sm_clock;      // mean
  std::optional<Mhz> memory_clock;  // mean
  // How far the mean SM clock may lie from that of a longer time, relative: a card at its power
  // limit wanders between steps, and what a few changes of clock tell is little.
  double sm_clock_error = 0;
  double throttled_share = 0;  // any reason but the job and our own request
  // Held down by heat or by the hardware: what a Setting does then says nothing of what it does.
  // A power cap is not in it: it belongs to how a Setting works on this card.
  double slowed_share = 0;
  std::optional<double> idle_share;  // Samples in which the GPU had next to nothing to do
};

WindowSensors summarize(std::span<const Sample> samples);

Objection sensors_object(const Setting& setting, const WindowSensors& sensors);
// Against a card that was held back by heat or by its hardware.
Objection heat_objects(const WindowSensors& sensors);

// Seconds of each interval between two Boundaries. A pause or two that make up much of a Window
// make it unlike the others; pauses that come all the time are how the job runs.
Objection pause_objects(std::span<const double> intervals_s);

}  // namespace hypermile
