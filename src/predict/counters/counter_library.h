// SPDX-License-Identifier: Apache-2.0
//
// Loads the CUDA driver and CUPTI at run time, and finds the calls that read performance counters.
// Only the program `hypermile counters` uses it, never a job. Neither library is ever unloaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "predict/counters/cupti_abi.h"

namespace hypermile {

struct CounterLibrary {
  template <class Params>
  using Call = int (*)(Params*);

  std::string path;  // path of CUPTI

  int (*driver_init)(unsigned flags) = nullptr;
  int (*device_by_pci)(int* device, const char* address) = nullptr;

  Call<pm::ProfilerInitialize> profiler_initialize = nullptr;
  Call<pm::ChipName> chip_name = nullptr;
  Call<pm::Availability> availability = nullptr;

  Call<pm::HostInitialize> host_initialize = nullptr;
  Call<pm::HostDeinitialize> host_deinitialize = nullptr;
  Call<pm::AddMetrics> add_metrics = nullptr;
  Call<pm::ConfigSize> config_size = nullptr;
  Call<pm::ConfigImage> config_image = nullptr;
  Call<pm::Passes> passes = nullptr;
  Call<pm::Evaluate> evaluate = nullptr;

  Call<pm::Enable> enable = nullptr;
  Call<pm::OfSampling> disable = nullptr;
  Call<pm::SetConfig> set_config = nullptr;
  Call<pm::OfSampling> start = nullptr;
  Call<pm::OfSampling> stop = nullptr;
  Call<pm::DataSize> data_size = nullptr;
  Call<pm::DataInitialize> data_initialize = nullptr;
  Call<pm::Decode> decode = nullptr;
  Call<pm::DataInfo> data_info = nullptr;

  // Loads only CUPTI, which knows the metrics of a chip without driver or GPU: the first of
  // `candidates` (paths or sonames) that has every call. Returns kNotFound where none can be
  // loaded, kUnsupported where all are too old.
  static Result<CounterLibrary> load_cupti(const std::vector<std::string>& candidates);
  // Returns kNoDriver where `name` cannot be loaded.
  Result<void> load_driver(const std::string& name = "libcuda.so.1");
};

// Translates a failed CUPTI call into a cause and a remedy for the user.
Error counter_error(std::string_view call, int code);

}  // namespace hypermile
