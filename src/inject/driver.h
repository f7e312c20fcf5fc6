// SPDX-License-Identifier: Apache-2.0
//
// The few functions of the CUDA driver that the injected library calls, found in the driver that
// has just loaded it. Any may be missing in an old driver; then there are no CUDA events.
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
  // False also when the driver cannot say.
  bool surely_not_capturing(cuda::Handle stream) const;
};

// While it lives, the thread's calls may not break a capture that some thread has begun in global
// mode: our queries and events have nothing to do with what is captured.
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
