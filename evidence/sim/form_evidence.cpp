// SPDX-License-Identifier: Apache-2.0
#include "evidence/sim/form_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "evidence/sim/form_fit.h"
#include "sweep/curve.h"

namespace hypermile {
namespace {

// Sets whose rows have a clock or limit with time and power of one GPU.
constexpr const char* kSets[] = {"kerneltuner_fp32",
                                 "zyj_v100_33workloads",
                                 "ttu_a100_v100",
                                 "nvdvfs_v100_dcgm",
                                 "nvdvfs_v100_nvprof",
                                 "rtx3080ti_kernels",
                                 "giordano_a100_rtxpro6000",
                                 "zeus_power_trace",
                                 "zeus_profile_windows",
                                 "nvdvfs_rtx2070s",
                                 "nvdvfs_gtx980",
                                 "ulisboa_titanx_ptx",
                                 "dlbench_caffe",
                                 "darsh_laptop_dlkernels",
                                 "darsh_llm_powercap",
                                 "b300_powercap"};

// For rows without a clock: boost clock and default limit from the vendor's data sheets.
struct NamedHints {
  const char* part;
  GpuHints hints;
};
constexpr NamedHints kHints[] = {{"RTX 3080 Ti", {Mhz(1950), Watts(350), Mhz(9251)}},
                                 {"P100", {Mhz(1328), Watts(250), Mhz(0)}},
                                 {"Quadro RTX 6000", {Mhz(1770), Watts(260), Mhz(0)}},
                                 {"A40", {Mhz(1740), Watts(300), Mhz(0)}}};

GpuHints hints_for(const std::string& set, const std::string& gpu) {
  for (const NamedHints& named : kHints) {
    if (gpu == named.part) return named.hints;
  }
  // Limit sweeps record no clock; the V100 of that set is the PCIe model (250 W).
  if (gpu == "V100" && set.rfind("zeus", 0) == 0) return {Mhz(1380), Watts(250), Mhz(0)};
  return {};
}

constexpr const char* kWhyWorst = R"(
Why limit sweeps come out worst: they record no clock and are single shots (in the zeus traces time rises by more than 2 %
at 187 of 1,391 steps to a *higher* limit), they ask for limits that the card does not hold (LLM decoding: below half of the
maximum), and on some cards power falls with the limit although it stays far below it (a limiter that is not a plain
average of board power, as on the H200), which the fitted form leaves out. stereoDisparity on the V100 draws less at 945
than at 802 MHz and half as much again at 1237 as at 1087 MHz: no smooth voltage curve does that.
In the low P-state of the GTX 980 the streaming kernels keep their speed down to 500 MHz while the one SM clock knee of the
bandwidth that was fitted for all its kernels slows them there.
)";

struct Tally {
  std::vector<double> time, energy;
  std::size_t good = 0;
  void add(const CurveError& error) {
    time.push_back(error.time);
    energy.push_back(error.energy);
    if (error.time <= 0.03 && error.energy <= 0.05) ++good;
  }
};

std::string set_rows(const std::string& set, const std::string& path, Tally& all,
                     std::vector<CurveError>& worst) {
  const Result<SweepFile> file = read_sweep(path);
  if (!file) return fmt::format("| {} | {} |\n", set, file.error().line());
  const CurveSet curves = make_curves(*file, {});
  std::map<std::string, std::vector<const Curve*>> by_gpu;
  for (const Curve& curve : curves.curves) {
    if (curve.points.size() >= 5) by_gpu[curve.key.gpu].push_back(&curve);
  }
  std::string rows;
  for (const auto& [gpu, list] : by_gpu) {
    const GpuFit fit = fit_gpu(gpu, list, hints_for(set, gpu));
    Tally tally;
    for (const CurveError& error : fit.curves) {
      tally.add(error);
      all.add(error);
      worst.push_back(error);
    }
    rows +=
        fmt::format("| {} | {} | {} | {:.0f} | {:.0f} | {:.2f} | {:.1f} % | {:.1f} % | {} |\n", set,
                    gpu, fit.curves.size(), fit.static_w, fit.knee_mhz, fit.slope_per_mhz * 1e3,
                    median(tally.time) * 100, median(tally.energy) * 100, tally.good);
  }
  return rows;
}

}  // namespace

std::string form_evidence(const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) {
    return fmt::format("Not made: the measured sets are not here.\n");
  }
  std::string text =
      "| set | GPU | workloads | static W | knee MHz | slope /GHz | time | energy | within 3 % and "
      "5 % "
      "|\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  Tally all;
  std::vector<CurveError> worst;
  for (const char* set : kSets) {
    const std::string path = folder + "/" + set + "/data.csv";
    if (std::filesystem::exists(path)) text += set_rows(set, path, all, worst);
  }
  text += fmt::format(
      "\nOver all {} workloads the median over workloads of the median absolute error over the "
      "sweep is **{:.2f} % for time and {:.2f} % for energy**; {} of them ({:.0f} %) are within 3 "
      "% "
      "and 5 %.\n\nWorst ten by energy (median over the sweep; largest single error and where):\n\n"
      "| workload | points | time | energy | largest time | largest energy | at |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
      all.time.size(), median(all.time) * 100, median(all.energy) * 100, all.good,
      100.0 * static_cast<double>(all.good) /
          static_cast<double>(std::max<std::size_t>(1, all.time.size())));
  std::ranges::sort(worst,
                    [](const CurveError& a, const CurveError& b) { return a.energy > b.energy; });
  for (std::size_t i = 0; i < std::min<std::size_t>(10, worst.size()); ++i) {
    const CurveError& error = worst[i];
    text += fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.0f} % | {:.0f} % | {} |\n",
                        error.workload, error.points, error.time * 100, error.energy * 100,
                        error.worst_time * 100, error.worst_energy * 100, error.worst_at);
  }
  return text + kWhyWorst;
}

}  // namespace hypermile
