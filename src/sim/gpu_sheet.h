// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU model from its sheet gpus/NAME.toml: constants and identity. A new GPU is a new file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/gpu.h"
#include "sim/gpu_constants.h"

namespace hypermile {

struct GpuSheet {
  std::string key;           // "h200", as in sim:h200
  std::string name;          // "NVIDIA H200", as NVML names it
  std::string architecture;  // "hopper"
  int sm_count = 0;
  double memory_gib = 0;
  double l2_mib = 0;
  int compute_major = 0, compute_minor = 0;
  std::uint32_t pci_device_id = 0;  // NVML's pciDeviceId: device << 16 | vendor
  GpuConstants constants;

  // The clocks that can be locked, descending, as NVML lists them.
  std::vector<Mhz> sm_clocks() const;
  std::vector<Mhz> memory_clocks() const;
};

// The capabilities that a simulated card reports through Gpu. may_set is true.
Capabilities capabilities_of(const GpuSheet& sheet);

// Reads gpus/KEY.toml. An unknown key is kUsage with the most similar keys; a broken file is kParse
// with file and line.
Result<GpuSheet> load_gpu_sheet(std::string_view key);
// Parses `text`; `file` is used in messages, and its stem is the key.
Result<GpuSheet> parse_gpu_sheet(std::string_view text, const std::string& file);
// Keys of the existing sheets, sorted.
std::vector<std::string> gpu_sheet_keys();

}  // namespace hypermile
