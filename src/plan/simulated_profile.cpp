// SPDX-License-Identifier: Apache-2.0
#include "plan/simulated_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/random.h"

namespace hypermile {
namespace {

// Both passes of one layer by itself; a pass that runs nothing has no kernels.
struct AloneLayer {
  const Layer* layer = nullptr;
  std::array<PlanStage, 2> passes;
};

std::vector<AloneLayer> distinct_layers(const Network& network, Precision precision) {
  std::vector<AloneLayer> found;
  std::set<std::string> seen;
  for (const Layer& layer : network.layers) {
    if (!seen.insert(layer_key(layer.type, layer.in, layer.out, layer.params)).second) continue;
    AloneLayer alone;
    alone.layer = &layer;
    alone.passes[0].kernels = alone_kernels(layer, false, precision);
    alone.passes[1].kernels = alone_kernels(layer, true, precision);
    // Layers without a gradient are left out, as in a real profile.
    if (alone.passes[0].kernels.empty() || alone.passes[1].kernels.empty()) continue;
    found.push_back(std::move(alone));
  }
  return found;
}

}  // namespace

std::string simulated_profile(const Network& network, const GpuSheet& sheet,
                              const SimulatedProfile& how) {
  const std::vector<AloneLayer> layers = distinct_layers(network, how.precision);
  std::string csv =
      "model,batch,precision,layer,type,in_shape,out_shape,params,fwd_us,bwd_us,groups,setting,"
      "sm_mhz,mem_mhz,fwd_j,bwd_j,fwd_us_error,bwd_us_error,fwd_j_error,bwd_j_error,drift,drift_j,"
      "gpu,step_sm_mhz\n";
  if (layers.empty()) return csv;
  std::vector<PlanStage> stages;
  for (const AloneLayer& layer : layers) {
    stages.insert(stages.end(), layer.passes.begin(), layer.passes.end());
  }
  const CostTable table = make_cost_table(sheet, stages, how.kernels);
  StageOptions whole;
  whole.precision = how.precision;
  whole.l2_bytes = sheet.l2_mib * 1024 * 1024;
  const Mhz held =
      make_cost_table(sheet, make_stages(network, whole), how.kernels).choices.front().sm;
  Random random(how.seed);
  const auto noisy = [&](double value) { return value * (1 + how.noise * random.gaussian()); };
  for (const Setting& setting : how.settings) {
    const auto found = std::ranges::find(table.choices, setting, &Choice::setting);
    if (found == table.choices.end()) continue;
    const auto choice = static_cast<std::size_t>(found - table.choices.begin());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = *layers[i].layer;
      const StageCost& forward = table.at(2 * i, choice);
      const StageCost& backward = table.at(2 * i + 1, choice);
      const double f = noisy(1e6 * forward.time_s), b = noisy(1e6 * backward.time_s);
      const double fj = noisy(forward.energy_j), bj = noisy(backward.energy_j);
      const std::string groups =
          layer.op == OpClass::kConv ? fmt::format("{:.0f}", layer.product->count) : "";
      csv += fmt::format(
          "{},{},{},{},{},{},{},{:.0f},{:.6g},{:.6g},{},{},{:.0f},{:.0f},{:.6g},{:.6g},{:.6g},{:."
          "6g},"
          "{:.6g},{:.6g},1,1,{},{:.0f}\n",
          network.name, network.batch, to_string(how.precision), layer.name, layer.type,
          to_string(layer.in), to_string(layer.out), layer.params, f, b, groups, to_string(setting),
          found->sm.value(), found->memory.value(), fj, bj, how.noise * f, how.noise * b,
          how.noise * fj, how.noise * bj, sheet.name, held.value());
    }
  }
  return csv;
}

std::vector<Setting> offered_settings(const Network& network, const GpuSheet& sheet,
                                      Precision precision) {
  StageOptions options;
  options.precision = precision;
  std::vector<Setting> settings;
  for (const Choice& choice : make_cost_table(sheet, make_stages(network, options), {}).choices) {
    settings.push_back(choice.setting);
  }
  return settings;
}

}  // namespace hypermile
