// SPDX-License-Identifier: Apache-2.0
//
// Turns CUPTI's callbacks into launch records. It runs inside the job's launch calls, on any of its
// threads: lock-free, without allocation or waiting, in about 50 ns.
#pragma once

#include <cstdint>

#include "inject/cuda_abi.h"
#include "inject/dark_stretches.h"
#include "inject/gpu_events.h"
#include "inject/handle_table.h"
#include "inject/ring_writer.h"

namespace hypermile {

class LaunchWatch {
 public:
  constexpr LaunchWatch() = default;

  static constexpr std::uint32_t kLaunches[] = {
      cupti::kLaunchKernel,
      cupti::kLaunch,
      cupti::kLaunchGrid,
      cupti::kLaunchGridAsync,
      cupti::kLaunchKernelPtsz,
      cupti::kLaunchKernelEx,
      cupti::kLaunchKernelExPtsz,
      cupti::kLaunchCooperative,
      cupti::kLaunchCooperativePtsz,
      cupti::kLaunchCooperativeMultiDevice,
      cupti::kGraphLaunch,
      cupti::kGraphLaunchPtsz,
  };
  // Rare calls that decide what a launch means; they are watched even in dark stretches.
  static constexpr std::uint32_t kCircumstances[] = {
      cupti::kBeginCapture,       cupti::kBeginCapturePtsz,    cupti::kBeginCaptureV2,
      cupti::kBeginCaptureV2Ptsz, cupti::kBeginCaptureToGraph, cupti::kBeginCaptureToGraphPtsz,
      cupti::kEndCapture,         cupti::kEndCapturePtsz,      cupti::kModuleUnload,
      cupti::kLibraryUnload,
  };

  void start(const Driver& driver, DarkStretches& dark);
  // The calling thread begins a step, which NVTX or a tick reported. May be called before start().
  void on_step(const Mark& step, std::uint64_t now_ns) { events_.on_step(step, now_ns); }
  // Says whether launches will be reported from now on.
  void set_watching(bool watching) { events_.set_watching(watching); }
  void on_call(RingWriter& ring, std::uint32_t function, const cupti::CallbackData& data);

 private:
  struct Call {
    cuda::Handle what;  // function or graph
    const char* name;   // null for a graph
    cuda::Handle stream;
    std::uint32_t blocks;
    std::uint32_t context_uid;
  };

  static Call call_of(const cuda::LaunchParams& params, bool per_thread,
                      const cupti::CallbackData& data);
  static Call old_call_of(std::uint32_t function, const cupti::CallbackData& data);
  void on_enter(RingWriter& ring, std::uint32_t function, const cupti::CallbackData& data);
  void on_exit(std::uint32_t function, const cupti::CallbackData& data);
  void record(RingWriter& ring, const Call& call);
  std::uint32_t kernel_id(RingWriter& ring, const Call& call);
  std::uint32_t stream_id(cuda::Handle stream);
  void meet_context(RingWriter& ring, std::uint32_t context_uid);

  static constexpr std::uint32_t kMostStreams = 1024;

  const Driver* driver_ = nullptr;
  DarkStretches* dark_ = nullptr;
  std::uint32_t captures_ = 0;  // captures that have begun and not ended
  std::uint32_t stream_count_ = 0;
  std::uint32_t last_context_ = 0;  // the context's uid + 1
  GpuEvents events_;
  HandleTable<16384> kernels_;
  HandleTable<2 * kMostStreams> streams_;
  HandleTable<256> contexts_;
};

}  // namespace hypermile
