// SPDX-License-Identifier: Apache-2.0
//
// The states of a Controller. docs/design/policies.md has the picture and every transition.
#pragma once

#include <string_view>

namespace hypermile {

enum class ControlState {
  kWarmUp,    // GPUs at their default: what the job is, and how long a Window must be, is not known
  kBaseline,  // measuring the default
  kSearch,    // measuring another Setting
  kHold,      // at the Setting kept, and still measuring
  kDrift,     // the job has changed: back to the default, everything is measured anew
  kIdle,      // the job pauses; its GPUs keep what they were told, which costs an idle GPU nothing
  kLeftAlone,  // nothing to gain here: the phase or the job is too short, or there is no choice
  kUnsure,     // progress, a GPU or the way to it is lost: at the default until it is back
  kRefused,    // GPUs may not be changed: observing
  kReleased,   // over: the GPUs are given back
};

std::string_view to_string(ControlState state);  // "warm_up", "baseline", …

}  // namespace hypermile
