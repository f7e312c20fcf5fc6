// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver without a GPU, for tests of the injected library: the handful of functions that
// launch, capture and time, as libcuda.so.1. cuInit loads CUDA_INJECTION64_PATH as the real one
// does. Kernels run one after the other, each as long as one says, on a GPU clock that only they
// move; the GPU is a few launches behind the host. So elapsed times repeat exactly.
//
// It is stricter than the real driver: what would invalidate a capture is counted
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

// What the real one does not have.
using FakeHook = void (*)(unsigned function, const hypermile::cupti::CallbackData* data);
void fake_set_hook(FakeHook hook);                   // all driver calls, for the fake CUPTI
void* fake_function(const char* name);               // never freed; one handle a call
void fake_rename(void* function, const char* name);  // as when a handle is used again
void fake_use_context(unsigned uid, int device);     // of the calling thread
void fake_kernel_time(double seconds);               // of every launch from now on
unsigned fake_violations();
}
