// SPDX-License-Identifier: Apache-2.0
//
// The parts of the binary interfaces of the CUDA driver and of CUPTI that the injected library
// uses, written down so that the build needs no vendor header. Numbers and layouts are NVIDIA's and
// have not changed from CUDA 11 to 13; names are ours. tests/abi compares them with NVIDIA's
// headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile::cuda {

using Handle = void*;  // CUcontext, CUfunction, CUstream, CUevent, CUgraphExec

enum DriverResult : int {
  kDriverSuccess = 0,
  kDriverNotReady = 600,  // an event that has not happened yet
};
enum CaptureStatus : int { kCaptureNone = 0 };
enum CaptureMode : int { kCaptureModeRelaxed = 2 };

// Stands for the calling thread's own default stream.
inline Handle per_thread_stream() {
  return reinterpret_cast<Handle>(2);
}

struct Grid {
  unsigned x, y, z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
};

struct LaunchConfig {
  Grid grid;
  Handle stream;
  void* attributes;
  unsigned attribute_count;
};

// CUDA_LAUNCH_PARAMS. The parameters of cuLaunchKernel and cuLaunchCooperativeKernel begin with the
// same members.
struct LaunchParams {
  Handle function;
  Grid grid;
  Handle stream;
  void** kernel_params;
};
struct LaunchKernelExParams {
  const LaunchConfig* config;
  Handle function;
  void** kernel_params;
  void** extra;
};
struct LaunchMultiDeviceParams {
  const LaunchParams* launches;
  unsigned count;
  unsigned flags;
};
// The parameters of cuLaunchGridAsync. Those of cuLaunchGrid end before the stream, those of
// cuLaunch before the width.
struct LaunchGridParams {
  Handle function;
  int width;
  int height;
  Handle stream;
};
struct GraphLaunchParams {
  Handle graph;
  Handle stream;
};

}  // namespace hypermile::cuda

namespace hypermile::cupti {

struct SubscriberTag;
using Subscriber = SubscriberTag*;

enum Result : int {
  kSuccess = 0,
  kMaxLimitReached = 12,  // CUPTI before 11 returned this instead of:
  kMultipleSubscribers = 39,
};

enum Domain : int { kDriverApi = 1 };
enum Site : int { kEnter = 0, kExit = 1 };

// The driver function that a callback reports.
enum DriverFunction : std::uint32_t {
  kModuleUnload = 22,
  kLaunch = 115,
  kLaunchGrid = 116,
  kLaunchGridAsync = 117,
  kLaunchKernel = 307,
  kLaunchKernelPtsz = 442,
  kLaunchCooperative = 477,
  kLaunchCooperativePtsz = 478,
  kLaunchCooperativeMultiDevice = 480,
  kBeginCapture = 495,
  kBeginCapturePtsz = 496,
  kEndCapture = 497,
  kEndCapturePtsz = 498,
  kGraphLaunch = 514,
  kGraphLaunchPtsz = 515,
  kBeginCaptureV2 = 539,
  kBeginCaptureV2Ptsz = 540,
  kLaunchKernelEx = 652,
  kLaunchKernelExPtsz = 653,
  kLibraryUnload = 680,
  kBeginCaptureToGraph = 720,
  kBeginCaptureToGraphPtsz = 721,
};

struct CallbackData {
  Site site;
  const char* function_name;
  const void* params;
  void* return_value;
  const char* symbol_name;  // the kernel's name; may be null
  cuda::Handle context;
  std::uint32_t context_uid;  // unique within a process
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

using Callback = void (*)(void* user, Domain domain, std::uint32_t function,
                          const CallbackData* data);

}  // namespace hypermile::cupti
