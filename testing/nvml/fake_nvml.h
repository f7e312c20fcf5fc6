// SPDX-License-Identifier: Apache-2.0
//
// The state behind the tests' NVML, a real shared object that answers like the driver's, keeps what
// is set and counts every call. Tests reach the state through the exported fake_nvml().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

struct FakeProcess {
  unsigned pid;
  unsigned long long memory;
};

struct FakeDevice {
  std::string uuid;
  std::string name = "NVIDIA H200";
  unsigned bus = 0x3b;

  unsigned architecture = 9;
  unsigned mig = 0;
  nvml::VirtualizationMode virtualization = nvml::kVirtualizationNone;
  std::vector<unsigned> memory_clocks = {2201, 3201};  // deliberately not sorted
  std::vector<unsigned> graphics_clocks = {345, 1980, 1965, 1950, 1410};
  unsigned limit_min = 200'000, limit_max = 700'000, limit_default = 700'000, limit = 700'000;
  // What a management controller enforces, whatever is requested.
  std::optional<unsigned> limit_held;

  double power_instant_mw = 310'500, power_average_mw = 305'250;
  unsigned power_usage_mw = 299'000;
  nvml::Return power_instant_status = nvml::kSuccess;
  unsigned long long energy_mj = 5'000'000;
  nvml::Utilization utilization = {97, 41};
  unsigned sm_mhz = 1980, memory_mhz = 3201;
  unsigned long long reasons = 0x4;
  int celsius = 61;
  std::vector<nvml::PowerSample> power_samples = {};
  std::vector<FakeProcess> processes = {}, mps_clients = {};
  unsigned gpm_supported = 1;
  std::map<unsigned, double> gpm = {};  // by metric id; an absent metric reads 50

  std::optional<std::pair<unsigned, unsigned>> sm_lock = {}, memory_lock = {};
};

struct FakeNvml {
  std::string driver_version = "580.159.04";
  std::vector<FakeDevice> devices;
  // By exported name; a function that is absent succeeds.
  std::map<std::string, nvml::Return> returns;
  std::map<std::string, int> calls;  // by exported name
  int initialised = 0;               // inits minus shutdowns
  int gpm_samples = 0;               // allocations minus frees

  // Sets up two GPUs, with nothing scripted or counted.
  void reset();
  int setter_calls() const;
};

inline void FakeNvml::reset() {
  *this = FakeNvml{};
  devices.resize(2);
  devices[0].uuid = "GPU-11111111-2222-3333-4444-555555555555";
  devices[1].uuid = "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
  devices[1].bus = 0xaf;
}

inline int FakeNvml::setter_calls() const {
  int count = 0;
  for (const auto& [name, times] : calls) {
    if (name.starts_with("nvmlDeviceSet") || name.starts_with("nvmlDeviceReset")) count += times;
  }
  return count;
}

}  // namespace hypermile

extern "C" hypermile::FakeNvml* fake_nvml();
