// SPDX-License-Identifier: Apache-2.0
//
// `hypermile plan`: plans clocks for the layers and phases of a network on a GPU, with the physics
// of the simulator or with measured layers. Nothing is run and no GPU is touched.
#include "plan/plan_document.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/whole_file.h"
#include "cli/command.h"
#include "plan/network_file.h"

namespace hypermile {
namespace {

constexpr std::string_view kSimPrefix = "sim:";
constexpr std::int64_t kMostBatch = 1 << 20;
constexpr long long kMostCount = 1024;  // micro-batches, checkpoints and GPUs

Error usage(std::string message, std::string remedy) {
  return Error{ErrorCode::kUsage, std::move(message), std::move(remedy)};
}

Result<GpuSheet> read_sheet(const OptionValues& values) {
  std::string name = values.text("gpu");
  if (name.empty()) {
    return usage("no GPU was named",
                 fmt::format("give --gpu {}", fmt::join(gpu_sheet_keys(), "|")));
  }
  if (name.starts_with(kSimPrefix)) name.erase(0, kSimPrefix.size());
  return load_gpu_sheet(name);
}

Result<std::optional<std::int64_t>> read_batch(const OptionValues& values) {
  if (!values.given("batch")) return std::optional<std::int64_t>();
  const long long batch = values.integer("batch");
  if (batch < 1 || batch > kMostBatch) {
    return usage(fmt::format("--batch cannot be {}", batch),
                 fmt::format("give 1 to {}", kMostBatch));
  }
  return std::optional<std::int64_t>(batch);
}

Result<std::size_t> read_count(const OptionValues& values, const std::string& name,
                               long long least) {
  const long long count = values.given(name) ? values.integer(name) : least;
  if (count < least || count > kMostCount) {
    return usage(fmt::format("--{} cannot be {}", name, count),
                 fmt::format("give {} to {}", least, kMostCount));
  }
  return static_cast<std::size_t>(count);
}

Result<PlanOptions> read_options(const OptionValues& values) {
  PlanOptions options;
  ASSIGN_OR_RETURN(options.precision, parse_precision(values.text("precision")));
  ASSIGN_OR_RETURN(options.scope, parse_scope(values.text("phase")));
  options.fuse = values.flag("fuse");
  options.max_slowdown = values.number("max-slowdown");
  if (values.given("switch-latency")) {
    options.switching.latency = values.duration("switch-latency");
    if (options.switching.latency->value() < 0) {
      return usage("--switch-latency cannot be negative", "give 0 or more, like 20ms");
    }
  }
  ASSIGN_OR_RETURN(options.micro_batches, read_count(values, "accumulate", 1));
  ASSIGN_OR_RETURN(options.checkpoints, read_count(values, "checkpoint", 0));
  ASSIGN_OR_RETURN(options.gpus, read_count(values, "gpus", 1));
  options.link_bytes_per_s = 1e9 * values.number("link");
  if (!(options.link_bytes_per_s > 0)) {
    return usage("--link must be above 0", "give the GB/s of one direction, like 25");
  }
  options.switching.call = values.duration("switch-call");
  options.switching.most_per_second = values.number("switch-rate");
  return options;
}

Result<void> run(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& values = arguments.options;
  if (arguments.positional.size() != 1) {
    return usage("plan takes one network", "for example: hypermile plan resnet50 --gpu a4000");
  }
  PlanDocument document;
  ASSIGN_OR_RETURN(document.sheet, read_sheet(values));
  ASSIGN_OR_RETURN(const auto batch, read_batch(values));
  ASSIGN_OR_RETURN(document.network, open_network(arguments.positional.front(), batch));
  ASSIGN_OR_RETURN(document.options, read_options(values));
  document.phase = values.text("phase");
  for (const UnknownOperator& unknown : document.network.unknown) {
    context.err << fmt::format(
        "hypermile: operator {} is not known ({} times) and is taken as element-wise\n",
        unknown.type, unknown.count);
  }
  if (values.given("calibrate")) {
    const std::string file = values.text("calibrate");
    ASSIGN_OR_RETURN(const std::vector<LayerTime> times, read_layer_times(file));
    document.options.efficiency = calibrate(document.sheet, times, {});
    document.calibration = CalibrationUsed{
        file, score_calibration(document.sheet, times, document.options.efficiency)};
  }
  if (values.given("measured")) {
    ASSIGN_OR_RETURN(document.options.measured,
                     read_measured_layers(values.text("measured"), document.options.precision));
  }
  ASSIGN_OR_RETURN(document.report,
                   make_plan_report(document.network, document.sheet, document.options));
  if (values.given("page")) {
    RETURN_IF_ERROR(write_whole_file(values.text("page"), plan_page(document)));
  }
  if (values.flag("json")) {
    context.out << to_json(document).dump(2) << "\n";
  } else {
    context.out << to_table(document, values.flag("layers"));
  }
  return {};
}

}  // namespace

const Command kPlanCommand = {
    "plan", "plan clocks for the layers and phases of a network", "NETWORK",
    "  hypermile plan resnet50 --gpu a4000 --batch 32\n"
    "  hypermile plan vgg16 --gpu rtx2000ada --phase forward --switch-latency 0\n"
    "  hypermile plan model.onnx --gpu h200 --precision bf16 --json\n"
    "  hypermile plan resnet50 --gpu h200 --batch 64 --calibrate layers.csv --page plan.html\n"
    "  hypermile plan model.json --gpu a4000 --precision tf32 --measured layers.csv\n"
    "  hypermile plan gpt2 --gpu h200 --precision bf16 --accumulate 4 --checkpoint 4 --gpus 8\n",
    run};

}  // namespace hypermile
