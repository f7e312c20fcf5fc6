// SPDX-License-Identifier: Apache-2.0
#include "cli/run_gpus.h"

#include <fmt/format.h>

#include <fstream>
#include <future>
#include <iterator>

#include "cli/gpu_access.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kSeed = 1;  // of a simulated GPU's noise

Result<std::shared_ptr<Gpu>> shared(Result<OpenedGpu> opened) {
  if (!opened) return opened.error();
  return std::shared_ptr<Gpu>(std::move(opened->gpu));
}

// As the process was started; what it sets itself later nobody outside can see.
std::optional<std::string> variable_of(std::int64_t pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string wanted = name + "=";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    if (text.compare(at, wanted.size(), wanted) == 0) {
      return text.substr(at + wanted.size(), end - at - wanted.size());
    }
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace

RunGpus::RunGpus(const OptionValues& options, const Environment& environment, Clock& clock)
    : visible_(environment.get("CUDA_VISIBLE_DEVICES")),
      order_(environment.get("CUDA_DEVICE_ORDER")),
      clock_(&clock) {
  if (options.given("gpu")) named_ = options.text("gpu");
}

OpenGpu RunGpus::opener() const {
  return [named = named_, order = order_, clock = clock_](const DeviceName& name) {
    return std::async(std::launch::async, [=] {
      if (named) return shared(open_named_gpu(*named, *clock, kSeed));
      return shared(open_visible_gpu(name.visible, order, name.device, *clock));
    });
  };
}

std::function<std::optional<std::string>(std::int64_t)> RunGpus::visible_devices() const {
  return [visible = visible_](std::int64_t pid) {
    const std::optional<std::string> own = variable_of(pid, "CUDA_VISIBLE_DEVICES");
    return own ? own : visible;
  };
}

std::optional<DeviceName> RunGpus::only() const {
  return named_ ? std::optional(DeviceName{}) : std::nullopt;
}

}  // namespace hypermile
