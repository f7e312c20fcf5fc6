// SPDX-License-Identifier: Apache-2.0
#include "run/run_gpus.h"

#include <future>
#include <map>
#include <memory>

#include "run/gpu_access.h"
#include "run/running_job.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kSeed = 1;  // of a simulated GPU's noise
// A process that becomes another program (exec) is noticed after this long.
constexpr Seconds kEnvironmentHolds = Seconds(1);

Result<std::shared_ptr<Gpu>> shared(Result<OpenedGpu> opened) {
  if (!opened) return opened.error();
  return std::shared_ptr<Gpu>(std::move(opened->gpu));
}

}  // namespace

RunGpus::RunGpus(std::optional<std::string> named, const Environment& environment, Clock& clock)
    : named_(std::move(named)),
      visible_(environment.get("CUDA_VISIBLE_DEVICES")),
      order_(environment.get("CUDA_DEVICE_ORDER")),
      clock_(&clock) {}

OpenGpu RunGpus::opener() const {
  return [named = named_, order = order_, clock = clock_](const DeviceName& name) {
    return std::async(std::launch::async, [=] {
      if (named) return shared(open_named_gpu(*named, *clock, kSeed));
      return shared(open_visible_gpu(name.visible, order, name.device, *clock));
    });
  };
}

std::function<std::optional<std::string>(std::int64_t)> RunGpus::visible_devices() const {
  struct Known {
    std::optional<std::string> devices;
    Instant read;
  };
  // Called with every iteration, so what was read is kept for a while.
  return [visible = visible_, clock = clock_,
          known = std::make_shared<std::map<std::int64_t, Known>>()](std::int64_t pid) {
    const Instant now = clock->now();
    const auto found = known->find(pid);
    if (found != known->end() && now - found->second.read < kEnvironmentHolds) {
      return found->second.devices;
    }
    // /proc shows the environment that the process was started with, not what it set later.
    const auto environment = environment_of(static_cast<pid_t>(pid));
    const auto own = environment ? environment->get("CUDA_VISIBLE_DEVICES") : std::nullopt;
    return ((*known)[pid] = {own ? own : visible, now}).devices;
  };
}

std::optional<DeviceName> RunGpus::only() const {
  return named_ ? std::optional(DeviceName{}) : std::nullopt;
}

}  // namespace hypermile
