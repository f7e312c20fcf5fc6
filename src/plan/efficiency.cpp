// SPDX-License-Identifier: Apache-2.0
#include "plan/efficiency.h"

#include <algorithm>
#include <optional>

namespace hypermile {
namespace {

constexpr std::array<std::string_view, kEfficiencyConstants> kConstantNames = {
    "kernel_time_s",        "matrix_kernel_time_s", "norm_memory",         "norm_narrow_forward",
    "norm_narrow_backward", "gather_forward",       "gather_backward",     "linear_memory",
    "conv_forward",         "conv_backward",        "conv_narrow_forward", "conv_narrow_backward"};

// nullopt for kernels that reach the full bandwidth of a copy: element-wise layers, softmax, the
// optimizer and the operands of convolutions. The convolutions of one network hardly depend on that
// bandwidth, so it is not fitted.
std::optional<Constant> memory_constant(const Kernel& kernel) {
  switch (kernel.kind) {
    case KernelKind::kStream:
      return std::nullopt;
    case KernelKind::kNorm:
      if (!kernel.narrow) return Constant::kNormMemory;
      return kernel.backward ? Constant::kNormNarrowBackward : Constant::kNormNarrowForward;
    case KernelKind::kGather:
      return kernel.backward ? Constant::kGatherBackward : Constant::kGatherForward;
    case KernelKind::kConv:
      return std::nullopt;
    case KernelKind::kLinear:
      return Constant::kLinearMemory;
  }
  return std::nullopt;
}

Constant compute_constant(const Kernel& kernel) {
  if (kernel.kind != KernelKind::kConv) return Constant::kConvForward;
  if (kernel.backward) {
    return kernel.narrow ? Constant::kConvNarrowBackward : Constant::kConvBackward;
  }
  return kernel.narrow ? Constant::kConvNarrowForward : Constant::kConvForward;
}

}  // namespace

std::span<const std::string_view> Efficiency::names() {
  return kConstantNames;
}

PartWork part_of(const Kernel& kernel, const Efficiency& efficiency) {
  const bool matrix = kernel.kind == KernelKind::kConv || kernel.kind == KernelKind::kLinear;
  PartWork part;
  part.flops[static_cast<std::size_t>(kernel.unit)] = kernel.flops;
  part.bytes = kernel.bytes;
  const std::optional<Constant> memory = memory_constant(kernel);
  part.memory_efficiency = memory ? efficiency[*memory] : 1;
  if (matrix && kernel.padded_flops > 0) {
    part.compute_efficiency =
        efficiency[compute_constant(kernel)] * kernel.flops / kernel.padded_flops;
  }
  part.launches = kernel.launches;
  part.host = Seconds(kernel.wait_s);
  part.launch_gap =
      Seconds(efficiency[matrix ? Constant::kMatrixKernelTime : Constant::kKernelTime]);
  return part;
}

}  // namespace hypermile
