// SPDX-License-Identifier: Apache-2.0
//
// How a plan is shown: the JSON document that scripts read (docs/design/planner.md), tables for
// people, and a page. `hypermile plan` calls it (src/cli/plan.cpp).
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

// A report, with the network, GPU and options that it was made for.
struct PlanDocument {
  Network network;
  GpuSheet sheet;
  PlanOptions options;
  std::string phase;  // "forward", "backward" or "train", as typed
  PlanReport report;
  std::optional<CalibrationUsed> calibration = {};
};

nlohmann::json to_json(const PlanDocument& document);
// `every_layer`: shows all layers, not only the longest.
std::string to_table(const PlanDocument& document, bool every_layer);
// One HTML file without scripts: roofline, timeline of the layers coloured by setting, time against
// energy.
std::string plan_page(const PlanDocument& document);

}  // namespace hypermile
