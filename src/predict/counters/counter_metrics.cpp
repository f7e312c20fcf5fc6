// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_metrics.h"

namespace hypermile {
namespace {

constexpr double kGigabytes = 1e-9;

// Percentages of elapsed (not active) cycles, so that features are shares of time, as in GPM and
// DCGM.
constexpr CounterForm kForms[] = {
    {Feature::kSmActive, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kSmOccupancy, "sm__warps_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kTensorActive, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    // On Turing, tensor cores share one pipe with FP64 and FP16.
    {Feature::kTensorActive,
     "sm__pipe_shared_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kDramActive, "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kDramActive, "fbpa__dram_sectors.avg.pct_of_peak_sustained_elapsed"},  // Turing
    {Feature::kL2Active, "lts__t_bytes.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kPcieRate, "pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
     kGigabytes},
    {Feature::kNvlinkRate, "nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
     kGigabytes},
    {Feature::kFp64Active, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kFp64Active, "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kFp32Active, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kIntegerActive, "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kIssueActive, "smsp__issue_active.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kFp16Active, "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed"},
    {Feature::kFp16Active,
     "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed"},
};

}  // namespace

std::span<const CounterForm> counter_forms() {
  return kForms;
}

}  // namespace hypermile
