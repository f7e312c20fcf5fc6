// SPDX-License-Identifier: Apache-2.0
#include "evidence/plan/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/csv.h"
#include "base/parse.h"
#include "plan/builtin_networks.h"
#include "plan/calibrate.h"
#include "plan/cost_table.h"
#include "plan/measured_file.h"
#include "plan/network_file.h"

namespace hypermile {
namespace {

using Times = std::vector<LayerTime>;
using Wanted = std::function<bool(const LayerTime&)>;

Times only(const Times& times, const Wanted& wanted) {
  Times some;
  std::ranges::copy_if(times, std::back_inserter(some), wanted);
  return some;
}

bool is_norm(const LayerTime& time) {
  return time.layer.op == OpClass::kNorm;
}

std::string row(const std::string& what, Precision precision, const CalibrationScore& score) {
  return fmt::format("| {} | {} | {} | {:.1f} % | {:+.1f} % | {:+.1f} % | {:+.1f} % |\n", what,
                     to_string(precision), score.shapes, 100 * score.mean_error,
                     100 * score.total_error, 100 * score.forward_error,
                     100 * score.backward_error);
}

constexpr const char* kHeader =
    "| tested | precision | shapes | mean error per shape | all layers | forward | backward |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
constexpr Precision kBoth[] = {Precision::kTf32, Precision::kBf16};

// The largest errors among the rows that have a target.
struct Worst {
  double per_shape = 0, total = 0;

  void take(const CalibrationScore& score) {
    per_shape = std::max(per_shape, score.mean_error);
    total = std::max(total, std::abs(score.total_error));
  }
};

std::string between_networks(const GpuSheet& sheet, const Times& times, Worst& worst) {
  std::string out;
  for (const std::string judged : {"resnet50", "vgg16"}) {
    const Efficiency constants =
        calibrate(sheet, only(times, [&](const LayerTime& t) { return t.model != judged; }), {});
    const auto add = [&](const std::string& what, const Wanted& wanted, bool judged_by_bar) {
      for (const Precision precision : kBoth) {
        const Times some = only(times, [&](const LayerTime& t) {
          return t.model == judged && !is_norm(t) && t.precision == precision && wanted(t);
        });
        if (some.empty()) continue;
        const CalibrationScore score = score_calibration(sheet, some, constants);
        out += row(what, precision, score);
        if (judged_by_bar) worst.take(score);
      }
    };
    add(
        "**" + judged + "**, fitted on the other", [](const LayerTime&) { return true; }, true);
    for (const OpClass op :
         {OpClass::kConv, OpClass::kLinear, OpClass::kElementwise, OpClass::kPool}) {
      add(
          fmt::format("{}: {}", judged, to_string(op)),
          [op](const LayerTime& t) { return t.layer.op == op; }, false);
    }
  }
  return out;
}

// The error of each BatchNorm shape, with constants fitted without that shape.
std::string within_norms(const GpuSheet& sheet, const Times& times, Worst& worst) {
  std::set<std::string> shapes;
  for (const LayerTime& time : only(times, is_norm)) shapes.insert(to_string(time.layer.in));
  std::string out;
  for (const Precision precision : kBoth) {
    CalibrationScore sum;
    double predicted = 0, measured = 0, forward = 0, forward_measured = 0;
    for (const std::string& shape : shapes) {
      const auto left_out = [&](const LayerTime& t) {
        return is_norm(t) && to_string(t.layer.in) == shape;
      };
      const Efficiency constants =
          calibrate(sheet, only(times, [&](const LayerTime& t) { return !left_out(t); }), {});
      for (const LayerTime& time : only(times, left_out)) {
        if (time.precision != precision) continue;
        const CalibrationScore score = score_calibration(sheet, {&time, 1}, constants);
        const double often = static_cast<double>(time.count);
        ++sum.shapes;
        sum.mean_error += score.mean_error;
        measured += often * (time.forward_s + time.backward_s);
        predicted += often * (time.forward_s + time.backward_s) * (1 + score.total_error);
        forward_measured += often * time.forward_s;
        forward += often * time.forward_s * (1 + score.forward_error);
      }
    }
    sum.mean_error /= static_cast<double>(std::max<std::size_t>(1, sum.shapes));
    sum.total_error = predicted / measured - 1;
    sum.forward_error = forward / forward_measured - 1;
    sum.backward_error = (predicted - forward) / (measured - forward_measured) - 1;
    out += row("**BatchNorm**, each shape left out", precision, sum);
    worst.take(sum);
  }
  return out;
}

std::string constants_table(const Efficiency& fitted) {
  std::string out = "| constant | before | fitted |\n| --- | ---: | ---: |\n";
  const auto names = Efficiency::names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += fmt::format("| `{}` | {:.3g} | {:.3g} |\n", names[i], Efficiency().values[i],
                       fitted.values[i]);
  }
  return out;
}

// Median time between the starts of iterations in a recording; nullopt where the file is missing.
std::optional<double> recorded_iteration(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::nullopt;
  const auto reader = CsvReader::open(in, path);
  if (!reader || !reader->column("t_s")) return std::nullopt;
  CsvReader rows = *reader;
  std::vector<double> gaps;
  std::optional<double> before;
  while (true) {
    const auto row = rows.next();
    if (!row || !*row) break;
    const auto time = parse_number((**row)[*rows.column("t_s")]);
    if (!time) return std::nullopt;
    if (before) gaps.push_back(*time - *before);
    before = *time;
  }
  if (gaps.empty()) return std::nullopt;
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  return gaps[gaps.size() / 2];
}

// Whole training iterations of recorded loops, with constants fitted to single layers only.
std::string whole_iterations(const GpuSheet& sheet, const Efficiency& constants,
                             const std::string& folder) {
  struct Loop {
    const char* file;
    const char* network;
    std::int64_t batch;
    Precision precision;
  };
  std::string out =
      "| recorded loop | measured ms | modelled ms | error |\n| --- | ---: | ---: | ---: |\n";
  for (const Loop& loop : {Loop{"vgg16_tf32_b64", "vgg16", 64, Precision::kTf32},
                           Loop{"resnet50_bf16_b256", "resnet50", 256, Precision::kBf16}}) {
    const auto measured = recorded_iteration(folder + "/iterations/" + loop.file + ".csv");
    const auto network = builtin_network(loop.network, loop.batch);
    if (!measured || !network) continue;
    const auto stages = make_stages(
        *network, {.precision = loop.precision, .l2_bytes = sheet.l2_mib * 1024 * 1024});
    const double modelled = make_cost_table(sheet, stages, constants).uniform(0).time_s;
    out += fmt::format("| {} | {:.1f} | {:.1f} | {:+.1f} % |\n", loop.file, 1e3 * *measured,
                       1e3 * modelled, 100 * (modelled / *measured - 1));
  }
  return out;
}

struct ClassError {
  std::size_t shapes = 0;
  double errors = 0;  // the sum of |modelled / measured − 1| over shapes and passes
  double measured = 0, modelled = 0;
};

struct MeasuredNetwork {
  const char* name;
  Precision precision;
};

Result<std::string> network_rows(const GpuSheet& sheet, const Efficiency& fitted,
                                 const std::string& folder, const MeasuredNetwork& of) {
  const std::string base = fmt::format("{}/{}-{}", folder, of.name, to_string(of.precision));
  ASSIGN_OR_RETURN(const Network network, open_network(base + ".json", std::nullopt));
  ASSIGN_OR_RETURN(const MeasuredLayers measured,
                   read_measured_layers(base + ".csv", of.precision));
  std::map<std::string, ClassError> classes;
  std::set<std::string> seen;
  ClassError largest;  // the layer whose time is farthest off
  std::string name_of_largest;
  for (const Layer& layer : network.layers) {
    const std::string key = layer_key(layer.type, layer.in, layer.out, layer.params);
    const auto found = measured.layers.find(key);
    if (found == measured.layers.end() || !seen.insert(key).second) continue;
    const MeasuredLayer& row = found->second.front();
    ClassError one;
    for (const std::string_view name : {to_string(layer.op), std::string_view("all")}) {
      ClassError& sum = classes[std::string(name)];
      ++sum.shapes;
      for (const bool backward : {false, true}) {
        const double took = (backward ? row.backward : row.forward).time_s.value;
        const double modelled =
            stage_time(sheet.constants, alone_kernels(layer, backward, of.precision), fitted,
                       row.sm.value_or(sheet.constants.clocks.sm_boost),
                       sheet.constants.clocks.memory_default);
        sum.errors += std::abs(modelled / took - 1);
        sum.measured += took;
        sum.modelled += modelled;
        if (name == "all") one.measured += took;
        if (name == "all") one.modelled += modelled;
      }
    }
    if (std::abs(one.modelled - one.measured) > std::abs(largest.modelled - largest.measured)) {
      largest = one;
      name_of_largest = layer.name;
    }
  }
  std::string out;
  for (const auto& [name, sum] : classes) {
    out += fmt::format("| {} {} | {} | {} | {:.2f} | {:.0f} % | {:+.0f} % |\n", of.name,
                       to_string(of.precision), name, sum.shapes, 1e3 * sum.measured,
                       100 * sum.errors / (2 * static_cast<double>(sum.shapes)),
                       100 * (sum.modelled / sum.measured - 1));
  }
  return out + fmt::format("| {} {} | farthest off: `{}` | 1 | {:.2f} | | {:+.0f} % |\n", of.name,
                           to_string(of.precision), name_of_largest, 1e3 * largest.measured,
                           100 * (largest.modelled / largest.measured - 1));
}

}  // namespace

std::string measured_networks_evidence(const std::string& folder, const std::string& fitted_to) {
  const auto sheet = load_gpu_sheet("h200");
  const auto times = read_layer_times(fitted_to);
  if (!sheet || !times) return "Not made: the sheet or the layers to fit cannot be read.\n";
  const Efficiency fitted = calibrate(*sheet, *times, {});
  std::string out =
      "| network | class | shapes | measured ms | mean error per shape | all together |\n"
      "| --- | --- | ---: | ---: | ---: | ---: |\n";
  for (const MeasuredNetwork& of :
       {MeasuredNetwork{"resnet50", Precision::kTf32}, MeasuredNetwork{"vgg16", Precision::kTf32},
        MeasuredNetwork{"gpt2", Precision::kBf16}, MeasuredNetwork{"unet", Precision::kBf16}}) {
    const auto rows = network_rows(*sheet, fitted, folder, of);
    out += rows ? *rows : fmt::format("\nNot made: {}\n", rows.error().line());
  }
  return out;
}

std::string flops_evidence(const std::string& file) {
  std::ifstream in(file);
  const auto reader = CsvReader::open(in, file);
  if (!in || !reader) return "Not made: " + file + " cannot be read.\n";
  CsvReader rows = *reader;
  std::string out =
      "| network | PyTorch's counter, GFLOP | ours / PyTorch's | formula, GFLOP | ours / formula "
      "|\n"
      "| --- | ---: | ---: | ---: | ---: |\n";
  while (true) {
    const auto row = rows.next();
    if (!row || !*row) break;
    const auto number = [&](const char* column) {
      const auto parsed = parse_number((**row)[*rows.column(column)]);
      return parsed ? *parsed : 0.0;
    };
    const double ours = number("ours"), counted = number("counter_forward"),
                 formula = number("formula");
    out += fmt::format("| {} | {:.4g} | {} | {} | {} |\n", (**row)[*rows.column("network")],
                       counted / 1e9, fmt::format("{:.4f}", ours / counted),
                       formula > 0 ? fmt::format("{:.4g}", formula / 1e9) : "",
                       formula > 0 ? fmt::format("{:.4f}", ours / formula) : "");
  }
  return out;
}

std::string cost_model_evidence(const std::string& layers, const std::string& folder) {
  const auto times = read_layer_times(layers);
  if (!times) return "Not made: " + times.error().line() + "\n";
  const auto sheet = load_gpu_sheet("h200");
  if (!sheet) return "Not made: " + sheet.error().line() + "\n";
  const Efficiency fitted = calibrate(*sheet, *times, {});
  Worst worst;
  std::string out = kHeader;
  out += between_networks(*sheet, *times, worst);
  out += within_norms(*sheet, *times, worst);
  for (const Precision precision : kBoth) {
    out +=
        row("all, fitted on all", precision,
            score_calibration(
                *sheet, only(*times, [&](const LayerTime& t) { return t.precision == precision; }),
                fitted));
  }
  out += fmt::format(
      "\nThe worst of the bold rows: {:.1f} % per shape, {:.1f} % for all layers together.\n",
      100 * worst.per_shape, 100 * worst.total);
  out +=
      "\nMedians of whole training iterations recorded on an H200, against the model with the "
      "constants fitted on all single layers (at batch 64) and the card's power limit:\n\n";
  out += whole_iterations(*sheet, fitted, folder);
  return out + "\nThe twelve constants, fitted on both precisions together:\n\n" +
         constants_table(fitted);
}

}  // namespace hypermile
