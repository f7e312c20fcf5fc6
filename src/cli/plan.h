// SPDX-License-Identifier: Apache-2.0
//
// How a plan is shown: the JSON document of the contract, tables for people. plan.cpp is the
// command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "plan/calibrate.h"
#include "plan/plan_report.h"

namespace hypermile {

struct CalibrationUsed {
  std::string file;
  CalibrationScore score;
};

// A report with what it is about.
struct PlanDocument {
  Network network;
  GpuSheet sheet;
  PlanOptions options;
  std::string phase;  // as it was asked for
  PlanReport report;
  std::optional<CalibrationUsed> calibration = {};
};

nlohmann::json to_json(const PlanDocument& document);
// `every_layer`: all of them instead of the longest.
std::string to_table(const PlanDocument& document, bool every_layer);
// A page on its own: roofline, timeline of the layers coloured by Setting, time against energy.
std::string plan_page(const PlanDocument& document);

}  // namespace hypermile
