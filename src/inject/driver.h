// SPDX-License-Identifier: Apache-2.0
//
// The few functions of the CUDA driver that the injected library calls, looked up in the driver
// that loaded it. An old driver may lack some; then no CUDA events are recorded.
#pragma once

#include "inject/cuda_abi.h"

namespace hypermile {

struct Driver {
  int (*get_version)(int*) = nullptr;
  int (*get_device)(int*) = nullptr;
  int (*event_create)(cuda::Handle*, unsigned) = nullptr;
  int (*event_record)(cuda::Handle, cuda::Handle stream) = nullptr;
  int (*event_query)(cuda::Handle) = nullptr;
  int (*event_elapsed_ms)(float*, cuda::Handle from, cuda::Handle to) = nullptr;
  int (*is_capturing)(cuda::Handle stream, cuda::CaptureStatus*) = nullptr;
  int (*exchange_capture_mode)(cuda::CaptureMode*) = nullptr;

  void load();
  bool can_time() const;
  // False also if the driver cannot tell.
  bool surely_not_capturing(cuda::Handle stream) const;
};

// While this object lives, calls of this thread cannot break a capture that some thread has begun
// in global mode. Our queries and events have nothing to do with the captured graph.
class RelaxedCaptureMode {
 public:
  explicit RelaxedCaptureMode(const Driver& driver) : driver_(driver) {
    driver_.exchange_capture_mode(&mode_);
  }
  ~RelaxedCaptureMode() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCaptureMode(const RelaxedCaptureMode&) = delete;
  RelaxedCaptureMode& operator=(const RelaxedCaptureMode&) = delete;

 private:
  const Driver& driver_;
  cuda::CaptureMode mode_ = cuda::kCaptureModeRelaxed;
};

}  // namespace hypermile
