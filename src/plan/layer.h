// SPDX-License-Identifier: Apache-2.0
//
// One layer of a network with its shapes, and what it asks of a GPU: kernels with operations and
// bytes for the forward pass, the gradient of its data, the gradient of its weights and the step of
// the optimizer. A Layer knows nothing of any GPU and of no precision; kernels_of() is told the
// precision. Traffic is ideal: each operand moves once to or from DRAM (what the L2 keeps is taken
// off later, in steps.h). Formulas and their origin: docs/design/planner.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/load.h"

namespace hypermile {

using Shape = std::vector<std::int64_t>;    // batch first
double elements(const Shape& shape);        // their number; 1 for a scalar
std::string to_string(const Shape& shape);  // "64x3x224x224"

// What a layer's cost follows from. Every operator of a network file is put into one of these.
enum class OpClass {
  kConv,
  kLinear,
  kMatMul,
  kNorm,
  kElementwise,
  kSoftmax,
  kPool,
  kGather,
  kView
};
std::string_view to_string(OpClass op);

enum class Pass { kForward, kDataGradient, kWeightGradient, kOptimizer };

// A matrix product, or a convolution seen as one: out[positions × out] += in[positions × in·taps]
// · weights, `count` of them side by side (groups, heads).
struct Product {
  double positions = 0;
  double in = 0, out = 0;
  double taps = 1;
  double count = 1;
  double flops() const { return 2 * count * positions * in * out * taps; }
};

// What is moved and computed by layers that are no product.
struct Traffic {
  double flops = 0;
  double values = 0;  // tensor elements read or written, at the network's precision
  double bytes = 0;   // what has a width of its own: masks, indices
};

struct Layer {
  std::string name;  // as the framework calls it: "layer1.0.conv1"
  std::string type;  // as ONNX or PyTorch call it: "Conv", "BatchNormalization"
  OpClass op = OpClass::kElementwise;
  Shape in, out;               // of the first input and output
  double other_inputs = 0;     // elements of further data inputs (the other half of an addition)
  double params = 0;           // numbers that are learnt
  bool bias = false;           // among them one per output channel
  bool input_gradient = true;  // false where nothing before it learns
  std::optional<Product> product = {};
  Traffic forward, backward;  // of what is no product
};

enum class Optimizer { kSgdMomentum, kAdam };

// Operators of a file that are not in our table.
struct UnknownOperator {
  std::string type;
  std::size_t count = 0;
};

// Layers in the order in which the forward pass runs them.
struct Network {
  std::string name;
  std::int64_t batch = 1;
  std::vector<Layer> layers;
  Optimizer optimizer = Optimizer::kSgdMomentum;
  std::vector<UnknownOperator> unknown = {};
  double params() const;
  // Multiply-accumulates of all products in one forward pass of the whole batch.
  double forward_macs() const;
};

// What a kernel's efficiency depends on (see efficiency.h).
enum class KernelKind { kStream, kNorm, kGather, kConv, kLinear };

// One kernel as the GPU sees it.
struct Kernel {
  KernelKind kind = KernelKind::kStream;
  bool backward = false;
  bool narrow = false;                // 16-bit values
  Precision unit = Precision::kFp32;  // which pipes do the arithmetic
  double flops = 0;
  double padded_flops = 0;  // the same with tiles filled up: what the pipes really do
  double bytes = 0;
  // The framework's own, beside the algorithm: costs time, counts neither as operation nor as
  // traffic of the layer.
  bool overhead = false;
};

// The kernels of one pass; empty where the pass has nothing to do.
std::vector<Kernel> kernels_of(const Layer& layer, Pass pass, Precision precision,
                               Optimizer optimizer);

// Bytes of a value: 4 for fp32 and tf32, 2 for bf16 and fp16.
double value_bytes(Precision precision);
// "fp32", "tf32", "bf16" or "fp16" (the same pipes as bf16).
Result<Precision> parse_precision(std::string_view text);
std::string_view to_string(Precision precision);

}  // namespace hypermile
