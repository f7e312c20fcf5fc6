// SPDX-License-Identifier: Apache-2.0
//
// What run and attach shall do about clocks, from their options.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options.h"
#include "control/controller.h"
#include "trial/sweeping/sweep_course.h"

namespace hypermile {

struct ControlChoice {
  bool observe = false;  // change nothing
  ControllerOptions controller;
  std::optional<std::string> cache;  // the file that remembers jobs; nullopt: none
  bool counters = false;             // read performance counters for features
  std::optional<std::string> model;  // of predictions; nullopt: the one that came with the program

  // A sweep in the policy's place; null: none. Must outlive the job.
  SweepCourse* sweep = nullptr;
  std::function<void(const SweepProgress&)> show_sweep = {};  // once a second
  bool end_job = false;  // once the sweep is complete; else the job runs on at the default
};

// kUsage, naming the option, for what makes no sense, so that it is said before the job starts.
Result<ControlChoice> read_control_choice(const OptionValues& values);

// The bound to be held, as a fraction; nullopt where nothing is changed or none is set.
std::optional<double> allowed_slowdown(const ControlChoice& choice);

}  // namespace hypermile
