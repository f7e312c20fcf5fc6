// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of GPM: two samples of a card's activity counters, and the shares between
// them. Clients receive samples as opaque pointers; only those in the list are dereferenced.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

struct Counters {
  bool filled = false;
  unsigned gpu = 0;
  double time_s = 0;
  Totals totals;
  double occupancy = 0, pcie_mib_s = 0;
};

std::mutex samples_mutex;
std::map<nvml::GpmSample, Counters>& samples() {
  static auto* const kSamples = new std::map<nvml::GpmSample, Counters>;
  return *kSamples;
}

std::optional<Counters> find_sample(nvml::GpmSample sample) {
  const std::lock_guard lock(samples_mutex);
  const auto found = samples().find(sample);
  return found != samples().end() && found->second.filled ? std::optional(found->second)
                                                          : std::nullopt;
}

// One metric between two samples; nullopt where this card does not count it. Shares are in percent,
// traffic in MiB/s.
std::optional<double> metric(unsigned id, const Counters& from, const Counters& to) {
  const double seconds = to.time_s - from.time_s;
  const auto share = [seconds](double before, double after) {
    return std::clamp((after - before) / seconds, 0.0, 1.0) * 100;
  };
  switch (id) {
    case nvml::kGpmGraphics:
      return share(from.totals.busy_s, to.totals.busy_s);
    case nvml::kGpmSm:
      return share(from.totals.sm_s, to.totals.sm_s);
    case nvml::kGpmSmOccupancy:
      return share(from.totals.sm_s, to.totals.sm_s) * to.occupancy;
    case nvml::kGpmAnyTensor:
    case nvml::kGpmHmmaTensor:
      return share(from.totals.tensor_s, to.totals.tensor_s);
    case nvml::kGpmDramBandwidth:
      return share(from.totals.dram_s, to.totals.dram_s);
    case nvml::kGpmFp64:
      return share(from.totals.fp64_s, to.totals.fp64_s);
    case nvml::kGpmFp32:
      return share(from.totals.fp32_s, to.totals.fp32_s);
    case nvml::kGpmPcieTx:
    case nvml::kGpmPcieRx:
      return to.pcie_mib_s;
    default:
      return std::nullopt;
  }
}

void fill_metric(nvml::GpmMetric& out, const Counters& from, const Counters& to,
                 const SensorModel& sensors) {
  out.short_name = nullptr;
  out.long_name = nullptr;
  out.unit = nullptr;
  const std::optional<double> value = metric(out.id, from, to);
  out.status = value ? nvml::kSuccess : nvml::kNotSupported;
  out.value = value.value_or(0);
  // The interval determines which values are not a number, so that every caller sees the same ones.
  SimRandom random{static_cast<std::uint64_t>(to.time_s * 1e6) ^ out.id << 8};
  const bool missing = random.uniform() < sensors.activity_missing;
  const bool too_short = to.time_s - from.time_s < sensors.activity_window.value();
  if (value && (missing || too_short)) out.value = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

NVML_EXPORT nvml::Return nvmlGpmQueryDeviceSupport(nvml::Device device, nvml::GpmSupport* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (out == nullptr) return nvml::kInvalidArgument;
    if (out->version != nvml::kGpmSupportVersion1) return nvml::kArgumentVersionMismatch;
    out->supported = here.constants(gpu).sensors.activity_metrics ? 1 : 0;
    return nvml::kSuccess;
  });
}

NVML_EXPORT nvml::Return nvmlGpmSampleAlloc(nvml::GpmSample* out) {
  return on_machine(__func__, [&](Machine&) -> nvml::Return {
    static std::uintptr_t next = 0x6B00'0000;
    const std::lock_guard lock(samples_mutex);
    if (out == nullptr) return nvml::kInvalidArgument;
    // An opaque handle, not an address.  NOLINTNEXTLINE(performance-no-int-to-ptr)
    *out = reinterpret_cast<nvml::GpmSample>(next += 0x10);
    samples().emplace(*out, Counters{});
    return nvml::kSuccess;
  });
}

NVML_EXPORT nvml::Return nvmlGpmSampleFree(nvml::GpmSample sample) {
  return guarded([&]() -> nvml::Return {
    const std::lock_guard lock(samples_mutex);
    return samples().erase(sample) > 0 ? nvml::kSuccess : nvml::kInvalidArgument;
  });
}

NVML_EXPORT nvml::Return nvmlGpmSampleGet(nvml::Device device, nvml::GpmSample sample) {
  return look_at(__func__, device,
                 [&](const GpuView& view, Machine& here, unsigned gpu) -> nvml::Return {
                   if (!here.constants(gpu).sensors.activity_metrics) return nvml::kNotSupported;
                   const std::lock_guard lock(samples_mutex);
                   const auto found = samples().find(sample);
                   if (found == samples().end()) return nvml::kInvalidArgument;
                   const JobSlot& job = view.record.job;
                   found->second = Counters{true,
                                            gpu,
                                            view.record.sim.now_s,
                                            view.now.totals,
                                            job.present ? job.load.occupancy : 0,
                                            job.present ? job.load.pcie_mib_s : 0};
                   return nvml::kSuccess;
                 });
}

NVML_EXPORT nvml::Return nvmlGpmMetricsGet(nvml::GpmMetricsGet* request) {
  return on_machine(__func__, [&](Machine& here) -> nvml::Return {
    if (request == nullptr || request->count > nvml::kGpmMostMetrics) return nvml::kInvalidArgument;
    if (request->version != nvml::kGpmMetricsGetVersion1) return nvml::kArgumentVersionMismatch;
    const auto from = find_sample(request->first);
    const auto to = find_sample(request->second);
    if (!from || !to || from->gpu != to->gpu || to->gpu >= here.gpu_count() ||
        to->time_s <= from->time_s) {
      return nvml::kInvalidArgument;
    }
    // The array member is not used, because clients allocate fewer entries than it declares.
    auto* metrics = reinterpret_cast<nvml::GpmMetric*>(reinterpret_cast<std::byte*>(request) +
                                                       offsetof(nvml::GpmMetricsGet, metrics));
    for (unsigned i = 0; i < request->count; ++i) {
      fill_metric(metrics[i], *from, *to, here.constants(to->gpu).sensors);
    }
    return nvml::kSuccess;
  });
}
