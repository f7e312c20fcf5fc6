// SPDX-License-Identifier: Apache-2.0
#include "inject/launch_watch.h"

namespace hypermile {
namespace {

std::uint32_t blocks_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  const std::uint64_t plane = x * y;
  const std::uint64_t blocks = z == 0 || plane > 0xffff'ffffU / z ? 0xffff'ffffU : plane * z;
  return static_cast<std::uint32_t>(blocks < 0xffff'ffffU ? blocks : 0xffff'ffffU);
}

// Graphs have no names but keep their handles, so they are named "graph 7f00deadbeef".
void write_graph_name(char (&into)[32], cuda::Handle graph) {
  constexpr char kPrefix[] = "graph ";
  char* out = into;
  for (const char* in = kPrefix; *in != '\0'; ++in) *out++ = *in;
  const auto address = reinterpret_cast<std::uintptr_t>(graph);
  for (int shift = 44; shift >= 0; shift -= 4)
    *out++ = "0123456789abcdef"[(address >> static_cast<unsigned>(shift)) & 0xf];
  *out = '\0';
}

// In `per_thread` functions stream 0 means the thread's own stream, elsewhere the legacy stream.
cuda::Handle stream_of(cuda::Handle stream, bool per_thread) {
  return !stream && per_thread ? cuda::per_thread_stream() : stream;
}

const char* name_in(const cupti::CallbackData& data) {
  return data.symbol_name ? data.symbol_name : "(unnamed)";
}

}  // namespace

void LaunchWatch::start(const Driver& driver, DarkStretches& dark) {
  driver_ = &driver;
  dark_ = &dark;
  events_.start(driver);
}

void LaunchWatch::on_call(RingWriter& ring, std::uint32_t function,
                          const cupti::CallbackData& data) {
  if (data.site == cupti::kEnter) {
    if (data.params) on_enter(ring, function, data);
  } else {
    on_exit(function, data);
  }
}

LaunchWatch::Call LaunchWatch::call_of(const cuda::LaunchParams& params, bool per_thread,
                                       const cupti::CallbackData& data) {
  return {params.function, name_in(data), stream_of(params.stream, per_thread),
          blocks_of(params.grid.x, params.grid.y, params.grid.z), data.context_uid};
}

LaunchWatch::Call LaunchWatch::old_call_of(std::uint32_t function,
                                           const cupti::CallbackData& data) {
  const auto& params = *static_cast<const cuda::LaunchGridParams*>(data.params);
  Call call{params.function, name_in(data), nullptr, 1, data.context_uid};
  if (function != cupti::kLaunch)
    call.blocks =
        blocks_of(static_cast<unsigned>(params.width), static_cast<unsigned>(params.height), 1);
  if (function == cupti::kLaunchGridAsync) call.stream = params.stream;
  return call;
}

void LaunchWatch::on_enter(RingWriter& ring, std::uint32_t function,
                           const cupti::CallbackData& data) {
  switch (function) {
    case cupti::kLaunchKernel:
    case cupti::kLaunchCooperative:
      return record(ring,
                    call_of(*static_cast<const cuda::LaunchParams*>(data.params), false, data));
    case cupti::kLaunchKernelPtsz:
    case cupti::kLaunchCooperativePtsz:
      return record(ring,
                    call_of(*static_cast<const cuda::LaunchParams*>(data.params), true, data));
    case cupti::kLaunchKernelEx:
    case cupti::kLaunchKernelExPtsz: {
      const auto& params = *static_cast<const cuda::LaunchKernelExParams*>(data.params);
      if (!params.config) return;
      const cuda::LaunchParams plain{params.function, params.config->grid, params.config->stream,
                                     nullptr};
      return record(ring, call_of(plain, function == cupti::kLaunchKernelExPtsz, data));
    }
    case cupti::kGraphLaunch:
    case cupti::kGraphLaunchPtsz: {
      const auto& params = *static_cast<const cuda::GraphLaunchParams*>(data.params);
      const bool per_thread = function == cupti::kGraphLaunchPtsz;
      return record(
          ring, {params.graph, nullptr, stream_of(params.stream, per_thread), 0, data.context_uid});
    }
    case cupti::kLaunchCooperativeMultiDevice: {
      const auto& params = *static_cast<const cuda::LaunchMultiDeviceParams*>(data.params);
      for (unsigned i = 0; params.launches && i < params.count; ++i)
        record(ring, call_of(params.launches[i], false, data));
      return;
    }
    case cupti::kLaunch:
    case cupti::kLaunchGrid:
    case cupti::kLaunchGridAsync:
      return record(ring, old_call_of(function, data));
    default:
      return;
  }
}

void LaunchWatch::on_exit(std::uint32_t function, const cupti::CallbackData& data) {
  const bool good = data.return_value && *static_cast<const int*>(data.return_value) == 0;
  switch (function) {
    case cupti::kBeginCapture:
    case cupti::kBeginCapturePtsz:
    case cupti::kBeginCaptureV2:
    case cupti::kBeginCaptureV2Ptsz:
    case cupti::kBeginCaptureToGraph:
    case cupti::kBeginCaptureToGraphPtsz:
      if (good) __atomic_fetch_add(&captures_, 1, __ATOMIC_RELAXED);
      return;
    case cupti::kEndCapture:
    case cupti::kEndCapturePtsz:
      if (__atomic_load_n(&captures_, __ATOMIC_RELAXED) != 0)
        __atomic_fetch_sub(&captures_, 1, __ATOMIC_RELAXED);
      return;
    case cupti::kModuleUnload:
    case cupti::kLibraryUnload:
      kernels_.clear();
      return;
    default:
      return;
  }
}

void LaunchWatch::record(RingWriter& ring, const Call& call) {
  // A launch into a graph under capture does no work now, so it is counted but not recorded.
  if (__atomic_load_n(&captures_, __ATOMIC_RELAXED) != 0 &&
      !driver_->surely_not_capturing(call.stream)) {
    __atomic_fetch_add(&ring.header().in_capture, 1, __ATOMIC_RELAXED);
    return;
  }
  if (call.context_uid + 1 != __atomic_load_n(&last_context_, __ATOMIC_RELAXED))
    meet_context(ring, call.context_uid);
  const std::uint64_t now = monotonic_ns();
  const std::uint32_t kernel = kernel_id(ring, call);
  const std::uint64_t number =
      ring.put(now, pack_b(RecordKind::kLaunch, stream_id(call.stream), kernel), call.blocks);
  events_.on_launch(ring, {kernel, call.context_uid, call.stream}, number, now);
  dark_->on_launch(ring.control(), now);
}

std::uint32_t LaunchWatch::kernel_id(RingWriter& ring, const Call& call) {
  std::uint32_t id = kernels_.find(call.what);
  if (id != kernels_.kMissing) return id;
  if (call.name) {
    id = ring.intern(call.name);
  } else {
    char name[32];
    write_graph_name(name, call.what);
    id = ring.intern(name);
  }
  kernels_.insert(call.what, id);
  return id;
}

std::uint32_t LaunchWatch::stream_id(cuda::Handle stream) {
  std::uint32_t id = streams_.find(stream);
  if (id != streams_.kMissing) return id;
  id = __atomic_fetch_add(&stream_count_, 1, __ATOMIC_RELAXED);
  if (id >= kMostStreams - 1) {
    __atomic_store_n(&stream_count_, kMostStreams, __ATOMIC_RELAXED);  // the count must not wrap
    return kMostStreams - 1;
  }
  streams_.insert(stream, id);
  return id;
}

void LaunchWatch::meet_context(RingWriter& ring, std::uint32_t context_uid) {
  __atomic_store_n(&last_context_, context_uid + 1, __ATOMIC_RELAXED);
  const void* key = reinterpret_cast<const void*>(std::uintptr_t{context_uid} + 1);
  if (contexts_.find(key) != contexts_.kMissing) return;
  contexts_.insert(key, 0);
  __atomic_fetch_add(&ring.header().contexts, 1, __ATOMIC_RELAXED);
  int device = 0;
  const bool known = driver_->get_device && driver_->get_device(&device) == cuda::kDriverSuccess;
  ring.put(monotonic_ns(),
           pack_b(RecordKind::kContext, 0, known ? static_cast<std::uint32_t>(device) : kNoName),
           0);
}

}  // namespace hypermile
