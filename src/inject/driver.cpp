// SPDX-License-Identifier: Apache-2.0
#include "inject/driver.h"

#include <dlfcn.h>

namespace hypermile {
namespace {

template <class Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

void Driver::load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return;
  find(library, "cuDriverGetVersion", get_version);
  find(library, "cuCtxGetDevice", get_device);
  find(library, "cuEventCreate", event_create);
  find(library, "cuEventRecord", event_record);
  find(library, "cuEventQuery", event_query);
  find(library, "cuEventElapsedTime", event_elapsed_ms);
  find(library, "cuStreamIsCapturing", is_capturing);
  find(library, "cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
}

bool Driver::can_time() const {
  return get_device && event_create && event_record && event_query && event_elapsed_ms &&
         is_capturing && exchange_capture_mode;
}

bool Driver::surely_not_capturing(cuda::Handle stream) const {
  cuda::CaptureStatus status = cuda::kCaptureNone;
  return is_capturing && is_capturing(stream, &status) == cuda::kDriverSuccess &&
         status == cuda::kCaptureNone;
}

}  // namespace hypermile
