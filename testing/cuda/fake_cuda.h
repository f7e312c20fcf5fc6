// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver without a GPU, built as libcuda.so.1, for tests of the injected library: the
// functions that launch, capture and time. cuInit loads CUDA_INJECTION64_PATH as the real driver
// does. Kernels run one after another, each for the time set by fake_kernel_time(), on a GPU clock
// that only they advance; the GPU is a few launches behind the host. So elapsed times repeat
// exactly.
//
// It is stricter than the real driver: calls that would invalidate a capture are counted
// (fake_violations).
#pragma once

#include "inject/cuda_abi.h"

extern "C" {

int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuCtxGetDevice(int* device);

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void* stream, void** params, void** extra);
int cuLaunchKernel_ptsz(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        void* stream, void** params, void** extra);
int cuLaunchKernelEx(const hypermile::cuda::LaunchConfig* config, void* function, void** params,
                     void** extra);
int cuLaunchKernelEx_ptsz(const hypermile::cuda::LaunchConfig* config, void* function,
                          void** params, void** extra);
int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void* stream, void** params);
int cuLaunchCooperativeKernelMultiDevice(hypermile::cuda::LaunchParams* launches, unsigned count,
                                         unsigned flags);
int cuLaunchGridAsync(void* function, int width, int height, void* stream);
int cuGraphLaunch(void* graph, void* stream);

int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuStreamIsCapturing(void* stream, int* status);
int cuThreadExchangeStreamCaptureMode(int* mode);

int cuEventCreate(void** event, unsigned flags);
int cuEventRecord(void* event, void* stream);
int cuEventQuery(void* event);
int cuEventElapsedTime(float* ms, void* from, void* to);
int cuModuleUnload(void* module);

// Functions that the real driver does not have.
using FakeHook = void (*)(unsigned function, const hypermile::cupti::CallbackData* data);
void fake_set_hook(FakeHook hook);      // sees all driver calls; the fake CUPTI uses it
void* fake_function(const char* name);  // a new handle for each call, never freed
void fake_rename(void* function, const char* name);  // as if the handle had been reused
void fake_use_context(unsigned uid, int device);     // for the calling thread
void fake_kernel_time(double seconds);               // for every later launch
unsigned fake_violations();
}
