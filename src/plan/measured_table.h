// SPDX-License-Identifier: Apache-2.0
//
// Puts measured layers into a cost table. Where a layer was measured at a setting, the measurement
// decides; between two measured SM clocks of one memory clock the ratio of measurement to model is
// interpolated; elsewhere the model is scaled by what was measured. Each cell says which of these
// it is, and has standard errors. Called by plan_report.cpp; pure.
//
// A layer measured alone finds nothing in the cache, and adds its gradients to others. Inside a
// network it does not, so every measurement is multiplied by the model's ratio of the two.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/cost_table.h"
#include "plan/measured_file.h"

namespace hypermile {

enum class CellOrigin : std::uint8_t { kMeasured, kInterpolated, kModelled };
std::string_view to_string(CellOrigin origin);  // "measured", "interpolated", "modelled"

struct Cell {
  CellOrigin time = CellOrigin::kModelled;
  CellOrigin energy = CellOrigin::kModelled;
  double time_error = 0;  // standard errors, as shares of the cost
  double energy_error = 0;
  // Cells with the same source have the same error, because they come from the same rows of the
  // file. 0 for what only the model says.
  std::uint32_t source = 0;
};

struct MeasuredTable {
  CostTable table;
  std::vector<Cell> cells;  // like table.costs

  std::size_t layers = 0;   // stages that the file has at the default or elsewhere
  double covered_time = 0;  // their share of the default's time
  double time_ratio = 1;    // of measured to modelled, all measured stages at the default
  double energy_ratio = 1;
  double model_error = 0;  // scatter of single layers around that ratio, as a share

  const Cell& cell(std::size_t stage, std::size_t choice) const {
    return cells[stage * table.choices.size() + choice];
  }
};

// Returns kUsage where no stage was measured, or where the file is about another card.
Result<MeasuredTable> apply_measured(const MeasuredLayers& measured, const GpuSheet& sheet,
                                     const std::vector<PlanStage>& stages,
                                     const Efficiency& efficiency, CostTable modelled);

}  // namespace hypermile
