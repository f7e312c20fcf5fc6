// SPDX-License-Identifier: Apache-2.0
//
// Scripted faults of the NVML stand-in: "nvmlDeviceGetPowerUsage:15@3,*#1:lost@10+". Read from
// $HYPERMILE_SIM_FAULTS and from a file that may change while clients run. Every exported function
// consults the script first; each process counts its own calls.
//
//   item   = FUNCTION[#GPU]:ACTION[@WHEN]      FUNCTION may be * for every call on a GPU
//   ACTION = a return code | lost (15 for good) | hang | delay=20ms
//            | ignore (a setter succeeds and does nothing: the clock is never reached)
//   WHEN   = 3 (the third call) | 3+ (from the third on) | 3-5; without it every call
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

struct FaultItem {
  enum class Action { kReturn, kLost, kHang, kDelay, kIgnore };
  std::string function;
  std::optional<unsigned> gpu;
  Action action = Action::kReturn;
  nvml::Return code = nvml::kUnknown;
  Seconds delay = Seconds(0);
  unsigned long first = 1;
  unsigned long last = ~0UL;
  unsigned long calls = 0;  // calls that have matched so far
};

// kUsage names the wrong item and shows the syntax.
Result<std::vector<FaultItem>> parse_faults(std::string_view text);

// The faults of one call, combined over all matching items.
struct Fault {
  std::optional<nvml::Return> code;
  Seconds delay = Seconds(0);
  bool hang = false;
  bool ignore = false;
};

class FaultScript {
 public:
  FaultScript() = default;
  explicit FaultScript(std::vector<FaultItem> items) : items_(std::move(items)) {}

  bool empty() const { return items_.empty(); }
  // Counts the call and returns its faults. `gpu` is absent for functions of the whole library.
  Fault next(std::string_view function, std::optional<unsigned> gpu);

 private:
  std::vector<FaultItem> items_;
};

}  // namespace hypermile
