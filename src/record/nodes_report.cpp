// SPDX-License-Identifier: Apache-2.0
#include "record/nodes_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "record/figures_json.h"

namespace hypermile {
namespace {

// What the node's GPUs kept in the phase in which most of the time was spent; nullopt: nothing.
std::optional<Setting> kept_on(const RunDigest& run) {
  const std::vector<JobPhase> phases = run.figures().job_phases();
  if (phases.empty() || !phases.front().kept) return std::nullopt;
  return phases.front().kept->setting;
}

// Nodes that wait for the others keep a lower SM clock than those that set the pace.
std::vector<bool> waiting(std::span<const NodeRun> nodes) {
  std::vector<double> clocks;
  for (const NodeRun& node : nodes) {
    const auto kept = kept_on(*node.run);
    clocks.push_back(kept && kept->sm_clock ? kept->sm_clock->value() : 0);
  }
  const double highest = clocks.empty() ? 0 : *std::ranges::max_element(clocks);
  std::vector<bool> waits;
  for (const double clock : clocks) waits.push_back(clock > 0 && clock < highest);
  return waits;
}

// Sums over nodes, each absent where a node does not tell.
struct WholeJob {
  std::optional<double> joules = 0.0, default_joules = 0.0, time_change;

  explicit WholeJob(std::span<const NodeRun> nodes) {
    for (const NodeRun& node : nodes) {
      const JobTotals job = node.run->figures().job();
      add(joules, job.joules);
      add(default_joules, job.default_joules);
      if (job.time_change) time_change = std::max(time_change.value_or(-1), job.time_change->value);
    }
  }
  std::optional<double> energy_change() const {
    if (!joules || !default_joules || *default_joules <= 0) return std::nullopt;
    return *joules / *default_joules - 1;
  }

 private:
  static void add(std::optional<double>& sum, const std::optional<double>& part) {
    sum = sum && part ? std::optional(*sum + *part) : std::nullopt;
  }
};

std::string first_step(std::span<const NodeRun> nodes) {
  return nodes.empty() ? "" : step_of(*nodes.front().run);
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:+.1f} %", 100 * *share) : "-";
}

}  // namespace

std::string step_of(const RunDigest& run) {
  const std::string job = run.told_by_start("SLURM_JOB_ID");
  if (job.empty()) return "";
  const std::string step = run.told_by_start("SLURM_STEP_ID");
  return step.empty() ? job : job + "." + step;
}

std::string node_of(const RunDigest& run, const std::string& file) {
  const std::string node = run.told_by_start("SLURMD_NODENAME");
  return node.empty() ? std::filesystem::path(file).stem().string() : node;
}

std::string nodes_text(std::span<const NodeRun> nodes) {
  const std::string step = first_step(nodes);
  std::string text =
      fmt::format("job{} on {} nodes\n", step.empty() ? "" : " " + step, nodes.size());
  text += fmt::format("{:<16} {:>4} {:>10} {:>10} {:>10} {:>9} {:>9}  {}\n", "node", "GPUs",
                      "iterations", "s", "kJ", "energy", "time", "kept");
  const std::vector<bool> waits = waiting(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const JobTotals job = nodes[i].run->figures().job();
    const auto change = [](const std::optional<Estimate>& estimate) {
      return percent(estimate ? std::optional(estimate->value) : std::nullopt);
    };
    const auto kept = kept_on(*nodes[i].run);
    text += fmt::format("{:<16} {:>4} {:>10.0f} {:>10.1f} {:>10} {:>9} {:>9}  {}{}\n",
                        nodes[i].name, nodes[i].run->gpus().size(), job.iterations, job.seconds,
                        job.joules ? fmt::format("{:.1f}", *job.joules / 1e3) : "-",
                        change(job.energy_change), change(job.time_change),
                        kept ? to_string(*kept) : "-", waits[i] ? ", waits for the others" : "");
  }
  const WholeJob whole(nodes);
  text += fmt::format("whole job: {} kJ, energy {}, time {} against the default\n",
                      whole.joules ? fmt::format("{:.1f}", *whole.joules / 1e3) : "-",
                      percent(whole.energy_change()), percent(whole.time_change));
  return text;
}

nlohmann::json nodes_json(std::span<const NodeRun> nodes) {
  nlohmann::json list = nlohmann::json::array();
  const std::vector<bool> waits = waiting(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nlohmann::json node = {{"node", nodes[i].name},
                           {"gpus", nodes[i].run->gpus().size()},
                           {"job", job_json(nodes[i].run->figures().job())},
                           {"waits", static_cast<bool>(waits[i])}};
    if (const auto kept = kept_on(*nodes[i].run)) node["kept"] = to_string(*kept);
    list.push_back(std::move(node));
  }
  const WholeJob whole(nodes);
  nlohmann::json j = {{"nodes", std::move(list)}};
  if (const std::string step = first_step(nodes); !step.empty()) j["job"] = step;
  if (whole.joules) j["joules"] = *whole.joules;
  if (whole.joules && whole.default_joules) j["saved_j"] = *whole.default_joules - *whole.joules;
  if (const auto change = whole.energy_change()) j["energy_change"] = *change;
  if (whole.time_change) j["time_change"] = *whole.time_change;
  return j;
}

}  // namespace hypermile
