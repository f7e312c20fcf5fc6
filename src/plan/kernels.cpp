// SPDX-License-Identifier: Apache-2.0
//
// kernels_of(): operations and bytes of each pass of a layer.
#include <algorithm>
#include <cmath>

#include "plan/layer.h"

namespace hypermile {
namespace {

// Matrix kernels compute whole tiles, including the part of the last tile that the product does not
// fill. Sizes are those of common tensor-core kernels.
constexpr double kTileRows = 128;
constexpr double kTileColumns = 128;
constexpr double kTileDepth = 32;
constexpr double kWeightTile = 64;  // weight gradients have few rows and columns, and a long depth

constexpr double kSgdFlops = 4;   // per parameter, for momentum, decay and update
constexpr double kSgdValues = 5;  // reads weight, gradient, momentum; writes weight, momentum
constexpr double kAdamFlops = 14;
constexpr double kAdamValues = 7;   // with two moments
constexpr double kAccumulated = 3;  // tensors moved when a gradient is added to another
constexpr double kMasterBytes = 4;  // weights and moments are kept in fp32

double whole_tiles(double extent, double tile) {
  return std::ceil(extent / tile) * tile;
}

struct Widths {
  double value = 4;
  Precision matrix = Precision::kFp32;
  bool narrow = false;
};

Kernel stream(double flops, double bytes, const Widths& widths, bool backward) {
  Kernel kernel;
  kernel.backward = backward;
  kernel.narrow = widths.narrow;
  kernel.flops = kernel.padded_flops = flops;
  kernel.bytes = bytes;
  return kernel;
}

Kernel times(Kernel kernel, double count) {
  kernel.flops *= count;
  kernel.padded_flops *= count;
  kernel.bytes *= count;
  kernel.launches *= count;
  return kernel;
}

KernelKind kind_of(OpClass op) {
  switch (op) {
    case OpClass::kConv:
      return KernelKind::kConv;
    case OpClass::kLinear:
    case OpClass::kMatMul:
      return KernelKind::kLinear;
    case OpClass::kNorm:
      return KernelKind::kNorm;
    case OpClass::kPool:
    case OpClass::kGather:
      return KernelKind::kGather;
    case OpClass::kElementwise:
    case OpClass::kSoftmax:
    case OpClass::kView:
      return KernelKind::kStream;
  }
  return KernelKind::kStream;
}

double weights(const Layer& layer) {
  return layer.params - (layer.bias ? layer.product->out * layer.product->count : 0);
}

// Both operands and the result, each moved once. All three passes move the same tensors.
double product_values(const Layer& layer) {
  return elements(layer.in) + layer.other_inputs + weights(layer) + elements(layer.out);
}

Kernel product_kernel(const Layer& layer, Pass pass, const Widths& widths) {
  const Product& p = *layer.product;
  double padded = 0;
  if (pass == Pass::kWeightGradient) {
    padded = whole_tiles(p.out, kWeightTile) * whole_tiles(p.in * p.taps, kWeightTile) *
             whole_tiles(p.positions, kTileDepth);
  } else {
    const double columns = pass == Pass::kForward ? p.out : p.in;
    const double depth = (pass == Pass::kForward ? p.in : p.out) * p.taps;
    padded = whole_tiles(p.positions, kTileRows) * whole_tiles(columns, kTileColumns) *
             whole_tiles(depth, kTileDepth);
  }
  Kernel kernel;
  kernel.kind = kind_of(layer.op);
  kernel.backward = pass != Pass::kForward;
  kernel.narrow = widths.narrow;
  kernel.unit = widths.matrix;
  kernel.flops = p.flops();
  kernel.padded_flops = 2 * p.count * padded;
  kernel.bytes = widths.value * product_values(layer);
  return kernel;
}

std::vector<Kernel> product_kernels(const Layer& layer, Pass pass, const Widths& widths) {
  std::vector<Kernel> kernels;
  const double out = elements(layer.out);
  if (pass == Pass::kDataGradient && !layer.input_gradient) return kernels;
  if (pass == Pass::kWeightGradient && !layer.weight_gradient) return kernels;
  // A product of two activations has no weights. The gradient of its second operand is computed
  // with the first operand's, as a data gradient.
  const bool second_operand = layer.op == OpClass::kMatMul && layer.params <= 0;
  if (pass == Pass::kWeightGradient && second_operand) return kernels;
  kernels.push_back(product_kernel(layer, pass, widths));
  if (pass == Pass::kDataGradient && second_operand) {
    kernels.push_back(product_kernel(layer, Pass::kWeightGradient, widths));
    // A fused attention repeats a part of its forward pass inside the backward kernel.
    kernels.back().flops *= 1 + layer.recompute;
    kernels.back().padded_flops *= 1 + layer.recompute;
  }
  if (!layer.bias) return kernels;
  // The bias has a kernel of its own in a convolution, and none in a linear layer.
  if (pass == Pass::kForward && layer.op == OpClass::kConv) {
    kernels.push_back(stream(0, 2 * out * widths.value, widths, false));
    kernels.back().overhead = true;
  } else if (pass == Pass::kWeightGradient) {
    kernels.push_back(stream(out, out * widths.value, widths, true));
    kernels.back().overhead = true;
  }
  return kernels;
}

std::vector<Kernel> optimizer_kernels(const Layer& layer, Optimizer optimizer) {
  const double values = layer.to_update();
  if (values <= 0) return {};
  const bool adam = optimizer == Optimizer::kAdam;
  const double flops = (adam ? kAdamFlops : kSgdFlops) * values;
  const double bytes = (adam ? kAdamValues : kSgdValues) * kMasterBytes * values;
  return {stream(flops, bytes, {}, false)};
}

// The kernels of one call in one pass that is not the optimizer's.
std::vector<Kernel> kernels_of_call(const Layer& layer, Pass pass, Precision precision) {
  const Widths widths{value_bytes(precision), precision, value_bytes(precision) < 4};
  if (layer.op == OpClass::kView) return {};
  if (layer.product) return product_kernels(layer, pass, widths);
  // Other layers compute both gradients in one kernel, which counts as the data gradient.
  if (pass == Pass::kWeightGradient) return {};
  const bool backward = pass == Pass::kDataGradient;
  const Traffic& traffic = backward ? layer.backward : layer.forward;
  if (backward && !layer.input_gradient && layer.learnt() <= 0) return {};
  const double bytes = traffic.values * widths.value + traffic.bytes;
  if (bytes <= 0 && traffic.flops <= 0) return {};
  Kernel kernel = stream(traffic.flops, bytes, widths, backward);
  kernel.kind = kind_of(layer.op);
  return {kernel};
}

}  // namespace

std::vector<Kernel> kernels_of(const Layer& layer, Pass pass, Precision precision,
                               Optimizer optimizer) {
  if (pass == Pass::kOptimizer) return optimizer_kernels(layer, optimizer);
  std::vector<Kernel> kernels = kernels_of_call(layer, pass, precision);
  for (Kernel& kernel : kernels) kernel = times(kernel, layer.repeat);
  return kernels;
}

std::vector<Kernel> alone_kernels(const Layer& in_network, bool backward, Precision precision) {
  Layer layer = in_network;
  layer.input_gradient = true;  // whoever measures a layer does not know what comes before it
  if (!backward) return kernels_of(layer, Pass::kForward, precision, {});
  std::vector<Kernel> kernels = kernels_of(layer, Pass::kDataGradient, precision, {});
  const auto more = kernels_of(layer, Pass::kWeightGradient, precision, {});
  kernels.insert(kernels.end(), more.begin(), more.end());
  for (const double gradient : {elements(layer.in), layer.learnt()}) {
    if (gradient <= 0) continue;
    Kernel add;
    add.flops = add.padded_flops = gradient;
    add.bytes = kAccumulated * value_bytes(precision) * gradient;
    add.backward = true;
    kernels.push_back(add);
  }
  return kernels;
}

}  // namespace hypermile
