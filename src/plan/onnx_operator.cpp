// SPDX-License-Identifier: Apache-2.0
#include "plan/onnx_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>

namespace hypermile {
namespace {

using Made = Result<Layer>;

Error misfit(const OnnxNode& node, const std::string& why) {
  return Error{ErrorCode::kParse, fmt::format("node '{}' ({}): {}", node.name, node.type, why),
               "check the file with onnx.checker"};
}

const OnnxTensor& data(const OnnxNode& node) {
  return node.inputs.front();
}
const Shape& out(const OnnxNode& node) {
  return node.outputs.front().shape;
}

double params_of(const OnnxNode& node) {
  double sum = 0;
  for (const OnnxTensor& input : node.inputs) {
    if (input.weight && !input.small_integers) sum += elements(input.shape);
  }
  return sum;
}

std::int64_t integer(const OnnxNode& node, const std::string& name, std::int64_t otherwise) {
  const auto found = node.integers.find(name);
  return found == node.integers.end() || found->second.empty() ? otherwise : found->second.front();
}

std::int64_t taps_of(const Shape& weights) {
  return std::accumulate(weights.begin() + 2, weights.end(), std::int64_t{1},
                         [](std::int64_t a, std::int64_t b) { return a > (1 << 20) ? a : a * b; });
}

Made conv(const OnnxNode& node) {
  if (node.inputs.size() < 2 || data(node).shape.size() < 3) return misfit(node, "has no weights");
  const Shape& weights = node.inputs[1].shape;
  const std::int64_t groups = integer(node, "group", 1);
  const bool fits = weights.size() == data(node).shape.size() &&
                    out(node).size() == weights.size() && groups >= 1 &&
                    weights[1] <= data(node).shape[1] / groups && weights[0] == out(node)[1] &&
                    weights[1] * groups == data(node).shape[1] && weights[0] % groups == 0;
  if (!fits) return misfit(node, "weights and shapes do not fit");
  return make_conv(node.name, data(node).shape, out(node), taps_of(weights), groups,
                   node.inputs.size() > 2);
}

// The same products as the convolution from its output to its input, whose data gradient it is.
Made conv_transpose(const OnnxNode& node) {
  if (node.inputs.size() < 2 || data(node).shape.size() < 3) return misfit(node, "has no weights");
  const Shape& weights = node.inputs[1].shape;
  const Shape& in = data(node).shape;
  const std::int64_t groups = integer(node, "group", 1);
  const bool fits = weights.size() == in.size() && out(node).size() == in.size() && groups >= 1 &&
                    weights[0] == in[1] && weights[0] % groups == 0 && weights[1] <= out(node)[1] &&
                    weights[1] * groups == out(node)[1];
  if (!fits) return misfit(node, "weights and shapes do not fit");
  Layer layer = make_conv(node.name, out(node), in, taps_of(weights), groups, false);
  std::swap(layer.in, layer.out);
  if (node.inputs.size() > 2) layer.params += static_cast<double>(out(node)[1]);
  return layer;
}

// A product with stored weights is a linear layer; a product of two activations is not.
Made matmul(const OnnxNode& node) {
  if (node.inputs.size() < 2) return misfit(node, "has one operand");
  const Shape& a = data(node).shape;
  const Shape& b = node.inputs[1].shape;
  const bool turned_a = integer(node, "transA", 0) != 0;
  const std::int64_t depth = turned_a ? a.front() : a.back();
  const std::int64_t columns = out(node).back();
  const double rows = elements(out(node)) / static_cast<double>(columns);
  if (node.inputs[1].weight && b.size() == 2) {
    if (elements(b) != static_cast<double>(depth) * static_cast<double>(columns)) {
      return misfit(node, "weights and shapes do not fit");
    }
    Shape in = out(node);
    in.back() = depth;
    return make_linear(node.name, in, columns, node.inputs.size() > 2);
  }
  double count = 1;
  for (std::size_t i = 0; i + 2 < out(node).size(); ++i) {
    count *= static_cast<double>(out(node)[i]);
  }
  return make_matmul(node.name, a, out(node), count, rows / count, static_cast<double>(depth),
                     static_cast<double>(columns));
}

Made batch_norm(const OnnxNode& node) {
  if (data(node).shape.size() < 2) return misfit(node, "needs two dimensions");
  return make_batch_norm(node.name, data(node).shape);
}

Made max_pool(const OnnxNode& node) {
  const auto pair = [&](const std::string& name) {
    const auto found = node.integers.find(name);
    Shape values = found == node.integers.end() ? Shape{} : found->second;
    values.resize(2, values.empty() ? 1 : values.back());
    for (std::int64_t& value : values) value = std::clamp<std::int64_t>(value, 1, 1 << 16);
    return values;
  };
  const Shape kernel = pair("kernel_shape"), stride = pair("strides");
  return make_max_pool(node.name, data(node).shape, out(node),
                       {kernel[0], kernel[1], stride[0], stride[1]});
}

Made average_pool(const OnnxNode& node) {
  return make_average_pool(node.name, data(node).shape, out(node));
}

template <Layer (*make)(std::string, Shape)>
Made same(const OnnxNode& node) {
  return make(node.name, data(node).shape);
}

Made elementwise(const OnnxNode& node) {
  double inputs = 0;
  for (const OnnxTensor& input : node.inputs) inputs += elements(input.shape);
  double outputs = -elements(out(node));
  for (const OnnxTensor& output : node.outputs) outputs += elements(output.shape);
  Layer layer = make_elementwise(node.name, node.type, data(node).shape, out(node), inputs);
  layer.forward.values += outputs;
  layer.backward.values += outputs;
  layer.params = params_of(node);
  return layer;
}

// Looks up rows of a stored table by index, or copies a part of the data.
Made gather(const OnnxNode& node) {
  if (node.inputs.size() < 2 || !data(node).weight) return elementwise(node);
  return make_embedding(node.name, node.inputs[1].shape, out(node), data(node).shape.front());
}

using Maker = Made (*)(const OnnxNode&);
const std::map<std::string_view, Maker>& makers() {
  static const std::map<std::string_view, Maker> table = {
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
      {"Gemm", matmul},
      {"MatMul", matmul},
      {"BatchNormalization", batch_norm},
      {"InstanceNormalization", batch_norm},
      {"LayerNormalization", same<make_layer_norm>},
      {"Relu", same<make_relu>},
      {"LeakyRelu", same<make_relu>},
      {"Clip", same<make_relu>},
      {"Gelu", same<make_gelu>},
      {"Erf", same<make_gelu>},
      {"Tanh", same<make_gelu>},
      {"Sigmoid", same<make_gelu>},
      {"HardSigmoid", same<make_gelu>},
      {"HardSwish", same<make_gelu>},
      {"Softmax", same<make_softmax>},
      {"LogSoftmax", same<make_softmax>},
      {"Dropout", same<make_dropout>},
      {"MaxPool", max_pool},
      {"AveragePool", average_pool},
      {"GlobalAveragePool", average_pool},
      {"GlobalMaxPool", average_pool},
      {"Gather", gather},
  };
  return table;
}

constexpr std::array<std::string_view, 27> kElementwise = {
    "Add", "Sub",  "Mul",    "Div",   "Pow",        "Sqrt",      "Exp",       "Log",    "Neg",
    "Abs", "Max",  "Min",    "Where", "Equal",      "Transpose", "Concat",    "Slice",  "Split",
    "Pad", "Cast", "Expand", "Tile",  "ReduceMean", "ReduceSum", "ReduceMax", "Resize", "Sum"};
constexpr std::array<std::string_view, 8> kViews = {"Reshape",   "Flatten",        "Squeeze",
                                                    "Unsqueeze", "Identity",       "Shape",
                                                    "Constant",  "ConstantOfShape"};

}  // namespace

Result<std::optional<MadeLayer>> make_onnx_layer(const OnnxNode& node) {
  const auto is = [&](std::string_view name) { return name == node.type; };
  const bool on_host = std::ranges::all_of(
      node.outputs, [](const OnnxTensor& t) { return t.small_integers || t.shape.empty(); });
  if (std::ranges::any_of(kViews, is) || on_host || node.inputs.empty()) {
    return std::optional<MadeLayer>();
  }
  const auto found = makers().find(node.type);
  const bool known = found != makers().end() || std::ranges::any_of(kElementwise, is);
  ASSIGN_OR_RETURN(Layer layer, found != makers().end() ? found->second(node) : elementwise(node));
  layer.type = node.type;
  return std::optional(MadeLayer{std::move(layer), known});
}

}  // namespace hypermile
