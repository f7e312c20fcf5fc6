// SPDX-License-Identifier: Apache-2.0
//
// Reads time and energy of single layers, measured at one or several settings, from the CSV file
// that hypermile.profile_layers() writes (docs/reference/network-file.md). Called by `hypermile
// plan
// --measured`. A missing file is kNotFound; a bad row is kParse with file and line; a file about
// another card or precision is kUsage.
#pragma once

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "plan/layer.h"

namespace hypermile {

// A measured mean with its standard error.
struct MeasuredValue {
  double value = 0;
  double error = 0;
};

// One pass of a layer at one setting.
struct MeasuredPass {
  MeasuredValue time_s;
  std::optional<MeasuredValue> energy_j = {};
};

struct MeasuredLayer {
  Setting setting;
  std::optional<Mhz> sm =
      {};  // the clock that was seen; a layer alone may not hold the one asked for
  MeasuredPass forward, backward;
};

struct MeasuredLayers {
  std::string file;
  std::string gpu;      // as NVML names it; empty where the file does not say
  std::string network;  // the name in its first row, or empty
  // By layer_key(). Rows with the same key and setting are averaged.
  std::map<std::string, std::vector<MeasuredLayer>> layers;
  std::vector<Setting> settings;  // in the file's order
  // The SM clock that the driver held at the default while the whole network ran.
  std::optional<Mhz> step_clock = {};
};

// Rows of other precisions are skipped.
Result<MeasuredLayers> read_measured_layers(std::istream& in, const std::string& name,
                                            Precision precision);
Result<MeasuredLayers> read_measured_layers(const std::string& path, Precision precision);

}  // namespace hypermile
