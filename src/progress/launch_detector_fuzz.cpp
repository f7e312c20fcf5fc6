// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: bytes become launches; detector and work rate must stay within their limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "progress/launch_detector.h"
#include "progress/work_rate.h"
#include "testing/hostile_launches.h"

namespace {

using namespace hypermile;

struct Checking final : DetectorSink {
  void locked(const Pattern& pattern, const Lock&) override {
    if (!(pattern.confidence >= 0 && pattern.confidence <= 1)) std::abort();
  }
  void boundary(const Boundary& boundary) override {
    if (!(boundary.iterations >= 0)) std::abort();
  }
  void levels_changed(const Pattern& pattern, Instant) override {
    for (const OuterLevel& level : pattern.outer) {
      if (level.inner < 2) std::abort();
    }
  }
  void broken(const Pattern&, Instant, Instant) override {}
  void idle(Instant) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 0;
  HostileLaunches launches([&]() -> unsigned { return at < size ? data[at++] : 0U; });
  Checking sink;
  LaunchDetector detector(sink);
  WorkRate rate;
  Instant last;
  while (at < size) {
    const Launch launch = launches.next();
    last = launch.time;
    detector.add(launch);
    rate.add(launch);
    if (launch.blocks % 4 == 0) detector.analyse_if_due();
    if (launch.blocks == 255) detector.check_idle(last, last);
  }
  const auto estimate = rate.estimate(last);
  if (estimate && !(estimate->launches.per_second >= 0)) std::abort();
  if (detector.memory_bytes() > (std::size_t{5} << 20)) std::abort();
  return 0;
}
