// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_makers.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

constexpr double kIndexBytes = 8;  // PyTorch stores the position of each maximum as an int64
constexpr double kMaskBytes = 1;

Layer make(std::string name, std::string type, OpClass op, Shape in, Shape out) {
  Layer layer;
  layer.name = std::move(name);
  layer.type = std::move(type);
  layer.op = op;
  layer.in = std::move(in);
  layer.out = std::move(out);
  return layer;
}

// A layer with one shape: operations per element, and how many tensors of that shape it moves.
struct PerElement {
  double forward_flops, forward_tensors, backward_flops, backward_tensors;
};

Layer make_same(std::string name, std::string type, OpClass op, const Shape& shape,
                const PerElement& per) {
  Layer layer = make(std::move(name), std::move(type), op, shape, shape);
  const double count = elements(shape);
  layer.forward = {per.forward_flops * count, per.forward_tensors * count, 0};
  layer.backward = {per.backward_flops * count, per.backward_tensors * count, 0};
  return layer;
}

double extent(const Shape& shape, std::size_t i) {
  return static_cast<double>(shape[i]);
}

}  // namespace

Layer make_conv(std::string name, Shape in, Shape out, std::int64_t taps, std::int64_t groups,
                bool bias) {
  Layer layer = make(std::move(name), "Conv", OpClass::kConv, std::move(in), std::move(out));
  const double count = static_cast<double>(groups);
  Product product;
  product.in = extent(layer.in, 1) / count;
  product.out = extent(layer.out, 1) / count;
  product.positions = elements(layer.out) / extent(layer.out, 1);
  product.taps = static_cast<double>(taps);
  product.count = count;
  layer.params = count * product.in * product.out * product.taps;
  layer.bias = bias;
  if (bias) layer.params += extent(layer.out, 1);
  layer.product = product;
  return layer;
}

Layer make_linear(std::string name, Shape in, std::int64_t out_features, bool bias) {
  Shape out = in;
  out.back() = out_features;
  Layer layer = make(std::move(name), "Linear", OpClass::kLinear, std::move(in), std::move(out));
  Product product;
  product.in = static_cast<double>(layer.in.back());
  product.out = static_cast<double>(out_features);
  product.positions = elements(layer.in) / product.in;
  layer.params = product.in * product.out + (bias ? product.out : 0);
  layer.bias = bias;
  layer.product = product;
  return layer;
}

Layer make_matmul(std::string name, Shape in, Shape out, double count, double rows, double depth,
                  double columns) {
  Layer layer = make(std::move(name), "MatMul", OpClass::kMatMul, std::move(in), std::move(out));
  layer.product = Product{rows, depth, columns, 1, count};
  layer.other_inputs = count * depth * columns;
  return layer;
}

Layer make_batch_norm(std::string name, Shape shape) {
  // The data is read twice, for the statistics and for the result; the gradient reads both tensors
  // twice.
  Layer layer =
      make_same(std::move(name), "BatchNormalization", OpClass::kNorm, shape, {10, 3, 13, 5});
  layer.params = 2 * extent(shape, 1);
  return layer;
}

Layer make_layer_norm(std::string name, Shape shape) {
  // Rows stay in registers. The gradients of scale and shift read both tensors once more.
  Layer layer =
      make_same(std::move(name), "LayerNormalization", OpClass::kNorm, shape, {8, 2, 14, 5});
  layer.params = 2 * static_cast<double>(shape.back());
  return layer;
}

Layer make_relu(std::string name, Shape shape) {
  return make_same(std::move(name), "Relu", OpClass::kElementwise, shape, {1, 2, 1, 3});
}

Layer make_gelu(std::string name, Shape shape) {
  return make_same(std::move(name), "Gelu", OpClass::kElementwise, shape, {13, 2, 20, 3});
}

Layer make_add(std::string name, Shape shape) {
  // Both inputs have the output's gradient as theirs, so nothing moves.
  Layer layer = make_same(std::move(name), "Add", OpClass::kElementwise, shape, {1, 3, 0, 0});
  layer.other_inputs = elements(shape);
  return layer;
}

Layer make_dropout(std::string name, Shape shape) {
  Layer layer = make_same(std::move(name), "Dropout", OpClass::kElementwise, shape, {2, 2, 1, 2});
  layer.forward.bytes = layer.backward.bytes = kMaskBytes * elements(shape);
  return layer;
}

Layer make_softmax(std::string name, Shape shape) {
  return make_same(std::move(name), "Softmax", OpClass::kSoftmax, shape, {5, 2, 4, 3});
}

Layer make_max_pool(std::string name, Shape in, Shape out, const SlidingWindow& window) {
  Layer layer = make(std::move(name), "MaxPool", OpClass::kPool, std::move(in), std::move(out));
  const double from = elements(layer.in);
  const double to = elements(layer.out);
  const double points = static_cast<double>(window.kernel_h * window.kernel_w);
  // Overlapping windows read their values several times.
  const double overlap =
      std::max(1.0, points / static_cast<double>(window.stride_h * window.stride_w));
  layer.forward = {to * points, overlap * from + to, kIndexBytes * to};
  layer.backward = {to, from + overlap * to, kIndexBytes * overlap * to};
  return layer;
}

Layer make_average_pool(std::string name, Shape in, Shape out) {
  Layer layer = make(std::move(name), "AveragePool", OpClass::kPool, std::move(in), std::move(out));
  const double both = elements(layer.in) + elements(layer.out);
  layer.forward = layer.backward = {elements(layer.in), both, 0};
  return layer;
}

Layer make_embedding(std::string name, Shape in, Shape out, std::int64_t entries) {
  Layer layer = make(std::move(name), "Gather", OpClass::kGather, std::move(in), std::move(out));
  const double moved = elements(layer.out);
  layer.params = static_cast<double>(entries) * static_cast<double>(layer.out.back());
  layer.input_gradient = false;
  layer.forward = {0, 2 * moved, kIndexBytes * elements(layer.in)};
  // The gradient is dense: it is cleared, and then rows are added to it.
  layer.backward = {moved, 3 * moved + layer.params, kIndexBytes * elements(layer.in)};
  return layer;
}

Layer make_cross_entropy(std::string name, Shape logits) {
  const double rows = elements(logits) / static_cast<double>(logits.back());
  Layer layer =
      make(std::move(name), "SoftmaxCrossEntropyLoss", OpClass::kSoftmax, std::move(logits), {1});
  const double count = elements(layer.in);
  layer.forward = {5 * count, count, kIndexBytes * rows};
  layer.backward = {2 * count, 2 * count, kIndexBytes * rows};
  return layer;
}

Layer make_sparse_product(std::string name, Shape in, Shape out, double edges) {
  Layer layer =
      make(std::move(name), "SparseMatMul", OpClass::kGather, std::move(in), std::move(out));
  const double width = static_cast<double>(layer.out.back());
  layer.forward = layer.backward = {2 * edges * width, edges * width + elements(layer.out),
                                    2 * kIndexBytes * edges};
  return layer;
}

Layer make_elementwise(std::string name, std::string type, Shape in, Shape out, double inputs) {
  Layer layer =
      make(std::move(name), std::move(type), OpClass::kElementwise, std::move(in), std::move(out));
  const double to = elements(layer.out);
  layer.other_inputs = std::max(0.0, inputs - elements(layer.in));
  layer.forward = {to, inputs + to, 0};
  // Reads the output's gradient and the inputs, and writes a gradient for each input.
  layer.backward = {to, to + 2 * inputs, 0};
  return layer;
}

Layer make_view(std::string name, std::string type, Shape in, Shape out) {
  return make(std::move(name), std::move(type), OpClass::kView, std::move(in), std::move(out));
}

}  // namespace hypermile
