// SPDX-License-Identifier: Apache-2.0
//
// Compares the injected library's declarations of CUDA, CUPTI and NVTX with NVIDIA's headers.
#include <cuda.h>
#include <cupti.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#define HAVE_NVTX 1
#include <nvtx3/nvToolsExt.h>
#endif

#include "inject/cuda_abi.h"
#include "inject/nvtx_abi.h"
#include "same_abi.h"

namespace hypermile {

SAME_VALUE(cuda::kDriverSuccess, CUDA_SUCCESS);
SAME_VALUE(cuda::kDriverNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(cuda::kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
SAME_VALUE(cuda::kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_SIZE(cuda::Handle, CUevent);
SAME_SIZE(cuda::CaptureStatus, CUstreamCaptureStatus);
SAME_SIZE(cuda::CaptureMode, CUstreamCaptureMode);

SAME_SIZE(cuda::LaunchParams, CUDA_LAUNCH_PARAMS);
SAME_PLACE(cuda::LaunchParams, function, CUDA_LAUNCH_PARAMS, function);
SAME_PLACE(cuda::LaunchParams, stream, CUDA_LAUNCH_PARAMS, hStream);
SAME_PLACE(cuda::LaunchParams, kernel_params, CUDA_LAUNCH_PARAMS, kernelParams);
static_assert(offsetof(cuda::LaunchParams, grid) == offsetof(CUDA_LAUNCH_PARAMS, gridDimX));
static_assert(offsetof(cuda::Grid, z) ==
              offsetof(CUDA_LAUNCH_PARAMS, gridDimZ) - offsetof(CUDA_LAUNCH_PARAMS, gridDimX));
static_assert(offsetof(cuda::LaunchParams, grid) == offsetof(cuLaunchKernel_params, gridDimX));
SAME_PLACE(cuda::LaunchParams, function, cuLaunchKernel_params, f);
SAME_PLACE(cuda::LaunchParams, stream, cuLaunchKernel_params, hStream);
SAME_PLACE(cuda::LaunchParams, function, cuLaunchKernel_ptsz_params, f);
SAME_PLACE(cuda::LaunchParams, stream, cuLaunchKernel_ptsz_params, hStream);
SAME_PLACE(cuda::LaunchParams, function, cuLaunchCooperativeKernel_params, f);
SAME_PLACE(cuda::LaunchParams, stream, cuLaunchCooperativeKernel_params, hStream);
SAME_SIZE(cuda::LaunchConfig, CUlaunchConfig);
SAME_PLACE(cuda::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_SIZE(cuda::LaunchKernelExParams, cuLaunchKernelEx_params);
SAME_PLACE(cuda::LaunchKernelExParams, config, cuLaunchKernelEx_params, config);
SAME_PLACE(cuda::LaunchKernelExParams, function, cuLaunchKernelEx_params, f);
SAME_SIZE(cuda::LaunchMultiDeviceParams, cuLaunchCooperativeKernelMultiDevice_params);
SAME_PLACE(cuda::LaunchMultiDeviceParams, count, cuLaunchCooperativeKernelMultiDevice_params,
           numDevices);
SAME_SIZE(cuda::LaunchGridParams, cuLaunchGridAsync_params);
SAME_PLACE(cuda::LaunchGridParams, height, cuLaunchGridAsync_params, grid_height);
SAME_PLACE(cuda::LaunchGridParams, stream, cuLaunchGridAsync_params, hStream);
SAME_PLACE(cuda::LaunchGridParams, height, cuLaunchGrid_params, grid_height);
SAME_SIZE(cuda::GraphLaunchParams, cuGraphLaunch_params);
SAME_PLACE(cuda::GraphLaunchParams, stream, cuGraphLaunch_params, hStream);

SAME_VALUE(cupti::kSuccess, CUPTI_SUCCESS);
SAME_VALUE(cupti::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(cupti::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_VALUE(cupti::kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_VALUE(cupti::kEnter, CUPTI_API_ENTER);
SAME_VALUE(cupti::kExit, CUPTI_API_EXIT);
SAME_SIZE(cupti::CallbackData, CUpti_CallbackData);
SAME_PLACE(cupti::CallbackData, site, CUpti_CallbackData, callbackSite);
SAME_PLACE(cupti::CallbackData, params, CUpti_CallbackData, functionParams);
SAME_PLACE(cupti::CallbackData, return_value, CUpti_CallbackData, functionReturnValue);
SAME_PLACE(cupti::CallbackData, symbol_name, CUpti_CallbackData, symbolName);
SAME_PLACE(cupti::CallbackData, context, CUpti_CallbackData, context);
SAME_PLACE(cupti::CallbackData, context_uid, CUpti_CallbackData, contextUid);
SAME_PLACE(cupti::CallbackData, correlation_id, CUpti_CallbackData, correlationId);

#define SAME_FUNCTION(ours, theirs) SAME_VALUE(cupti::ours, CUPTI_DRIVER_TRACE_CBID_##theirs)
SAME_FUNCTION(kModuleUnload, cuModuleUnload);
SAME_FUNCTION(kLaunch, cuLaunch);
SAME_FUNCTION(kLaunchGrid, cuLaunchGrid);
SAME_FUNCTION(kLaunchGridAsync, cuLaunchGridAsync);
SAME_FUNCTION(kLaunchKernel, cuLaunchKernel);
SAME_FUNCTION(kLaunchKernelPtsz, cuLaunchKernel_ptsz);
SAME_FUNCTION(kLaunchCooperative, cuLaunchCooperativeKernel);
SAME_FUNCTION(kLaunchCooperativePtsz, cuLaunchCooperativeKernel_ptsz);
SAME_FUNCTION(kLaunchCooperativeMultiDevice, cuLaunchCooperativeKernelMultiDevice);
SAME_FUNCTION(kBeginCapture, cuStreamBeginCapture);
SAME_FUNCTION(kBeginCapturePtsz, cuStreamBeginCapture_ptsz);
SAME_FUNCTION(kEndCapture, cuStreamEndCapture);
SAME_FUNCTION(kEndCapturePtsz, cuStreamEndCapture_ptsz);
SAME_FUNCTION(kGraphLaunch, cuGraphLaunch);
SAME_FUNCTION(kGraphLaunchPtsz, cuGraphLaunch_ptsz);
SAME_FUNCTION(kBeginCaptureV2, cuStreamBeginCapture_v2);
SAME_FUNCTION(kBeginCaptureV2Ptsz, cuStreamBeginCapture_v2_ptsz);
SAME_FUNCTION(kLaunchKernelEx, cuLaunchKernelEx);
SAME_FUNCTION(kLaunchKernelExPtsz, cuLaunchKernelEx_ptsz);
#if CUDA_VERSION >= 12000
SAME_FUNCTION(kLibraryUnload, cuLibraryUnload);
#endif
#if CUDA_VERSION >= 12030
SAME_FUNCTION(kBeginCaptureToGraph, cuStreamBeginCaptureToGraph);
SAME_FUNCTION(kBeginCaptureToGraphPtsz, cuStreamBeginCaptureToGraph_ptsz);
#endif

#ifdef HAVE_NVTX
SAME_VALUE(nvtx::kCallbacksTable, NVTX_ETID_CALLBACKS);
SAME_VALUE(nvtx::kCore, NVTX_CB_MODULE_CORE);
SAME_VALUE(nvtx::kCore2, NVTX_CB_MODULE_CORE2);
SAME_VALUE(nvtx::kRangeStartEx, NVTX_CBID_CORE_RangeStartEx);
SAME_VALUE(nvtx::kRangeStartA, NVTX_CBID_CORE_RangeStartA);
SAME_VALUE(nvtx::kRangePushEx, NVTX_CBID_CORE_RangePushEx);
SAME_VALUE(nvtx::kRangePushA, NVTX_CBID_CORE_RangePushA);
SAME_VALUE(nvtx::kDomainRangeStartEx, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME_VALUE(nvtx::kDomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx);
SAME_VALUE(nvtx::kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME_VALUE(nvtx::kAscii, NVTX_MESSAGE_TYPE_ASCII);
SAME_VALUE(nvtx::kRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
SAME_VALUE(nvtx::kNoPushPopTracking, NVTX_NO_PUSH_POP_TRACKING);
SAME_SIZE(nvtx::EventAttributes, nvtxEventAttributes_t);
SAME_PLACE(nvtx::EventAttributes, size, nvtxEventAttributes_t, size);
SAME_PLACE(nvtx::EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(nvtx::EventAttributes, message, nvtxEventAttributes_t, message);
SAME_SIZE(nvtx::CallbacksTable, NvtxExportTableCallbacks);
SAME_PLACE(nvtx::CallbacksTable, get_module, NvtxExportTableCallbacks, GetModuleFunctionTable);
#endif

}  // namespace hypermile
