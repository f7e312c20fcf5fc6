// SPDX-License-Identifier: Apache-2.0
#include "layers/efficiency.h"

#include <algorithm>

namespace hypermile {
namespace {

constexpr std::array<std::string_view, kEfficiencyConstants> kNames = {
    "kernel_time_s",       "matrix_kernel_time_s", "stream_memory",  "norm_memory",
    "norm_narrow_forward", "norm_narrow_backward", "gather_forward", "gather_backward",
    "conv_memory",         "conv_forward",         "conv_backward",  "linear_memory"};

Constant memory_constant(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::kStream:
      return Constant::kStreamMemory;
    case KernelKind::kNorm:
      if (!kernel.narrow) return Constant::kNormMemory;
      return kernel.backward ? Constant::kNormNarrowBackward : Constant::kNormNarrowForward;
    case KernelKind::kGather:
      return kernel.backward ? Constant::kGatherBackward : Constant::kGatherForward;
    case KernelKind::kConv:
      return Constant::kConvMemory;
    case KernelKind::kLinear:
      return Constant::kLinearMemory;
  }
  return Constant::kStreamMemory;
}

}  // namespace

std::span<const std::string_view> Efficiency::names() {
  return kNames;
}

PartWork part_of(const Kernel& kernel, const Efficiency& efficiency) {
  const bool matrix = kernel.kind == KernelKind::kConv || kernel.kind == KernelKind::kLinear;
  PartWork part;
  part.flops[static_cast<std::size_t>(kernel.unit)] = kernel.flops;
  part.bytes = kernel.bytes;
  part.memory_efficiency = efficiency[memory_constant(kernel)];
  if (matrix && kernel.padded_flops > 0) {
    const bool backward = kernel.kind == KernelKind::kConv && kernel.backward;
    const double share = efficiency[backward ? Constant::kConvBackward : Constant::kConvForward];
    part.compute_efficiency = share * kernel.flops / kernel.padded_flops;
  }
  part.launches = 1;
  part.launch_gap =
      Seconds(efficiency[matrix ? Constant::kMatrixKernelTime : Constant::kKernelTime]);
  return part;
}

}  // namespace hypermile
