// SPDX-License-Identifier: Apache-2.0
#include "lease/gpu_port.h"

namespace hypermile {

std::string_view to_string(RestoreHow how) {
  switch (how) {
    case RestoreHow::kUntouched:
      return "was not changed";
    case RestoreHow::kReset:
      return "reset to the driver's default";
    case RestoreHow::kBaseline:
      return "set back to its baseline";
    case RestoreHow::kForeign:
      return "left as another program has set it";
    case RestoreHow::kGone:
      break;
  }
  return "already undone by a restart of the machine or driver";
}

}  // namespace hypermile
