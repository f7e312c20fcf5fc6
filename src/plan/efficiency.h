// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU's peak rates the kernels of real frameworks reach: twelve numbers, which with
// the GPU's sheet turn a Kernel into work for the simulator's physics. The defaults are assumptions
// from the literature (docs/design/planner.md); calibrate.h fits them to per-layer times.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "plan/layer.h"
#include "sim/load.h"

namespace hypermile {

inline constexpr std::size_t kEfficiencyConstants = 12;

enum class Constant : std::uint8_t {
  kKernelTime,         // s: what any kernel takes beside its work
  kMatrixKernelTime,   // s: the same for convolutions and products, which set up more
  kNormMemory,         // normalisation of 32-bit values
  kNormNarrowForward,  // … of 16-bit values
  kNormNarrowBackward,
  kGatherForward,  // pooling, look-ups, sparse products
  kGatherBackward,
  kLinearMemory,  // operands of products
  kConvForward,   // share of peak operations, tiles filled up; also of linear layers
  kConvBackward,
  kConvNarrowForward,  // … of 16-bit values
  kConvNarrowBackward,
};

struct Efficiency {
  std::array<double, kEfficiencyConstants> values = {5e-6, 8e-6, 0.7, 0.7, 0.7, 0.5,
                                                     0.5,  0.9,  0.6, 0.6, 0.6, 0.6};

  double operator[](Constant constant) const { return values[static_cast<std::size_t>(constant)]; }
  // "kernel_time_s", "matrix_kernel_time_s", …, in the order of Constant.
  static std::span<const std::string_view> names();
};

// The kernel as the physics sees it.
PartWork part_of(const Kernel& kernel, const Efficiency& efficiency);

}  // namespace hypermile
