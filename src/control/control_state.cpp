// SPDX-License-Identifier: Apache-2.0
#include "control/control_state.h"

namespace hypermile {

std::string_view to_string(ControlState state) {
  switch (state) {
    case ControlState::kWarmUp:
      return "warm_up";
    case ControlState::kBaseline:
      return "baseline";
    case ControlState::kSearch:
      return "search";
    case ControlState::kHold:
      return "hold";
    case ControlState::kDrift:
      return "drift";
    case ControlState::kIdle:
      return "idle";
    case ControlState::kLeftAlone:
      return "left_alone";
    case ControlState::kUnsure:
      return "unsure";
    case ControlState::kRefused:
      return "refused";
    case ControlState::kReleased:
      return "released";
  }
  return "released";
}

}  // namespace hypermile
