// SPDX-License-Identifier: Apache-2.0
//
// One layer of a network with its shapes, and the kernels that it needs on a GPU: operations and
// bytes of the forward pass, the data gradient, the weight gradient and the optimizer's update. A
// Layer depends on no GPU and no precision; kernels_of() takes the precision. Traffic is ideal:
// each operand moves once to or from DRAM (stages.h later subtracts what the L2 cache keeps).
// docs/design/planner.md has the formulas and their origin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/load.h"

namespace hypermile {

using Shape = std::vector<std::int64_t>;    // the batch is first
double elements(const Shape& shape);        // the number of elements; 1 for a scalar
std::string to_string(const Shape& shape);  // "64x3x224x224"
Result<Shape> parse_shape(std::string_view text);

// The class that determines a layer's cost. Every operator of a network file belongs to one.
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

// A matrix product, or a convolution written as one: out[positions × out] += in[positions ×
// in·taps] · weights. `count` of them run side by side (groups, heads).
struct Product {
  double positions = 0;
  double in = 0, out = 0;
  double taps = 1;
  double count = 1;
  double flops() const { return 2 * count * positions * in * out * taps; }
};

// Operations and traffic of layers that are not products.
struct Traffic {
  double flops = 0;
  double values = 0;  // tensor elements read or written, in the network's precision
  double bytes = 0;   // traffic with a width of its own, such as masks and indices
};

struct Layer {
  std::string name;  // the framework's name, such as "layer1.0.conv1"
  std::string type;  // the ONNX or PyTorch type, such as "Conv" or "BatchNormalization"
  OpClass op = OpClass::kElementwise;
  Shape in, out;               // shapes of the first input and the first output
  double other_inputs = 0;     // elements of further data inputs, such as an addition's second
  double params = 0;           // number of learnt values
  bool bias = false;           // whether `params` includes one value per output channel
  bool input_gradient = true;  // false where no layer before this one learns
  std::optional<Product> product = {};
  Traffic forward, backward;    // used where there is no product
  double recompute = 0;         // share of the forward product that the backward pass repeats
  double repeat = 1;            // number of equal calls, as in a recurrent layer
  bool weight_gradient = true;  // false where the weights do not learn
  // Values that the optimizer updates for this layer, where they are not all that learn: an earlier
  // layer may share some, or only the bias learns.
  std::optional<double> updated = {};

  double learnt() const { return weight_gradient ? params : 0; }
  double to_update() const { return updated.value_or(learnt()); }
};

enum class Optimizer { kSgdMomentum, kAdam };

// An operator of a network file that is not in the table of operators.
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

// The kind on which a kernel's efficiency depends (efficiency.h).
enum class KernelKind { kStream, kNorm, kGather, kConv, kLinear };

// One kernel that the GPU runs.
struct Kernel {
  KernelKind kind = KernelKind::kStream;
  bool backward = false;
  bool narrow = false;                // whether values have 16 bits
  Precision unit = Precision::kFp32;  // the pipes that do the arithmetic
  double flops = 0;
  double padded_flops = 0;  // with filled tiles, as the pipes compute them
  double bytes = 0;
  double launches = 1;  // number of equal kernels; operations and bytes are of all of them
  double wait_s = 0;    // for which the GPU waits for something that no clock shortens
  // True for a kernel of the framework that the algorithm does not need. It takes time, but its
  // operations and bytes do not count as the layer's.
  bool overhead = false;
};

// The kernels of one pass; empty where the pass does nothing.
std::vector<Kernel> kernels_of(const Layer& layer, Pass pass, Precision precision,
                               Optimizer optimizer);

// The kernels of a layer that is measured by itself, forward or backward. Its backward pass also
// adds the gradients to existing ones, which autograd does not do inside a network: two reads and
// one write for each gradient.
std::vector<Kernel> alone_kernels(const Layer& layer, bool backward, Precision precision);

// Names what a measurement of a layer depends on: type, shapes and parameters. Types that ONNX and
// PyTorch name differently have the same key.
std::string layer_key(std::string_view type, const Shape& in, const Shape& out, double params);

// Bytes per value: 4 for fp32 and tf32, 2 for bf16 and fp16.
double value_bytes(Precision precision);
// Accepts "fp32", "tf32", "bf16" and "fp16" (the same pipes as bf16); returns kUsage otherwise.
Result<Precision> parse_precision(std::string_view text);
std::string_view to_string(Precision precision);

}  // namespace hypermile
