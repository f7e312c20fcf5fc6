// SPDX-License-Identifier: Apache-2.0
//
// Compares our CUPTI declarations for performance counters with NVIDIA's headers. PM sampling came
// with CUPTI 12.6; older headers only have the result codes.
#include <cuda.h>
#include <cupti.h>
#if __has_include(<cupti_pmsampling.h>)
#define HAVE_PM_SAMPLING 1
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#endif

#include "predict/counters/cupti_abi.h"
#include "same_abi.h"

namespace hypermile {

SAME_VALUE(pm::kSuccess, CUPTI_SUCCESS);
SAME_VALUE(pm::kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME_VALUE(pm::kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME_VALUE(pm::kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_VALUE(pm::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME_VALUE(pm::kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
SAME_VALUE(pm::kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME_VALUE(pm::kVirtualDevice, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_VALUE(pm::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(pm::kVirtualInsufficientPrivileges,
           CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_VALUE(pm::kConfidentialComputing, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_VALUE(pm::kUnknown, CUPTI_ERROR_UNKNOWN);

#ifdef HAVE_PM_SAMPLING
SAME_VALUE(pm::kWslDevice, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME_VALUE(pm::kPmSampling, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME_VALUE(pm::kSysClockInterval, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME_VALUE(pm::kTimeInterval, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME_VALUE(pm::kOther, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER);
SAME_VALUE(pm::kDataFull, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME_VALUE(pm::kEndOfRecords, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);

// CUPTI compares the size that it is given with the one it knows, so these must agree.
#define SAME_STRUCT_SIZE(Ours, Theirs) \
  static_assert(pm::size_of<pm::Ours>() == Theirs##_Params_STRUCT_SIZE)
#define SAME_FIELD(Ours, ours, Theirs, theirs) SAME_PLACE(pm::Ours, ours, Theirs##_Params, theirs)

SAME_STRUCT_SIZE(ProfilerInitialize, CUpti_Profiler_Initialize);
SAME_STRUCT_SIZE(ChipName, CUpti_Device_GetChipName);
SAME_FIELD(ChipName, device, CUpti_Device_GetChipName, deviceIndex);
SAME_FIELD(ChipName, chip, CUpti_Device_GetChipName, pChipName);
SAME_STRUCT_SIZE(Availability, CUpti_PmSampling_GetCounterAvailability);
SAME_FIELD(Availability, device, CUpti_PmSampling_GetCounterAvailability, deviceIndex);
SAME_FIELD(Availability, image_size, CUpti_PmSampling_GetCounterAvailability,
           counterAvailabilityImageSize);
SAME_FIELD(Availability, image, CUpti_PmSampling_GetCounterAvailability, pCounterAvailabilityImage);

SAME_FIELD(HostInitialize, type, CUpti_Profiler_Host_Initialize, profilerType);
SAME_FIELD(HostInitialize, chip, CUpti_Profiler_Host_Initialize, pChipName);
SAME_FIELD(HostInitialize, availability, CUpti_Profiler_Host_Initialize, pCounterAvailabilityImage);
SAME_FIELD(HostInitialize, host, CUpti_Profiler_Host_Initialize, pHostObject);
#if CUDA_VERSION >= 13020
SAME_FIELD(HostInitialize, metric_set, CUpti_Profiler_Host_Initialize, pSinglePassMetricSetName);
SAME_SIZE(pm::HostInitialize, CUpti_Profiler_Host_Initialize_Params);
#else
SAME_STRUCT_SIZE(HostInitialize, CUpti_Profiler_Host_Initialize);
#endif
SAME_STRUCT_SIZE(HostDeinitialize, CUpti_Profiler_Host_Deinitialize);
SAME_FIELD(HostDeinitialize, host, CUpti_Profiler_Host_Deinitialize, pHostObject);
SAME_STRUCT_SIZE(AddMetrics, CUpti_Profiler_Host_ConfigAddMetrics);
SAME_FIELD(AddMetrics, host, CUpti_Profiler_Host_ConfigAddMetrics, pHostObject);
SAME_FIELD(AddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
SAME_FIELD(AddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics);
SAME_STRUCT_SIZE(ConfigSize, CUpti_Profiler_Host_GetConfigImageSize);
SAME_FIELD(ConfigSize, host, CUpti_Profiler_Host_GetConfigImageSize, pHostObject);
SAME_FIELD(ConfigSize, config_size, CUpti_Profiler_Host_GetConfigImageSize, configImageSize);
SAME_STRUCT_SIZE(ConfigImage, CUpti_Profiler_Host_GetConfigImage);
SAME_FIELD(ConfigImage, host, CUpti_Profiler_Host_GetConfigImage, pHostObject);
SAME_FIELD(ConfigImage, config_size, CUpti_Profiler_Host_GetConfigImage, configImageSize);
SAME_FIELD(ConfigImage, config, CUpti_Profiler_Host_GetConfigImage, pConfigImage);
SAME_STRUCT_SIZE(Passes, CUpti_Profiler_Host_GetNumOfPasses);
SAME_FIELD(Passes, config_size, CUpti_Profiler_Host_GetNumOfPasses, configImageSize);
SAME_FIELD(Passes, config, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage);
SAME_FIELD(Passes, passes, CUpti_Profiler_Host_GetNumOfPasses, numOfPasses);
SAME_STRUCT_SIZE(Evaluate, CUpti_Profiler_Host_EvaluateToGpuValues);
SAME_FIELD(Evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject);
SAME_FIELD(Evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage);
SAME_FIELD(Evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize);
SAME_FIELD(Evaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
SAME_FIELD(Evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
SAME_FIELD(Evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics);
SAME_FIELD(Evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues);

SAME_STRUCT_SIZE(Enable, CUpti_PmSampling_Enable);
SAME_FIELD(Enable, device, CUpti_PmSampling_Enable, deviceIndex);
SAME_FIELD(Enable, sampling, CUpti_PmSampling_Enable, pPmSamplingObject);
SAME_STRUCT_SIZE(OfSampling, CUpti_PmSampling_Disable);
SAME_FIELD(OfSampling, sampling, CUpti_PmSampling_Disable, pPmSamplingObject);
SAME_STRUCT_SIZE(OfSampling, CUpti_PmSampling_Start);
SAME_FIELD(OfSampling, sampling, CUpti_PmSampling_Start, pPmSamplingObject);
SAME_STRUCT_SIZE(OfSampling, CUpti_PmSampling_Stop);
SAME_FIELD(OfSampling, sampling, CUpti_PmSampling_Stop, pPmSamplingObject);
SAME_STRUCT_SIZE(SetConfig, CUpti_PmSampling_SetConfig);
SAME_FIELD(SetConfig, sampling, CUpti_PmSampling_SetConfig, pPmSamplingObject);
SAME_FIELD(SetConfig, config_size, CUpti_PmSampling_SetConfig, configSize);
SAME_FIELD(SetConfig, config, CUpti_PmSampling_SetConfig, pConfig);
SAME_FIELD(SetConfig, buffer_bytes, CUpti_PmSampling_SetConfig, hardwareBufferSize);
SAME_FIELD(SetConfig, interval, CUpti_PmSampling_SetConfig, samplingInterval);
SAME_FIELD(SetConfig, trigger, CUpti_PmSampling_SetConfig, triggerMode);
SAME_FIELD(SetConfig, keep_latest, CUpti_PmSampling_SetConfig, hwBufferAppendMode);
SAME_STRUCT_SIZE(DataSize, CUpti_PmSampling_GetCounterDataSize);
SAME_FIELD(DataSize, sampling, CUpti_PmSampling_GetCounterDataSize, pPmSamplingObject);
SAME_FIELD(DataSize, names, CUpti_PmSampling_GetCounterDataSize, pMetricNames);
SAME_FIELD(DataSize, count, CUpti_PmSampling_GetCounterDataSize, numMetrics);
SAME_FIELD(DataSize, most_samples, CUpti_PmSampling_GetCounterDataSize, maxSamples);
SAME_FIELD(DataSize, data_size, CUpti_PmSampling_GetCounterDataSize, counterDataSize);
SAME_STRUCT_SIZE(DataInitialize, CUpti_PmSampling_CounterDataImage_Initialize);
SAME_FIELD(DataInitialize, sampling, CUpti_PmSampling_CounterDataImage_Initialize,
           pPmSamplingObject);
SAME_FIELD(DataInitialize, data_size, CUpti_PmSampling_CounterDataImage_Initialize,
           counterDataSize);
SAME_FIELD(DataInitialize, data, CUpti_PmSampling_CounterDataImage_Initialize, pCounterData);
SAME_STRUCT_SIZE(Decode, CUpti_PmSampling_DecodeData);
SAME_FIELD(Decode, sampling, CUpti_PmSampling_DecodeData, pPmSamplingObject);
SAME_FIELD(Decode, data, CUpti_PmSampling_DecodeData, pCounterDataImage);
SAME_FIELD(Decode, data_size, CUpti_PmSampling_DecodeData, counterDataImageSize);
SAME_FIELD(Decode, stop, CUpti_PmSampling_DecodeData, decodeStopReason);
SAME_FIELD(Decode, overflow, CUpti_PmSampling_DecodeData, overflow);
SAME_STRUCT_SIZE(DataInfo, CUpti_PmSampling_GetCounterDataInfo);
SAME_FIELD(DataInfo, data, CUpti_PmSampling_GetCounterDataInfo, pCounterDataImage);
SAME_FIELD(DataInfo, data_size, CUpti_PmSampling_GetCounterDataInfo, counterDataImageSize);
SAME_FIELD(DataInfo, total, CUpti_PmSampling_GetCounterDataInfo, numTotalSamples);
SAME_FIELD(DataInfo, populated, CUpti_PmSampling_GetCounterDataInfo, numPopulatedSamples);
SAME_FIELD(DataInfo, completed, CUpti_PmSampling_GetCounterDataInfo, numCompletedSamples);
#endif

}  // namespace hypermile
