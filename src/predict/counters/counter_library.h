// SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver and CUPTI, found at run time, with the calls that reading performance counters
// needs. Used by the program that reads them (`hypermile counters`), never inside a job. Neither
// library is ever unloaded.
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

  std::string path;  // CUPTI's

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

  // CUPTI only, as knowing a chip's metrics needs neither driver nor GPU. The first of `candidates`
  // (paths or sonames) that can be loaded and has every call. kNotFound where there is none,
  // kUnsupported where those there are too old.
  static Result<CounterLibrary> load_cupti(const std::vector<std::string>& candidates);
  // kNoDriver where there is none.
  Result<void> load_driver(const std::string& name = "libcuda.so.1");
};

// What a call of CUPTI's that did not succeed means for the person who asked for counters.
Error counter_error(std::string_view call, int code);

}  // namespace hypermile
