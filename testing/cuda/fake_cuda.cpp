// SPDX-License-Identifier: Apache-2.0
#include "testing/cuda/fake_cuda.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

using hypermile::cupti::CallbackData;
namespace cuda = hypermile::cuda;
namespace cupti = hypermile::cupti;

namespace {

// The GPU is this many launches behind the host.
constexpr std::uint64_t kLag = 25;

struct Function {
  std::string name;
};
struct Event {
  double gpu_seconds = 0;
  std::uint64_t done_at = 0;  // number of launches after which it has happened
};

struct Machine {
  std::mutex mutex;
  std::map<void*, int> capturing;  // stream -> mode
  double kernel_seconds = 10e-6;
  double gpu_seconds = 0;  // total time of all kernels so far
  std::uint64_t launches = 0;
  std::deque<Function> functions;  // also graphs; handles are their addresses
  std::deque<Event> events;
};

// Never destroyed, because threads may still launch while the process exits.
Machine& machine() {
  static auto* made = new Machine;
  return *made;
}

std::atomic<FakeHook> tool_hook = nullptr;
std::atomic<unsigned> violations = 0;
thread_local unsigned context_uid = 1;
thread_local int context_device = 0;
thread_local int capture_mode = 0;  // global mode, the default of a new thread

// Calls the hook before and after the call, as CUPTI would.
template <class Params, class Body>
int traced(unsigned function, const Params& params, const char* symbol, Body body) {
  int result = 0;
  std::uint64_t correlation = 0;
  CallbackData data{};
  data.params = &params;
  data.return_value = &result;
  data.symbol_name = symbol;
  data.context = reinterpret_cast<void*>(std::uintptr_t{0x1000} + context_uid);
  data.context_uid = context_uid;
  data.correlation_data = &correlation;
  const FakeHook enter = tool_hook.load();
  data.site = cupti::kEnter;
  if (enter) enter(function, &data);
  result = body();
  const FakeHook leave = tool_hook.load();
  data.site = cupti::kExit;
  if (leave) leave(function, &data);
  return result;
}

int run_on(void* stream) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  if (gpu.capturing.count(stream) != 0) return 0;
  gpu.gpu_seconds += gpu.kernel_seconds;
  ++gpu.launches;
  return 0;
}

const char* name_of(void* function) {
  return static_cast<Function*>(function)->name.c_str();
}

int launch(unsigned which, void* function, const cuda::Grid& grid, void* stream) {
  const cuda::LaunchParams params{function, grid, stream, nullptr};
  return traced(which, params, name_of(function), [&] { return run_on(stream); });
}

// A call that affects more than the capture invalidates captures in global mode, unless its thread
// has switched to relaxed mode.
void note_unsafe_call() {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  if (capture_mode != cuda::kCaptureModeRelaxed && !gpu.capturing.empty()) ++violations;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (!path) return;
    if (void* library = ::dlopen(path, RTLD_NOW))
      if (auto* start = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection")))
        start();
  });
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuCtxGetDevice(int* device) {
  *device = context_device;
  return 0;
}

int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void**, void**) {
  return launch(cupti::kLaunchKernel, function, {x, y, z, bx, by, bz, shared}, stream);
}

int cuLaunchKernel_ptsz(void* function, unsigned x, unsigned y, unsigned z, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, void* stream, void**, void**) {
  return launch(cupti::kLaunchKernelPtsz, function, {x, y, z, bx, by, bz, shared}, stream);
}

int cuLaunchKernelEx(const cuda::LaunchConfig* config, void* function, void** params,
                     void** extra) {
  const cuda::LaunchKernelExParams all{config, function, params, extra};
  return traced(cupti::kLaunchKernelEx, all, name_of(function),
                [&] { return run_on(config->stream); });
}

int cuLaunchKernelEx_ptsz(const cuda::LaunchConfig* config, void* function, void** params,
                          void** extra) {
  const cuda::LaunchKernelExParams all{config, function, params, extra};
  return traced(cupti::kLaunchKernelExPtsz, all, name_of(function),
                [&] { return run_on(config->stream); });
}

int cuLaunchCooperativeKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void* stream, void**) {
  return launch(cupti::kLaunchCooperative, function, {x, y, z, bx, by, bz, shared}, stream);
}

int cuLaunchCooperativeKernelMultiDevice(cuda::LaunchParams* launches, unsigned count,
                                         unsigned flags) {
  const cuda::LaunchMultiDeviceParams params{launches, count, flags};
  return traced(cupti::kLaunchCooperativeMultiDevice, params, name_of(launches[0].function),
                [] { return 0; });
}

int cuLaunchGridAsync(void* function, int width, int height, void* stream) {
  const cuda::LaunchGridParams params{function, width, height, stream};
  return traced(cupti::kLaunchGridAsync, params, name_of(function), [&] { return run_on(stream); });
}

int cuGraphLaunch(void* graph, void* stream) {
  const cuda::GraphLaunchParams params{graph, stream};
  return traced(cupti::kGraphLaunch, params, nullptr, [&] { return run_on(stream); });
}

int cuStreamBeginCapture_v2(void* stream, int mode) {
  return traced(cupti::kBeginCaptureV2, stream, nullptr, [&] {
    Machine& gpu = machine();
    const std::lock_guard lock(gpu.mutex);
    gpu.capturing[stream] = mode;
    return 0;
  });
}

int cuStreamEndCapture(void* stream, void** graph) {
  return traced(cupti::kEndCapture, stream, nullptr, [&] {
    Machine& gpu = machine();
    const std::lock_guard lock(gpu.mutex);
    gpu.capturing.erase(stream);
    *graph = &gpu.functions.emplace_back();
    return 0;
  });
}

int cuStreamIsCapturing(void* stream, int* status) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  *status = gpu.capturing.count(stream) != 0 ? 1 : 0;
  return 0;
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(capture_mode, *mode);
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  note_unsafe_call();
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  *event = &gpu.events.emplace_back();
  return 0;
}

int cuEventRecord(void* event, void* stream) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  if (gpu.capturing.count(stream) != 0) ++violations;
  *static_cast<Event*>(event) = {gpu.gpu_seconds, gpu.launches + kLag};
  return 0;
}

int cuEventQuery(void* event) {
  note_unsafe_call();
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  return gpu.launches >= static_cast<Event*>(event)->done_at ? 0 : cuda::kDriverNotReady;
}

int cuEventElapsedTime(float* ms, void* from, void* to) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  *ms = static_cast<float>(
      (static_cast<Event*>(to)->gpu_seconds - static_cast<Event*>(from)->gpu_seconds) * 1e3);
  return 0;
}

int cuModuleUnload(void* module) {
  return traced(cupti::kModuleUnload, module, nullptr, [] { return 0; });
}

void fake_set_hook(FakeHook hook) {
  tool_hook = hook;
}

void* fake_function(const char* name) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  return &gpu.functions.emplace_back(Function{name});
}

void fake_rename(void* function, const char* name) {
  static_cast<Function*>(function)->name = name;
}

void fake_use_context(unsigned uid, int device) {
  context_uid = uid;
  context_device = device;
}

void fake_kernel_time(double seconds) {
  Machine& gpu = machine();
  const std::lock_guard lock(gpu.mutex);
  gpu.kernel_seconds = seconds;
}

unsigned fake_violations() {
  return violations;
}
}
