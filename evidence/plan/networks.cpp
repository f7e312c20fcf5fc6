// SPDX-License-Identifier: Apache-2.0
#include "evidence/plan/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "plan/builtin_networks.h"
#include "plan/network_file.h"
#include "plan/plan_report.h"

namespace hypermile {
namespace {

constexpr double kWorth = 0.001;  // as for break-even latencies
constexpr double kLatencies[] = {0.001, 0.005, 0.02, 0.1};

struct Card {
  const char* gpu;
  Precision precision;
};
constexpr Card kFour[] = {{"a4000", Precision::kTf32},
                          {"rtx3080ti", Precision::kTf32},
                          {"a100-40", Precision::kBf16},
                          {"h200", Precision::kBf16}};

std::vector<Network> open_networks(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  std::vector<Network> networks;
  for (const std::string& file : files) {
    if (auto network = open_network(file, std::nullopt)) networks.push_back(std::move(*network));
  }
  if (!networks.empty()) return networks;
  for (const char* name : {"bert-base", "gpt2", "resnet50", "vgg16"}) {
    networks.push_back(*builtin_network(name, 8));
  }
  return networks;
}

double saved(const PlanReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.strategies, name, [](const StrategyReport& s) {
    return std::string_view(s.result.name);
  });
  return found->result.slowdown > 0.05 + 1e-9 ? 0 : found->result.saved;
}

// The coarsest granularity that comes within a thousandth of the best.
std::string pays(const PlanReport& report) {
  const double job = saved(report, "uniform"), phase = saved(report, "phase");
  const double segment = saved(report, "switch-aware");
  const double layer = saved(report, "exhaustive-bounded");
  const double best = std::max({job, phase, segment, layer});
  const auto cell = [&](const char* name, double value) {
    return fmt::format("{} {:.1f} %", name, 100 * value);
  };
  if (job >= best - kWorth) return cell("job", job);
  if (phase >= best - kWorth) return cell("phase", phase);
  return segment >= layer - kWorth ? cell("segment", segment) : cell("layer", layer);
}

PlanReport plan(const Network& network, const Card& card, double latency, PlanOptions options) {
  options.precision = card.precision;
  options.switching.latency = Seconds(latency);
  options.break_even = false;
  return *make_plan_report(network, *load_gpu_sheet(card.gpu), options);
}

std::string header(const char* first) {
  std::string out = fmt::format("| {} | iteration ms | one setting |", first);
  std::string line = "| --- | ---: | ---: |";
  for (const double latency : kLatencies) {
    out += fmt::format(" {:.0f} ms |", 1e3 * latency);
    line += " --- |";
  }
  return out + "\n" + line + "\n";
}

std::string row(const std::string& name, const Network& network, const Card& card,
                const PlanOptions& options) {
  std::string out;
  for (const double latency : kLatencies) {
    const PlanReport report = plan(network, card, latency, options);
    if (out.empty()) {
      out = fmt::format("| {} | {:.1f} | {:.1f} % |", name,
                        1e3 * report.strategies.front().result.totals.time_s,
                        100 * saved(report, "uniform"));
    }
    out += " " + pays(report) + " |";
  }
  return out + "\n";
}

}  // namespace

std::string networks_evidence(const std::string& folder) {
  std::string out =
      "**Simulated.** A training step at a bound of 5 %: what one setting saves, and for a switch "
      "that takes 1, 5, 20 and 100 ms the coarsest granularity within 0.1 % of the best, with what "
      "it saves. `layer` is every layer's own optimum within the bound, carried out; `segment` is "
      "the switch-aware plan.\n\n" +
      header("card, network");
  for (const Card& card : kFour) {
    for (const Network& network : open_networks(folder)) {
      const std::string name = fmt::format("{} {} b{} {}", card.gpu, network.name, network.batch,
                                           to_string(card.precision));
      out += row(name, network, card, {});
    }
  }
  return out;
}

std::string phases_evidence() {
  struct Step {
    const char* name;
    std::size_t micro_batches, checkpoints, gpus;
  };
  constexpr Step kSteps[] = {{"plain", 1, 0, 1},
                             {"4 micro-batches", 4, 0, 1},
                             {"4 checkpoints", 1, 4, 1},
                             {"8 GPUs at 25 GB/s", 1, 0, 8},
                             {"all three", 4, 4, 8}};
  std::string out =
      "**Simulated.** The training step as it is: gradient accumulation, activation checkpointing, "
      "and a ring all-reduce that is not overlapped with the backward pass.\n\n" +
      header("card, network, step");
  for (const char* name : {"gpt2", "vgg16"}) {
    const Network network = *builtin_network(name, 8);
    for (const Step& step : kSteps) {
      PlanOptions options;
      options.micro_batches = step.micro_batches;
      options.checkpoints = step.checkpoints;
      options.gpus = step.gpus;
      options.link_bytes_per_s = 25e9;
      const Card& card = kFour[2];
      out += row(fmt::format("{} {} b8, {}", card.gpu, name, step.name), network, card, options);
    }
  }
  return out;
}

}  // namespace hypermile
