// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "base/csv.h"
#include "base/parse.h"
#include "plan/builtin_networks.h"
#include "plan/torch_layer.h"

namespace hypermile {
namespace {

enum Column {
  kModel,
  kPrecisionColumn,
  kLayer,
  kType,
  kIn,
  kOut,
  kParams,
  kForward,
  kBackward,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "model", "precision", "layer", "type", "in_shape", "out_shape", "params", "fwd_us", "bwd_us"};

// The file has no column for the window of a pool, but the built-in networks are known.
std::optional<SlidingWindow> known_window(const std::string& model, const std::string& layer) {
  if (model == "resnet50" && layer == "maxpool") return SlidingWindow{3, 3, 2, 2};
  return std::nullopt;
}

// `groups` is a convolution's number of groups, or empty.
Result<LayerTime> read_row(const std::array<std::string, kColumns>& cells,
                           const std::string& groups) {
  LayerTime time;
  time.model = cells[kModel];
  ASSIGN_OR_RETURN(time.precision, parse_precision(cells[kPrecisionColumn]));
  TorchLayer description;
  description.name = cells[kLayer];
  description.type = cells[kType];
  ASSIGN_OR_RETURN(description.in, parse_shape(cells[kIn]));
  ASSIGN_OR_RETURN(description.out, parse_shape(cells[kOut]));
  ASSIGN_OR_RETURN(description.params, parse_number(cells[kParams]));
  description.window = known_window(time.model, description.name);
  if (!groups.empty()) {
    ASSIGN_OR_RETURN(description.groups, parse_integer(groups));
  }
  // An operator outside of modules may compute with a copy of its weights, and then fits no type.
  Result<MadeLayer> made = make_torch_layer(description);
  if (made) {
    time.layer = std::move(made->layer);
    time.known = made->known;
  } else if (description.name.find(':') != std::string::npos) {
    time.known = false;
  } else {
    return made.error();
  }
  ASSIGN_OR_RETURN(const double forward, parse_number(cells[kForward]));
  ASSIGN_OR_RETURN(const double backward, parse_number(cells[kBackward]));
  if (!(forward > 0 && backward > 0)) {
    return Error{ErrorCode::kParse, "times must be above 0", ""};
  }
  time.forward_s = 1e-6 * forward;
  time.backward_s = 1e-6 * backward;
  return time;
}

std::string key_of(const LayerTime& time) {
  return fmt::format("{} {} {} {} {} {}", time.model, to_string(time.precision), time.layer.type,
                     to_string(time.layer.in), to_string(time.layer.out), time.layer.params);
}

}  // namespace

std::vector<Kernel> LayerTime::forward_kernels() const {
  return alone_kernels(layer, false, precision);
}

std::vector<Kernel> LayerTime::backward_kernels() const {
  return alone_kernels(layer, true, precision);
}

Result<std::vector<LayerTime>> read_layer_times(std::istream& in, const std::string& name) {
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, name));
  std::array<std::size_t, kColumns> columns = {};
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto column = reader.column(kColumnNames[i]);
    if (!column) {
      return Error{ErrorCode::kParse, fmt::format("{}: no column '{}'", name, kColumnNames[i]),
                   fmt::format("expected {}", fmt::join(kColumnNames, ", "))};
    }
    columns[i] = *column;
  }
  // The fit uses only rows at the default setting, of types that the table of modules has.
  const auto setting = reader.column("setting");
  const auto groups = reader.column("groups");
  std::vector<LayerTime> times;
  std::map<std::string, std::size_t> seen;
  while (true) {
    ASSIGN_OR_RETURN(const auto row, reader.next());
    if (!row) break;
    if (setting && !(*row)[*setting].empty() && (*row)[*setting] != "default") continue;
    std::array<std::string, kColumns> cells;
    for (std::size_t i = 0; i < kColumns; ++i) cells[i] = (*row)[columns[i]];
    Result<LayerTime> time = read_row(cells, groups ? (*row)[*groups] : "");
    if (!time) return reader.error(time.error().line());
    if (!time->known) continue;
    const auto [place, added] = seen.try_emplace(key_of(*time), times.size());
    if (added) {
      times.push_back(std::move(*time));
      continue;
    }
    LayerTime& before = times[place->second];
    before.forward_s = std::min(before.forward_s, time->forward_s);
    before.backward_s = std::min(before.backward_s, time->backward_s);
    ++before.count;
  }
  if (times.empty()) {
    return Error{ErrorCode::kParse, name + ": has no layers",
                 "measure layers with hypermile.profile_layers()"};
  }
  return times;
}

Result<std::vector<LayerTime>> read_layer_times(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error{ErrorCode::kNotFound, path + ": cannot be read", "check the path"};
  return read_layer_times(in, path);
}

}  // namespace hypermile
