// SPDX-License-Identifier: Apache-2.0
#include "plan/measured_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "base/csv.h"
#include "base/parse.h"
#include "plan/torch_layer.h"

namespace hypermile {
namespace {

// Relative standard errors, taken where the file has none: what a careful profile reaches. No
// measurement fixes them; a file with errors of its own does not need them.
constexpr double kTimeError = 0.01;
constexpr double kEnergyError = 0.02;
constexpr double kMostDrift = 2;  // a larger change at the default is no drift
constexpr double kMost = 1e13;    // of any number in a row
constexpr double kLeast = 1e-9;   // of a time in microseconds and an energy in joules

constexpr std::array<std::string_view, 7> kNeeded = {"precision", "type",   "in_shape", "out_shape",
                                                     "params",    "fwd_us", "bwd_us"};

// One row by the names of its columns.
class Row {
 public:
  Row(const CsvReader& reader, const std::vector<std::string>& cells)
      : reader_(reader), cells_(cells) {}

  // Empty where the file has no such column.
  std::string text(std::string_view name) const {
    const auto column = reader_.column(name);
    return column ? cells_[*column] : "";
  }

  // nullopt where the cell is empty or the column absent.
  Result<std::optional<double>> number(std::string_view name) const {
    const std::string cell = text(name);
    if (cell.empty()) return std::optional<double>();
    const Result<double> value = parse_number(cell);
    if (!value || !std::isfinite(*value) || *value < 0 || *value > kMost) {
      return Error{ErrorCode::kParse,
                   fmt::format("{} is '{}', not a plausible number of 0 or more", name, cell), ""};
    }
    return std::optional<double>(*value);
  }

  Result<double> positive(std::string_view name) const {
    ASSIGN_OR_RETURN(const std::optional<double> value, number(name));
    if (value && *value >= kLeast) return *value;
    return Error{ErrorCode::kParse, fmt::format("{} must be above 0", name), ""};
  }

 private:
  const CsvReader& reader_;
  const std::vector<std::string>& cells_;
};

Result<MeasuredPass> read_pass(const Row& row, const std::string& pass) {
  ASSIGN_OR_RETURN(const double time, row.positive(pass + "_us"));
  ASSIGN_OR_RETURN(const auto time_error, row.number(pass + "_us_error"));
  ASSIGN_OR_RETURN(const auto energy, row.number(pass + "_j"));
  ASSIGN_OR_RETURN(const auto energy_error, row.number(pass + "_j_error"));
  ASSIGN_OR_RETURN(const auto drift_cell, row.number("drift"));
  ASSIGN_OR_RETURN(const auto drift_j_cell, row.number("drift_j"));
  const double drift = drift_cell.value_or(1), drift_j = drift_j_cell.value_or(1);
  if (!(drift > 1 / kMostDrift && drift < kMostDrift && drift_j > 1 / kMostDrift &&
        drift_j < kMostDrift)) {
    return Error{ErrorCode::kParse, "the default changed too much while this was measured", ""};
  }
  MeasuredPass measured;
  const double scale = 1e-6 / drift;
  measured.time_s = {time * scale, time_error.value_or(kTimeError * time) * scale};
  if (energy) {
    if (*energy < kLeast) return Error{ErrorCode::kParse, pass + "_j must be above 0", ""};
    measured.energy_j =
        MeasuredValue{*energy / drift_j, energy_error.value_or(kEnergyError * *energy) / drift_j};
  }
  return measured;
}

struct KeyedLayer {
  std::string key;
  MeasuredLayer layer;
};

Result<KeyedLayer> read_layer_row(const Row& row) {
  KeyedLayer read;
  ASSIGN_OR_RETURN(const Shape in, parse_shape(row.text("in_shape")));
  ASSIGN_OR_RETURN(const Shape out, parse_shape(row.text("out_shape")));
  RETURN_IF_ERROR(check_shape(in, "in_shape"));
  RETURN_IF_ERROR(check_shape(out, "out_shape"));
  ASSIGN_OR_RETURN(const auto params, row.number("params"));
  read.key = layer_key(row.text("type"), in, out, params.value_or(0));
  const std::string setting = row.text("setting");
  if (!setting.empty()) {
    ASSIGN_OR_RETURN(read.layer.setting, parse_setting(setting));
  }
  ASSIGN_OR_RETURN(const auto seen, row.number("sm_mhz"));
  if (seen && *seen > 0) read.layer.sm = Mhz(*seen);
  ASSIGN_OR_RETURN(read.layer.forward, read_pass(row, "fwd"));
  ASSIGN_OR_RETURN(read.layer.backward, read_pass(row, "bwd"));
  return read;
}

MeasuredValue mean(const MeasuredValue& before, const MeasuredValue& next, double count) {
  const double value = before.value + (next.value - before.value) / count;
  const double squares = std::pow((count - 1) * before.error, 2) + next.error * next.error;
  return {value, std::sqrt(squares) / count};
}

void average(MeasuredPass& before, const MeasuredPass& next, double count) {
  before.time_s = mean(before.time_s, next.time_s, count);
  if (before.energy_j && next.energy_j) {
    before.energy_j = mean(*before.energy_j, *next.energy_j, count);
  }
}

}  // namespace

Result<MeasuredLayers> read_measured_layers(std::istream& in, const std::string& name,
                                            Precision precision) {
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, name));
  for (const std::string_view column : kNeeded) {
    if (reader.column(column)) continue;
    return Error{ErrorCode::kParse, fmt::format("{}: no column '{}'", name, column),
                 "measure layers with hypermile.profile_layers()"};
  }
  MeasuredLayers measured;
  measured.file = name;
  std::map<std::string, double> counts;
  std::string other;
  while (true) {
    ASSIGN_OR_RETURN(const auto cells, reader.next());
    if (!cells) break;
    const Row row(reader, *cells);
    const auto unit = parse_precision(row.text("precision"));
    if (!unit) return reader.error(unit.error().line());
    if (*unit != precision) {
      other = row.text("precision");
      continue;
    }
    const std::string gpu = row.text("gpu");
    if (!measured.gpu.empty() && !gpu.empty() && gpu != measured.gpu) {
      return reader.error(
          fmt::format("is about {}, but rows before are about {}", gpu, measured.gpu));
    }
    if (measured.gpu.empty()) measured.gpu = gpu;
    if (measured.network.empty()) measured.network = row.text("model");
    Result<KeyedLayer> read = read_layer_row(row);
    if (!read) return reader.error(read.error().message);
    const auto step = row.number("step_sm_mhz");
    if (!step) return reader.error(step.error().message);
    if (*step && **step > 0 && !measured.step_clock) measured.step_clock = Mhz(**step);
    std::vector<MeasuredLayer>& layers = measured.layers[read->key];
    const Setting setting = read->layer.setting;
    const double count = ++counts[read->key + to_string(setting)];
    const auto same = std::ranges::find(layers, setting, &MeasuredLayer::setting);
    if (same == layers.end()) {
      layers.push_back(read->layer);
    } else {
      average(same->forward, read->layer.forward, count);
      average(same->backward, read->layer.backward, count);
    }
    if (std::ranges::find(measured.settings, setting) == measured.settings.end()) {
      measured.settings.push_back(setting);
    }
  }
  if (!measured.layers.empty()) return measured;
  if (!other.empty()) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} has layers in {}, not in {}", name, other, to_string(precision)),
                 "give --precision as measured, or measure again"};
  }
  return Error{ErrorCode::kParse, name + ": has no layers",
               "measure layers with hypermile.profile_layers()"};
}

Result<MeasuredLayers> read_measured_layers(const std::string& path, Precision precision) {
  std::ifstream in(path);
  if (!in) return Error{ErrorCode::kNotFound, path + ": cannot be read", "check the path"};
  return read_measured_layers(in, path, precision);
}

}  // namespace hypermile
