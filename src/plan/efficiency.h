// SPDX-License-Identifier: Apache-2.0
//
// Which share of a GPU's peak rates the kernels of real frameworks reach: twelve numbers that, with
// the GPU's sheet, turn a Kernel into work for the simulator's physics. The defaults are
// assumptions from the literature (docs/design/planner.md); calibrate.h fits them to measured
// layers. Pure.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "plan/layer.h"
#include "sim/load.h"

namespace hypermile {

inline constexpr std::size_t kEfficiencyConstants = 12;

enum class Constant : std::uint8_t {
  kKernelTime,         // s, the time of any kernel beside its work
  kMatrixKernelTime,   // s, the same for convolutions and products, which need more set-up
  kNormMemory,         // share of bandwidth, normalisation of 32-bit values
  kNormNarrowForward,  // share of bandwidth, normalisation of 16-bit values
  kNormNarrowBackward,
  kGatherForward,  // share of bandwidth, for pooling, look-ups and sparse products
  kGatherBackward,
  kLinearMemory,  // share of bandwidth, for the operands of products
  kConvForward,   // share of peak operations on filled tiles, for convolutions and linear layers
  kConvBackward,
  kConvNarrowForward,  // the same for 16-bit values
  kConvNarrowBackward,
};

struct Efficiency {
  std::array<double, kEfficiencyConstants> values = {5e-6, 8e-6, 0.7, 0.7, 0.7, 0.5,
                                                     0.5,  0.9,  0.6, 0.6, 0.6, 0.6};

  double operator[](Constant constant) const { return values[static_cast<std::size_t>(constant)]; }
  // "kernel_time_s", "matrix_kernel_time_s", …, in the order of Constant.
  static std::span<const std::string_view> names();
};

// The kernel as work for the simulator's physics.
PartWork part_of(const Kernel& kernel, const Efficiency& efficiency);

}  // namespace hypermile
