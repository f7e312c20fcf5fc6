// SPDX-License-Identifier: Apache-2.0
//
// CUPTI as subscribers see it, over the fake driver, built as libcupti.so.12: one subscriber at a
// time, with callbacks for the driver functions that it enabled.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "testing/cuda/fake_cuda.h"

namespace cupti = hypermile::cupti;

namespace {

constexpr unsigned kMostFunctions = 784;

std::atomic<cupti::Callback> subscribed = nullptr;
std::atomic<void*> user_data = nullptr;
std::atomic<bool> enabled[kMostFunctions];

void forward(unsigned function, const cupti::CallbackData* data) {
  if (function >= kMostFunctions || !enabled[function]) return;
  if (const cupti::Callback callback = subscribed.load())
    callback(user_data, cupti::kDriverApi, function, data);
}

void set_driver_hook(FakeHook hook) {
  if (void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD))
    if (auto* set = reinterpret_cast<void (*)(FakeHook)>(::dlsym(driver, "fake_set_hook")))
      set(hook);
}

}  // namespace

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
  *version = 26;
  return cupti::kSuccess;
}

int cuptiSubscribe(cupti::Subscriber* subscriber, cupti::Callback callback, void* user) {
  if (std::getenv("FAKE_CUPTI_BROKEN")) return 999;
  cupti::Callback none = nullptr;
  if (!subscribed.compare_exchange_strong(none, callback)) return cupti::kMultipleSubscribers;
  user_data = user;
  *subscriber = reinterpret_cast<cupti::Subscriber>(callback);
  set_driver_hook(forward);
  return cupti::kSuccess;
}

int cuptiUnsubscribe(cupti::Subscriber subscriber) {
  if (subscriber != reinterpret_cast<cupti::Subscriber>(subscribed.load())) return 1;
  for (auto& each : enabled) each = false;
  subscribed = nullptr;
  return cupti::kSuccess;
}

int cuptiEnableCallback(std::uint32_t on, cupti::Subscriber, cupti::Domain domain,
                        std::uint32_t function) {
  if (domain != cupti::kDriverApi || function >= kMostFunctions) return 1;
  enabled[function] = on != 0;
  return cupti::kSuccess;
}
}
