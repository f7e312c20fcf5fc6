// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hypermile {
namespace {

class RealClock final : public Clock {
 public:
  Instant now() const override {
    return Instant::from_nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                         std::chrono::steady_clock::now().time_since_epoch())
                                         .count());
  }
  double unix_time() const override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void sleep_until(Instant until, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    const std::chrono::steady_clock::time_point deadline{
        std::chrono::nanoseconds(until.nanoseconds())};
    wake.wait_until(lock, stop, deadline, [] { return false; });
  }
};

}  // namespace

std::unique_ptr<Clock> make_real_clock() {
  return std::make_unique<RealClock>();
}

void VirtualClock::sleep_until(Instant until, std::stop_token stop) {
  if (stop.stop_requested()) return;
  if (until.nanoseconds() > ns_.load()) ns_.store(until.nanoseconds());
}

}  // namespace hypermile
