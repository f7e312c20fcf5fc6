// SPDX-License-Identifier: Apache-2.0
#include "run/expected_saving.h"

#include "gpu/setting_grid.h"

namespace hypermile {

std::optional<Expectation> expected_saving(const Session& session, const RunSummary& summary,
                                           const ControllerOptions& options) {
  if (summary.processes.empty() || summary.processes.front().phases.empty()) return std::nullopt;
  const PhaseReport& phase = summary.processes.front().phases.front();
  const std::vector<const GpuWatch*> gpus = session.gpus();
  if (gpus.empty() || !gpus.front()->opened() || !phase.cost || !phase.cost->power_w ||
      !phase.cost->sm_mhz) {
    return std::nullopt;
  }
  const Mhz sm_clock(phase.cost->sm_mhz->value);
  const Capabilities& card = gpus.front()->capabilities();
  if (card.barrier != ControlBarrier::kNone) return std::nullopt;
  PolicyContext context;
  context.objective = options.objective;
  context.default_values.sm_clock = sm_clock;
  context.default_values.power_limit = card.default_power_limit;
  context.settings = setting_grid(card, context.default_values, options.knobs);
  Window window;
  window.power = Watts(phase.cost->power_w->value);
  window.sm_clock = sm_clock;
  return expect_saving(context, window);
}

}  // namespace hypermile
