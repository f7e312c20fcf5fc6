// SPDX-License-Identifier: Apache-2.0
//
// Exported functions about clocks: the current ones, the supported ones, and locks. As on a real
// card a lock outlives the process that set it, takes effect milliseconds later, and cannot be read
// back: only the clock itself shows it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "gpu/gpu.h"
#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

constexpr unsigned long long kKnownReasons = 0x1FF;

unsigned whole(Mhz clock) {
  return static_cast<unsigned>(std::lround(clock.value()));
}

// Descending, as the driver lists them.
std::vector<unsigned> sm_clocks(const ClockRanges& clocks) {
  std::vector<unsigned> list;
  const int steps =
      static_cast<int>(std::floor((clocks.sm_max - clocks.sm_min) / clocks.sm_step + 1e-6));
  for (int i = steps; i >= 0; --i) {
    list.push_back(whole(clocks.sm_min + clocks.sm_step * static_cast<double>(i)));
  }
  return list;
}

std::vector<unsigned> memory_clocks(const ClockRanges& clocks) {
  std::vector<unsigned> list;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(clocks.memory_count, kMaxMemoryGears); ++i) {
    list.push_back(whole(clocks.memory[i]));
  }
  return list;
}

// The clock of a lock up to `high`: the fastest listed clock that is not above it.
unsigned at_most(const std::vector<unsigned>& descending, unsigned high) {
  for (const unsigned clock : descending) {
    if (clock <= high) return clock;
  }
  return descending.back();
}

nvml::Return current_clock(const GpuView& view, int type, unsigned* out) {
  switch (type) {
    case nvml::kClockGraphics:
    case nvml::kClockSm:
    case nvml::kClockVideo:
      return give(out, whole(view.now.sm_reported));
    case nvml::kClockMemory:
      return give(out, whole(view.now.memory));
    default:
      return nvml::kInvalidArgument;
  }
}

nvml::Return highest_clock(const ClockRanges& clocks, int type, unsigned* out) {
  if (type < 0 || type >= nvml::kClockTypes) return nvml::kInvalidArgument;
  return give(out, whole(type == nvml::kClockMemory ? clocks.memory[0] : clocks.sm_max));
}

nvml::Return default_clock(const ClockRanges& clocks, int type, unsigned* out) {
  if (type < 0 || type >= nvml::kClockTypes) return nvml::kInvalidArgument;
  return give(out, whole(type == nvml::kClockMemory ? clocks.memory_default : clocks.sm_boost));
}

nvml::Return event_reasons(const char* function, nvml::Device device, unsigned long long* out) {
  return look_at(function, device, [&](const GpuView& view, Machine&, unsigned) {
    return give<unsigned long long>(out, view.now.reasons);
  });
}

nvml::Return lock_clock(Machine& here, unsigned gpu, Knob knob, ClockLock asked,
                        std::optional<unsigned> in_effect) {
  const auto value = in_effect ? std::optional<double>(*in_effect) : std::nullopt;
  const Result<void> done = here.request_knob(gpu, knob, value, [&](GpuRecord& record) {
    (knob == Knob::kSmClock ? record.sm_lock : record.memory_lock) = asked;
  });
  return done ? nvml::kSuccess : code_of(done.error());
}

bool symbolic(unsigned clock) {
  return clock == nvml::kClockLimitTdp || clock == nvml::kClockLimitUnlimited;
}

}  // namespace

NVML_EXPORT nvml::Return nvmlDeviceGetClockInfo(nvml::Device device, int type, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return current_clock(view, type, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMaxClockInfo(nvml::Device device, int type, unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return highest_clock(here.constants(gpu).clocks, type, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetMaxCustomerBoostClock(nvml::Device device, int type,
                                                            unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return highest_clock(here.constants(gpu).clocks, type, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetClock(nvml::Device device, int type, int id, unsigned* out) {
  return look_at(__func__, device,
                 [&](const GpuView& view, Machine& here, unsigned gpu) -> nvml::Return {
                   const ClockRanges& clocks = here.constants(gpu).clocks;
                   switch (id) {
                     case nvml::kClockCurrent:
                       return current_clock(view, type, out);
                     case nvml::kClockAppTarget:
                     case nvml::kClockAppDefault:
                       return default_clock(clocks, type, out);
                     case nvml::kClockBoostMax:
                       return highest_clock(clocks, type, out);
                     default:
                       return nvml::kInvalidArgument;
                   }
                 });
}

// Readable so that old clients start. Setting application clocks is refused (see
// export_unsupported.cpp), because NVML itself has deprecated them.
NVML_EXPORT nvml::Return nvmlDeviceGetApplicationsClock(nvml::Device device, int type,
                                                        unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return default_clock(here.constants(gpu).clocks, type, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetDefaultApplicationsClock(nvml::Device device, int type,
                                                               unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return default_clock(here.constants(gpu).clocks, type, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetSupportedMemoryClocks(nvml::Device device, unsigned* count,
                                                            unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return give_list(memory_clocks(here.constants(gpu).clocks), count, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetSupportedGraphicsClocks(nvml::Device device, unsigned memory,
                                                              unsigned* count, unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const ClockRanges& clocks = here.constants(gpu).clocks;
    const std::vector<unsigned> gears = memory_clocks(clocks);
    if (std::find(gears.begin(), gears.end(), memory) == gears.end()) return nvml::kNotFound;
    return give_list(sm_clocks(clocks), count, out);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetCurrentClocksEventReasons(nvml::Device device,
                                                                unsigned long long* out) {
  return event_reasons(__func__, device, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device device,
                                                                   unsigned long long* out) {
  return event_reasons(__func__, device, out);
}

NVML_EXPORT nvml::Return nvmlDeviceGetSupportedClocksEventReasons(nvml::Device device,
                                                                  unsigned long long* out) {
  return on_gpu(__func__, device, [&](Machine&, unsigned) { return give(out, kKnownReasons); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetSupportedClocksThrottleReasons(nvml::Device device,
                                                                     unsigned long long* out) {
  return on_gpu(__func__, device, [&](Machine&, unsigned) { return give(out, kKnownReasons); });
}

NVML_EXPORT nvml::Return nvmlDeviceSetGpuLockedClocks(nvml::Device device, unsigned low,
                                                      unsigned high) {
  return set_on(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (symbolic(low) != symbolic(high)) return nvml::kInvalidArgument;
    const std::vector<unsigned> list = sm_clocks(here.constants(gpu).clocks);
    unsigned ceiling = high;
    if (high == nvml::kClockLimitUnlimited) ceiling = list.front();
    if (high == nvml::kClockLimitTdp) ceiling = whole(here.constants(gpu).clocks.sm_boost);
    if (!symbolic(low) && (low > high || high == 0)) return nvml::kInvalidArgument;
    ceiling = at_most(list, ceiling);
    return lock_clock(here, gpu, Knob::kSmClock, {symbolic(low) ? list.back() : low, ceiling},
                      ceiling);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceResetGpuLockedClocks(nvml::Device device) {
  return set_on(__func__, device, [&](Machine& here, unsigned gpu) {
    return lock_clock(here, gpu, Knob::kSmClock, {}, std::nullopt);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceSetMemoryLockedClocks(nvml::Device device, unsigned low,
                                                         unsigned high) {
  return set_on(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const ClockRanges& clocks = here.constants(gpu).clocks;
    if (!clocks.memory_lock) return nvml::kNotSupported;
    if (low > high || high == 0) return nvml::kInvalidArgument;
    const unsigned clock = at_most(memory_clocks(clocks), high);
    return lock_clock(here, gpu, Knob::kMemoryClock, {low, clock}, clock);
  });
}

NVML_EXPORT nvml::Return nvmlDeviceResetMemoryLockedClocks(nvml::Device device) {
  return set_on(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (!here.constants(gpu).clocks.memory_lock) return nvml::kNotSupported;
    return lock_clock(here, gpu, Knob::kMemoryClock, {}, std::nullopt);
  });
}
