// SPDX-License-Identifier: Apache-2.0
//
// The part of CUPTI that samples counters, without a GPU, built as libcupti.so.12. It is as strict
// as the real one about the order of calls and the sizes of structures. Every metric has its own
// constant value, three metrics fit into a pass, and every decoding yields ten samples.
//
//   FAKE_COUNTERS_CHIP      the chip (default GA102)
//   FAKE_COUNTERS_FAIL      CALL=CODE or CALL#N=CODE: this call, or its Nth, returns CODE
//   FAKE_COUNTERS_DO        CALL=crash or CALL=hang
//   FAKE_COUNTERS_LACK      part of the names of metrics that the chip lacks
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "predict/counters/cupti_abi.h"

using namespace hypermile::pm;

namespace hypermile::pm {
struct HostTag {
  std::vector<std::string> names;
};
struct SamplingTag {
  bool configured = false;
  bool running = false;
};
}  // namespace hypermile::pm

namespace {

constexpr std::size_t kPerPass = 3;
constexpr std::size_t kSamples = 10;
constexpr std::uint8_t kMark = 0x5a;

std::map<std::string, int> calls;
int open_objects = 0;
bool initialized = false;
bool enabled = false;

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// The code that the environment requests for this call; kSuccess if it requests nothing.
int told(const std::string& call, std::size_t size, std::size_t expected) {
  const int number = ++calls[call];
  const std::string_view act = variable("FAKE_COUNTERS_DO");
  if (act == call + "=crash") std::abort();
  while (act == call + "=hang") ::usleep(10'000);
  const std::string_view fail = variable("FAKE_COUNTERS_FAIL");
  const std::size_t equal = fail.find('=');
  if (equal != std::string_view::npos) {
    const std::string_view which = fail.substr(0, equal);
    if (which == call || which == call + "#" + std::to_string(number)) {
      return std::atoi(fail.data() + equal + 1);
    }
  }
  return size == expected ? kSuccess : kInvalidParameter;
}

template <class Params>
int told(const char* call, const Params* params) {
  return told(call, params->size, size_of<Params>());
}

double value_of(std::string_view name) {
  if (name.find("sm__warps_active") == 0) return std::numeric_limits<double>::quiet_NaN();
  if (name.find("bytes.sum.per_second") != std::string_view::npos) return 2e9;
  return static_cast<double>(name.size());  // percent
}

std::size_t passes_of(std::size_t metrics) {
  return (metrics + kPerPass - 1) / kPerPass;
}

}  // namespace

#define TOLD(params)                                                            \
  do {                                                                          \
    if (const int code = told(__func__, params); code != kSuccess) return code; \
  } while (false)

extern "C" {

// Functions that the real library does not have.
int fake_counters_open() {
  return open_objects;
}
int fake_counters_calls(const char* call) {
  return calls[call];
}
void fake_counters_reset() {
  calls.clear();
  open_objects = 0;
  initialized = enabled = false;
}

int cuptiProfilerInitialize(ProfilerInitialize* params) {
  TOLD(params);
  initialized = true;
  return kSuccess;
}

int cuptiDeviceGetChipName(ChipName* params) {
  TOLD(params);
  const char* const chip = std::getenv("FAKE_COUNTERS_CHIP");
  params->chip = chip == nullptr ? "GA102" : chip;
  return kSuccess;
}

int cuptiPmSamplingGetCounterAvailability(Availability* params) {
  TOLD(params);
  if (!initialized) return kNotInitialized;
  if (params->image == nullptr) {
    params->image_size = 8;
  } else {
    std::memset(params->image, kMark, params->image_size);
  }
  return kSuccess;
}

int cuptiProfilerHostInitialize(HostInitialize* params) {
  TOLD(params);
  if (params->type != kPmSampling) return kInvalidParameter;
  if (std::strncmp(params->chip, "GV", 2) == 0) return kNotSupported;
  if (params->availability != nullptr && params->availability[0] != kMark) return kInvalidParameter;
  params->host = new HostTag;
  ++open_objects;
  return kSuccess;
}

int cuptiProfilerHostDeinitialize(HostDeinitialize* params) {
  --open_objects;
  delete params->host;
  TOLD(params);
  return kSuccess;
}

int cuptiProfilerHostConfigAddMetrics(AddMetrics* params) {
  TOLD(params);
  const std::string_view lacking = variable("FAKE_COUNTERS_LACK");
  for (std::size_t i = 0; i < params->count; ++i) {
    const std::string_view name = params->names[i];
    if (!lacking.empty() && name.find(lacking) != std::string_view::npos) return kInvalidParameter;
    params->host->names.emplace_back(name);
  }
  return kSuccess;
}

int cuptiProfilerHostGetConfigImageSize(ConfigSize* params) {
  TOLD(params);
  params->config_size = 1 + params->host->names.size();
  return kSuccess;
}

int cuptiProfilerHostGetConfigImage(ConfigImage* params) {
  TOLD(params);
  std::memset(params->config, kMark, params->config_size);
  return kSuccess;
}

int cuptiProfilerHostGetNumOfPasses(Passes* params) {
  TOLD(params);
  params->passes = passes_of(params->config_size - 1);
  return kSuccess;
}

int cuptiProfilerHostEvaluateToGpuValues(Evaluate* params) {
  TOLD(params);
  if (params->data[0] != kMark || params->sample >= kSamples) return kInvalidParameter;
  for (std::size_t i = 0; i < params->count; ++i) params->values[i] = value_of(params->names[i]);
  return kSuccess;
}

int cuptiPmSamplingEnable(Enable* params) {
  TOLD(params);
  if (!initialized) return kNotInitialized;
  if (enabled) return kInvalidOperation;
  enabled = true;
  params->sampling = new SamplingTag;
  ++open_objects;
  return kSuccess;
}

int cuptiPmSamplingDisable(OfSampling* params) {
  --open_objects;
  enabled = false;
  delete params->sampling;
  TOLD(params);
  return kSuccess;
}

int cuptiPmSamplingSetConfig(SetConfig* params) {
  TOLD(params);
  if (params->config[0] != kMark) return kInvalidParameter;
  if (passes_of(params->config_size - 1) != 1) return kNotSupported;
  const std::string_view chip = variable("FAKE_COUNTERS_CHIP");
  const bool clocked = chip.starts_with("TU") || chip == "GA100";
  if (clocked && params->trigger == kTimeInterval) return kNotSupported;
  params->sampling->configured = true;
  return kSuccess;
}

int cuptiPmSamplingStart(OfSampling* params) {
  TOLD(params);
  if (!params->sampling->configured || params->sampling->running) return kInvalidOperation;
  params->sampling->running = true;
  return kSuccess;
}

int cuptiPmSamplingStop(OfSampling* params) {
  params->sampling->running = false;
  TOLD(params);
  return kSuccess;
}

int cuptiPmSamplingGetCounterDataSize(DataSize* params) {
  TOLD(params);
  if (!params->sampling->configured) return kInvalidOperation;
  params->data_size = params->most_samples;
  return kSuccess;
}

int cuptiPmSamplingCounterDataImageInitialize(DataInitialize* params) {
  TOLD(params);
  std::memset(params->data, 0, params->data_size);
  return kSuccess;
}

int cuptiPmSamplingDecodeData(Decode* params) {
  TOLD(params);
  if (!params->sampling->running) return kInvalidOperation;
  params->data[0] = kMark;
  params->stop = kEndOfRecords;
  params->overflow = 0;
  return kSuccess;
}

int cuptiPmSamplingGetCounterDataInfo(DataInfo* params) {
  TOLD(params);
  params->total = params->data_size;
  params->populated = params->completed = params->data[0] == kMark ? kSamples : 0;
  return kSuccess;
}
}
