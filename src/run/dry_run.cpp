// SPDX-License-Identifier: Apache-2.0
#include "run/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "gpu/setting_grid.h"
#include "run/clock_access.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

using nlohmann::json;

constexpr unsigned kMostGpus = 64;  // more than any machine has

// The GPU that was named, or those that a job with this environment sees.
Result<std::vector<OpenedGpu>> open_gpus(const std::optional<std::string>& named,
                                         const Environment& environment, Clock& clock) {
  std::vector<OpenedGpu> gpus;
  if (named) {
    ASSIGN_OR_RETURN(OpenedGpu gpu, open_named_gpu(*named, clock, 1));
    gpus.push_back(std::move(gpu));
    return gpus;
  }
  for (unsigned device = 0; device < kMostGpus; ++device) {
    Result<OpenedGpu> gpu = open_visible_gpu(environment.get("CUDA_VISIBLE_DEVICES"),
                                             environment.get("CUDA_DEVICE_ORDER"), device, clock);
    if (!gpu && gpus.empty()) return gpu.error();
    if (!gpu) break;
    gpus.push_back(std::move(gpu).value());
  }
  return gpus;
}

// The settings that the search would choose from. The default's clock under load is not known on an
// idle card, so the highest clock that the card lists stands for it.
std::vector<Setting> grid_of(const Capabilities& card, const std::vector<Knob>& knobs) {
  Setting usual;
  if (!card.sm_clocks.empty()) usual.sm_clock = card.sm_clocks.front();
  if (!card.memory_clocks.empty()) usual.memory_clock = card.memory_clocks.front();
  usual.power_limit = card.default_power_limit;
  return setting_grid(card, usual, knobs);
}

json json_of(const Gpu& gpu, const std::vector<Setting>& grid) {
  json j = {{"uuid", gpu.identity().uuid.text()},
            {"name", gpu.identity().name},
            {"settings", grid.size()},
            {"controllable", gpu.capabilities().barrier == ControlBarrier::kNone}};
  if (grid.size() > 1) {
    j["lowest"] = to_string(grid.back());
    j["highest"] = to_string(grid[1]);
  }
  return j;
}

json describe(const DryRunJob& job, const ControlRequest& control, const ClockAccess& access) {
  json j = {{"command", job.command},
            {"observe", control.observe},
            {"policy", control.controller.policy},
            {"objective", to_string(control.controller.objective)},
            {"knobs", json::array()},
            {"gpus", json::array()}};
  if (!job.user.empty()) j["user"] = job.user;
  if (const auto bound = effective_bound(control.controller.objective)) j["max_slowdown"] = *bound;
  for (const Knob knob : control.controller.knobs) j["knobs"].push_back(to_string(knob));
  if (control.controller.job_iterations) j["iterations"] = *control.controller.job_iterations;
  if (control.cache) j["cache"] = *control.cache;
  if (!control.observe) j["rights"] = access.way;
  if (!control.observe && access.refused) j["refused"] = access.refused->line();
  return j;
}

std::string or_guessed(const json& j, const char* key, const char* otherwise) {
  return j.contains(key) ? fmt::format("{:.0f}", j[key].get<double>()) : otherwise;
}

void print(const json& j, std::ostream& out) {
  if (!j["command"].empty()) {
    out << fmt::format("job         {}{}\n",
                       fmt::join(j["command"].get<std::vector<std::string>>(), " "),
                       j.contains("user") ? ", as " + j["user"].get<std::string>() : "");
  }
  for (const json& gpu : j["gpus"]) {
    out << fmt::format("GPU         {} ({}), {} settings", gpu["name"].get<std::string>(),
                       gpu["uuid"].get<std::string>(), gpu["settings"].get<std::size_t>());
    if (gpu.contains("lowest")) {
      out << fmt::format(" from {} down to {}", gpu["highest"].get<std::string>(),
                         gpu["lowest"].get<std::string>());
    }
    out << (gpu["controllable"].get<bool>() ? "\n" : "; shared or virtual: not controlled\n");
  }
  if (j.contains("no_gpu")) out << "GPU         " << j["no_gpu"].get<std::string>() << "\n";
  if (j["observe"].get<bool>()) {
    out << "clocks      not changed: --observe\n";
    return;
  }
  out << "rights      " << j["rights"].get<std::string>() << "\n";
  if (j.contains("refused")) {
    out << "clocks      not changed: " << j["refused"].get<std::string>() << "\n";
  }
  out << fmt::format("minimise    {}{}\n", j["objective"].get<std::string>(),
                     j.contains("max_slowdown") ? fmt::format(", at most {:.1f} % slower",
                                                              100 * j["max_slowdown"].get<double>())
                                                : "");
  out << fmt::format("policy      {} over {}\n", j["policy"].get<std::string>(),
                     fmt::join(j["knobs"].get<std::vector<std::string>>(), ", "));
  out << "iterations  " << or_guessed(j, "iterations", "guessed as the job runs") << "\n";
  out << "cache       " << (j.contains("cache") ? j["cache"].get<std::string>() : "none") << "\n";
}

}  // namespace

Result<void> print_dry_run(const DryRunJob& job, const Environment& environment,
                           const RunRequest& request, const RunWorld& world) {
  const ControlRequest& control = request.control;
  json j = describe(job, control, control.observe ? ClockAccess{} : plan_clock_access());
  const auto gpus = open_gpus(request.gpu, environment, world.clock);
  if (!gpus && gpus.error().code == ErrorCode::kUsage) return gpus.error();
  if (!gpus) {
    j["no_gpu"] = gpus.error().line();
  } else {
    for (const OpenedGpu& gpu : *gpus) {
      j["gpus"].push_back(
          json_of(*gpu.gpu, grid_of(gpu.gpu->capabilities(), control.controller.knobs)));
    }
  }
  if (request.report.json) {
    world.out << j.dump() << "\n";
  } else {
    print(j, world.out);
  }
  return {};
}

}  // namespace hypermile
