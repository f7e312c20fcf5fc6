// SPDX-License-Identifier: Apache-2.0
//
// Compares hypermile's and the NVML stand-in's declarations of NVML with NVIDIA's header. What a
// later NVML added is compared if the header has it.
#include <nvml.h>

#include "same_abi.h"
#include "sim/stand_in/nvml_more_abi.h"

namespace hypermile {

SAME_VALUE(nvml::kSuccess, NVML_SUCCESS);
SAME_VALUE(nvml::kUninitialized, NVML_ERROR_UNINITIALIZED);
SAME_VALUE(nvml::kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
SAME_VALUE(nvml::kNotSupported, NVML_ERROR_NOT_SUPPORTED);
SAME_VALUE(nvml::kNoPermission, NVML_ERROR_NO_PERMISSION);
SAME_VALUE(nvml::kAlreadyInitialized, NVML_ERROR_ALREADY_INITIALIZED);
SAME_VALUE(nvml::kNotFound, NVML_ERROR_NOT_FOUND);
SAME_VALUE(nvml::kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
SAME_VALUE(nvml::kInsufficientPower, NVML_ERROR_INSUFFICIENT_POWER);
SAME_VALUE(nvml::kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
SAME_VALUE(nvml::kTimeout, NVML_ERROR_TIMEOUT);
SAME_VALUE(nvml::kIrqIssue, NVML_ERROR_IRQ_ISSUE);
SAME_VALUE(nvml::kLibraryNotFound, NVML_ERROR_LIBRARY_NOT_FOUND);
SAME_VALUE(nvml::kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME_VALUE(nvml::kCorruptedInforom, NVML_ERROR_CORRUPTED_INFOROM);
SAME_VALUE(nvml::kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
SAME_VALUE(nvml::kResetRequired, NVML_ERROR_RESET_REQUIRED);
SAME_VALUE(nvml::kOperatingSystem, NVML_ERROR_OPERATING_SYSTEM);
SAME_VALUE(nvml::kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME_VALUE(nvml::kInUse, NVML_ERROR_IN_USE);
SAME_VALUE(nvml::kMemory, NVML_ERROR_MEMORY);
SAME_VALUE(nvml::kNoData, NVML_ERROR_NO_DATA);
SAME_VALUE(nvml::kVgpuEccNotSupported, NVML_ERROR_VGPU_ECC_NOT_SUPPORTED);
SAME_VALUE(nvml::kInsufficientResources, NVML_ERROR_INSUFFICIENT_RESOURCES);
SAME_VALUE(nvml::kFreqNotSupported, NVML_ERROR_FREQ_NOT_SUPPORTED);
SAME_VALUE(nvml::kArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME_VALUE(nvml::kUnknown, NVML_ERROR_UNKNOWN);

SAME_VALUE(nvml::kClockGraphics, NVML_CLOCK_GRAPHICS);
SAME_VALUE(nvml::kClockSm, NVML_CLOCK_SM);
SAME_VALUE(nvml::kClockMemory, NVML_CLOCK_MEM);
SAME_VALUE(nvml::kClockVideo, NVML_CLOCK_VIDEO);
SAME_VALUE(nvml::kClockTypes, NVML_CLOCK_COUNT);
SAME_VALUE(nvml::kClockCurrent, NVML_CLOCK_ID_CURRENT);
SAME_VALUE(nvml::kClockAppTarget, NVML_CLOCK_ID_APP_CLOCK_TARGET);
SAME_VALUE(nvml::kClockAppDefault, NVML_CLOCK_ID_APP_CLOCK_DEFAULT);
SAME_VALUE(nvml::kClockBoostMax, NVML_CLOCK_ID_CUSTOMER_BOOST_MAX);
SAME_VALUE(nvml::kClockLimitTdp, NVML_CLOCK_LIMIT_ID_TDP);
SAME_VALUE(nvml::kClockLimitUnlimited, NVML_CLOCK_LIMIT_ID_UNLIMITED);
SAME_VALUE(nvml::kTemperatureGpu, NVML_TEMPERATURE_GPU);
SAME_VALUE(nvml::kThresholdShutdown, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN);
SAME_VALUE(nvml::kThresholdSlowdown, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
SAME_VALUE(nvml::kTotalPowerSamples, NVML_TOTAL_POWER_SAMPLES);
SAME_VALUE(nvml::kGpuUtilizationSamples, NVML_GPU_UTILIZATION_SAMPLES);
SAME_VALUE(nvml::kMemoryUtilizationSamples, NVML_MEMORY_UTILIZATION_SAMPLES);
SAME_VALUE(nvml::kFieldTotalEnergy, NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION);
SAME_VALUE(nvml::kVirtualizationNone, NVML_GPU_VIRTUALIZATION_MODE_NONE);
SAME_VALUE(nvml::kVirtualizationPassthrough, NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH);
SAME_VALUE(nvml::kVirtualizationVgpu, NVML_GPU_VIRTUALIZATION_MODE_VGPU);
SAME_VALUE(nvml::kVirtualizationHostVgpu, NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU);
SAME_VALUE(nvml::kVirtualizationHostVsga, NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA);
SAME_VALUE(nvml::kMigEnabled, NVML_DEVICE_MIG_ENABLE);
SAME_VALUE(nvml::kArchitectureVolta, NVML_DEVICE_ARCH_VOLTA);
SAME_VALUE(nvml::kArchitectureAmpere, NVML_DEVICE_ARCH_AMPERE);
SAME_VALUE(nvml::kBrandGeForce, NVML_BRAND_GEFORCE);
SAME_VALUE(nvml::kBrandNvidiaRtx, NVML_BRAND_NVIDIA_RTX);
SAME_VALUE(nvml::kBrandNvidia, NVML_BRAND_NVIDIA);
SAME_VALUE(nvml::kDouble, NVML_VALUE_TYPE_DOUBLE);
SAME_VALUE(nvml::kUnsignedInt, NVML_VALUE_TYPE_UNSIGNED_INT);
SAME_VALUE(nvml::kUnsignedLong, NVML_VALUE_TYPE_UNSIGNED_LONG);
SAME_VALUE(nvml::kUnsignedLongLong, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
SAME_VALUE(nvml::kSignedLongLong, NVML_VALUE_TYPE_SIGNED_LONG_LONG);

SAME_VALUE(nvml::kGpmGraphics, NVML_GPM_METRIC_GRAPHICS_UTIL);
SAME_VALUE(nvml::kGpmSm, NVML_GPM_METRIC_SM_UTIL);
SAME_VALUE(nvml::kGpmSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY);
SAME_VALUE(nvml::kGpmInteger, NVML_GPM_METRIC_INTEGER_UTIL);
SAME_VALUE(nvml::kGpmAnyTensor, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
SAME_VALUE(nvml::kGpmDfmaTensor, NVML_GPM_METRIC_DFMA_TENSOR_UTIL);
SAME_VALUE(nvml::kGpmHmmaTensor, NVML_GPM_METRIC_HMMA_TENSOR_UTIL);
SAME_VALUE(nvml::kGpmImmaTensor, NVML_GPM_METRIC_IMMA_TENSOR_UTIL);
SAME_VALUE(nvml::kGpmDramBandwidth, NVML_GPM_METRIC_DRAM_BW_UTIL);
SAME_VALUE(nvml::kGpmFp64, NVML_GPM_METRIC_FP64_UTIL);
SAME_VALUE(nvml::kGpmFp32, NVML_GPM_METRIC_FP32_UTIL);
SAME_VALUE(nvml::kGpmFp16, NVML_GPM_METRIC_FP16_UTIL);
SAME_VALUE(nvml::kGpmPcieTx, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
SAME_VALUE(nvml::kGpmPcieRx, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
SAME_VALUE(nvml::kGpmNvlinkRx, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
SAME_VALUE(nvml::kGpmNvlinkTx, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);

SAME_SIZE(nvml::FieldValue, nvmlFieldValue_t);
SAME_PLACE(nvml::FieldValue, field_id, nvmlFieldValue_t, fieldId);
SAME_PLACE(nvml::FieldValue, scope_id, nvmlFieldValue_t, scopeId);
SAME_PLACE(nvml::FieldValue, timestamp_us, nvmlFieldValue_t, timestamp);
SAME_PLACE(nvml::FieldValue, latency_us, nvmlFieldValue_t, latencyUsec);
SAME_PLACE(nvml::FieldValue, type, nvmlFieldValue_t, valueType);
SAME_PLACE(nvml::FieldValue, status, nvmlFieldValue_t, nvmlReturn);
SAME_PLACE(nvml::FieldValue, value, nvmlFieldValue_t, value);
SAME_SIZE(nvml::PowerSample, nvmlSample_t);
SAME_PLACE(nvml::PowerSample, timestamp_us, nvmlSample_t, timeStamp);
SAME_PLACE(nvml::PowerSample, value, nvmlSample_t, sampleValue);
SAME_SIZE(nvml::Utilization, nvmlUtilization_t);
SAME_PLACE(nvml::Utilization, gpu, nvmlUtilization_t, gpu);
SAME_PLACE(nvml::Utilization, memory, nvmlUtilization_t, memory);
SAME_SIZE(nvml::PciInfo, nvmlPciInfo_t);
SAME_PLACE(nvml::PciInfo, bus_id_legacy, nvmlPciInfo_t, busIdLegacy);
SAME_PLACE(nvml::PciInfo, domain, nvmlPciInfo_t, domain);
SAME_PLACE(nvml::PciInfo, bus, nvmlPciInfo_t, bus);
SAME_PLACE(nvml::PciInfo, device, nvmlPciInfo_t, device);
SAME_PLACE(nvml::PciInfo, device_id, nvmlPciInfo_t, pciDeviceId);
SAME_PLACE(nvml::PciInfo, subsystem_id, nvmlPciInfo_t, pciSubSystemId);
SAME_PLACE(nvml::PciInfo, bus_id, nvmlPciInfo_t, busId);
SAME_SIZE(nvml::Memory1, nvmlMemory_t);
SAME_PLACE(nvml::Memory1, total, nvmlMemory_t, total);
SAME_PLACE(nvml::Memory1, free, nvmlMemory_t, free);
SAME_PLACE(nvml::Memory1, used, nvmlMemory_t, used);
SAME_SIZE(nvml::Memory2, nvmlMemory_v2_t);
SAME_PLACE(nvml::Memory2, version, nvmlMemory_v2_t, version);
SAME_PLACE(nvml::Memory2, total, nvmlMemory_v2_t, total);
SAME_PLACE(nvml::Memory2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(nvml::Memory2, free, nvmlMemory_v2_t, free);
SAME_PLACE(nvml::Memory2, used, nvmlMemory_v2_t, used);
SAME_VALUE(nvml::kMemoryVersion2, nvmlMemory_v2);
SAME_SIZE(nvml::ProcessHead, nvmlProcessInfo_v1_t);
SAME_PLACE(nvml::ProcessHead, pid, nvmlProcessInfo_v1_t, pid);
SAME_PLACE(nvml::ProcessHead, used_memory, nvmlProcessInfo_v1_t, usedGpuMemory);
SAME_SIZE(nvml::Process1, nvmlProcessInfo_v1_t);
SAME_PLACE(nvml::Process1, pid, nvmlProcessInfo_v1_t, pid);
SAME_PLACE(nvml::Process1, used_memory, nvmlProcessInfo_v1_t, usedGpuMemory);
SAME_SIZE(nvml::Process2, nvmlProcessInfo_v2_t);
SAME_PLACE(nvml::Process2, pid, nvmlProcessInfo_v2_t, pid);
SAME_PLACE(nvml::Process2, used_memory, nvmlProcessInfo_v2_t, usedGpuMemory);
SAME_PLACE(nvml::Process2, gpu_instance, nvmlProcessInfo_v2_t, gpuInstanceId);
SAME_PLACE(nvml::Process2, compute_instance, nvmlProcessInfo_v2_t, computeInstanceId);
SAME_SIZE(nvml::ProcessUtilization, nvmlProcessUtilizationSample_t);
SAME_PLACE(nvml::ProcessUtilization, pid, nvmlProcessUtilizationSample_t, pid);
SAME_PLACE(nvml::ProcessUtilization, timestamp_us, nvmlProcessUtilizationSample_t, timeStamp);
SAME_PLACE(nvml::ProcessUtilization, sm, nvmlProcessUtilizationSample_t, smUtil);
SAME_PLACE(nvml::ProcessUtilization, memory, nvmlProcessUtilizationSample_t, memUtil);
SAME_PLACE(nvml::ProcessUtilization, encoder, nvmlProcessUtilizationSample_t, encUtil);
SAME_PLACE(nvml::ProcessUtilization, decoder, nvmlProcessUtilizationSample_t, decUtil);

SAME_SIZE(nvml::GpmSupport, nvmlGpmSupport_t);
SAME_PLACE(nvml::GpmSupport, version, nvmlGpmSupport_t, version);
SAME_PLACE(nvml::GpmSupport, supported, nvmlGpmSupport_t, isSupportedDevice);
SAME_VALUE(nvml::kGpmSupportVersion1, NVML_GPM_SUPPORT_VERSION);
SAME_SIZE(nvml::GpmMetric, nvmlGpmMetric_t);
SAME_PLACE(nvml::GpmMetric, id, nvmlGpmMetric_t, metricId);
SAME_PLACE(nvml::GpmMetric, status, nvmlGpmMetric_t, nvmlReturn);
SAME_PLACE(nvml::GpmMetric, value, nvmlGpmMetric_t, value);
static_assert(offsetof(nvml::GpmMetric, short_name) == offsetof(nvmlGpmMetric_t, metricInfo));
SAME_VALUE(nvml::kGpmMetricsGetVersion1, NVML_GPM_METRICS_GET_VERSION);
SAME_PLACE(nvml::GpmMetricsGet, version, nvmlGpmMetricsGet_t, version);
SAME_PLACE(nvml::GpmMetricsGet, count, nvmlGpmMetricsGet_t, numMetrics);
SAME_PLACE(nvml::GpmMetricsGet, first, nvmlGpmMetricsGet_t, sample1);
SAME_PLACE(nvml::GpmMetricsGet, second, nvmlGpmMetricsGet_t, sample2);
static_assert(offsetof(nvml::GpmMetricsGet, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));
// See the comment in nvml_abi.h.
static_assert(sizeof(nvml::GpmMetricsGet) >= sizeof(nvmlGpmMetricsGet_t));

#ifdef NVML_FI_DEV_POWER_INSTANT  // CUDA 12
SAME_VALUE(nvml::kDeprecated, NVML_ERROR_DEPRECATED);
SAME_VALUE(nvml::kNotReady, NVML_ERROR_NOT_READY);
SAME_VALUE(nvml::kGpuNotFound, NVML_ERROR_GPU_NOT_FOUND);
SAME_VALUE(nvml::kInvalidState, NVML_ERROR_INVALID_STATE);
SAME_VALUE(nvml::kFieldPowerAverage, NVML_FI_DEV_POWER_AVERAGE);
SAME_VALUE(nvml::kFieldPowerInstant, NVML_FI_DEV_POWER_INSTANT);
SAME_VALUE(nvml::kSignedInt, NVML_VALUE_TYPE_SIGNED_INT);
SAME_VALUE(nvml::kUnsignedShort, NVML_VALUE_TYPE_UNSIGNED_SHORT);
SAME_SIZE(nvml::PciInfoExt, nvmlPciInfoExt_v1_t);
SAME_PLACE(nvml::PciInfoExt, version, nvmlPciInfoExt_v1_t, version);
SAME_PLACE(nvml::PciInfoExt, domain, nvmlPciInfoExt_v1_t, domain);
SAME_PLACE(nvml::PciInfoExt, bus, nvmlPciInfoExt_v1_t, bus);
SAME_PLACE(nvml::PciInfoExt, device, nvmlPciInfoExt_v1_t, device);
SAME_PLACE(nvml::PciInfoExt, device_id, nvmlPciInfoExt_v1_t, pciDeviceId);
SAME_PLACE(nvml::PciInfoExt, subsystem_id, nvmlPciInfoExt_v1_t, pciSubSystemId);
SAME_PLACE(nvml::PciInfoExt, base_class, nvmlPciInfoExt_v1_t, baseClass);
SAME_PLACE(nvml::PciInfoExt, sub_class, nvmlPciInfoExt_v1_t, subClass);
SAME_PLACE(nvml::PciInfoExt, bus_id, nvmlPciInfoExt_v1_t, busId);
SAME_VALUE(nvml::kPciInfoExtVersion1, nvmlPciInfoExt_v1);
SAME_SIZE(nvml::PowerValue2, nvmlPowerValue_v2_t);
SAME_PLACE(nvml::PowerValue2, version, nvmlPowerValue_v2_t, version);
SAME_PLACE(nvml::PowerValue2, milliwatts, nvmlPowerValue_v2_t, powerValueMw);
SAME_VALUE(nvml::kPowerValueVersion2, nvmlPowerValue_v2);
SAME_SIZE(nvml::Temperature, nvmlTemperature_v1_t);
SAME_PLACE(nvml::Temperature, version, nvmlTemperature_v1_t, version);
SAME_PLACE(nvml::Temperature, sensor, nvmlTemperature_v1_t, sensorType);
SAME_PLACE(nvml::Temperature, celsius, nvmlTemperature_v1_t, temperature);
SAME_VALUE(nvml::kTemperatureVersion1, nvmlTemperature_v1);
SAME_SIZE(nvml::Uuid, nvmlUUID_v1_t);
SAME_PLACE(nvml::Uuid, version, nvmlUUID_v1_t, version);
SAME_PLACE(nvml::Uuid, type, nvmlUUID_v1_t, type);
static_assert(offsetof(nvml::Uuid, text) == offsetof(nvmlUUID_v1_t, value));
SAME_VALUE(nvml::kUuidVersion1, nvmlUUID_v1);
#endif

}  // namespace hypermile
