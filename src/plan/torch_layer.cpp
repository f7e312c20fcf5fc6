// SPDX-License-Identifier: Apache-2.0
#include "plan/torch_layer.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <string_view>

namespace hypermile {
namespace {

constexpr double kMostElements = 1e13;
constexpr std::size_t kMostDimensions = 16;

using Made = Result<Layer>;

Error misfit(const TorchLayer& d, const std::string& why) {
  return Error{ErrorCode::kParse, fmt::format("layer '{}' ({}): {}", d.name, d.type, why),
               "check its shapes and parameters"};
}

Made conv(const TorchLayer& d) {
  if (d.in.size() < 3 || d.out.size() != d.in.size()) {
    return misfit(d, "a convolution needs shapes of 3 to 5 dimensions");
  }
  const std::int64_t groups = d.groups.value_or(1);
  if (groups < 1 || d.in[1] % groups != 0 || d.out[1] % groups != 0) {
    return misfit(d, fmt::format("{} groups do not divide its channels", groups));
  }
  const std::int64_t in = d.in[1] / groups;
  const double per_tap = static_cast<double>(in) * static_cast<double>(d.out[1]);
  const double out = static_cast<double>(d.out[1]);
  const bool bias = d.bias.value_or(std::fmod(d.params, per_tap) != 0);
  const double taps = (d.params - (bias ? out : 0)) / per_tap;
  if (!(taps >= 1 && taps <= 1e6) || taps != std::floor(taps)) {
    return misfit(d, fmt::format("{:.0f} parameters fit no kernel between {} and {} channels",
                                 d.params, d.in[1], d.out[1]));
  }
  return make_conv(d.name, d.in, d.out, static_cast<std::int64_t>(taps), groups, bias);
}

Made linear(const TorchLayer& d) {
  const double weights = static_cast<double>(d.in.back()) * static_cast<double>(d.out.back());
  const bool bias = d.bias.value_or(d.params > weights);
  if (d.params != weights + (bias ? static_cast<double>(d.out.back()) : 0)) {
    return misfit(
        d, fmt::format("{:.0f} parameters are not {} × {}", d.params, d.in.back(), d.out.back()));
  }
  return make_linear(d.name, d.in, d.out.back(), bias);
}

Made batch_norm(const TorchLayer& d) {
  if (d.in.size() < 2) return misfit(d, "its shape needs 2 dimensions");
  return make_batch_norm(d.name, d.in);
}

Made max_pool(const TorchLayer& d) {
  if (d.in.size() < 3 || d.out.size() != d.in.size()) return misfit(d, "its shapes do not fit");
  const std::size_t h = d.in.size() - 2;
  const auto ratio = [&](std::size_t i) { return std::max<std::int64_t>(1, d.in[i] / d.out[i]); };
  const SlidingWindow derived{ratio(h), ratio(h + 1), ratio(h), ratio(h + 1)};
  return make_max_pool(d.name, d.in, d.out, d.window.value_or(derived));
}

Made average_pool(const TorchLayer& d) {
  return make_average_pool(d.name, d.in, d.out);
}

Made embedding(const TorchLayer& d) {
  const double rows = d.params / static_cast<double>(d.out.back());
  if (!(rows >= 1 && rows <= 1e12)) return misfit(d, "its table has no rows");
  return make_embedding(d.name, d.in, d.out, d.entries.value_or(static_cast<std::int64_t>(rows)));
}

template <Layer (*make)(std::string, Shape)>
Made same(const TorchLayer& d) {
  return make(d.name, d.in);
}

Made view(const TorchLayer& d) {
  return make_view(d.name, d.type, d.in, d.out);
}

using Maker = Made (*)(const TorchLayer&);
const std::map<std::string_view, Maker>& makers() {
  static const std::map<std::string_view, Maker> table = {
      {"Conv1d", conv},
      {"Conv2d", conv},
      {"Conv3d", conv},
      {"Linear", linear},
      {"BatchNorm1d", batch_norm},
      {"BatchNorm2d", batch_norm},
      {"BatchNorm3d", batch_norm},
      {"LayerNorm", same<make_layer_norm>},
      {"ReLU", same<make_relu>},
      {"ReLU6", same<make_relu>},
      {"LeakyReLU", same<make_relu>},
      {"GELU", same<make_gelu>},
      {"SiLU", same<make_gelu>},
      {"Tanh", same<make_gelu>},
      {"Sigmoid", same<make_gelu>},
      {"Dropout", same<make_dropout>},
      {"Softmax", same<make_softmax>},
      {"LogSoftmax", same<make_softmax>},
      {"CrossEntropyLoss", same<make_cross_entropy>},
      {"MaxPool2d", max_pool},
      {"AvgPool2d", average_pool},
      {"AdaptiveAvgPool2d", average_pool},
      {"Embedding", embedding},
      {"Add", same<make_add>},
      {"Identity", view},
      {"Flatten", view},
  };
  return table;
}

Layer make_traced(const TorchLayer& d) {
  const TorchOperator& traced = *d.traced;
  Layer layer;
  layer.name = d.name;
  layer.op = traced.op;
  layer.in = d.in;
  layer.out = d.out;
  layer.params = d.params;
  layer.recompute = traced.recompute;
  if (traced.product) {
    layer.product = traced.product;
    // A product of two activations has no weights.
    if (layer.op == OpClass::kLinear && layer.params <= 0) layer.op = OpClass::kMatMul;
    layer.other_inputs = traced.values_in - elements(d.in) + traced.values_out - elements(d.out);
    return layer;
  }
  const double flops = traced.flops.value_or(traced.values_out);
  const double values = traced.values_in + d.params;
  layer.forward = {flops, values + traced.values_out, traced.bytes};
  layer.backward = {flops, 2 * values + traced.values_out, traced.bytes};
  return layer;
}

void finish(Layer& layer, const TorchLayer& d) {
  layer.type = d.type;
  layer.repeat = d.repeat;
  layer.params = d.params;  // a norm may have none, or one for every value
  layer.updated = d.updated;
  layer.weight_gradient = d.weight_gradient;
  layer.input_gradient = layer.input_gradient && d.input_gradient;
}

}  // namespace

Result<void> check_shape(const Shape& shape, const std::string& what) {
  if (shape.empty() || shape.size() > kMostDimensions) {
    return Error{ErrorCode::kParse, fmt::format("{} has {} dimensions", what, shape.size()),
                 fmt::format("expected 1 to {}", kMostDimensions)};
  }
  for (const std::int64_t extent : shape) {
    if (extent >= 1) continue;
    return Error{ErrorCode::kParse,
                 fmt::format("{} is {}: nothing of size zero can run", what, to_string(shape)),
                 "export the network with an example input of the shape it will see"};
  }
  if (elements(shape) > kMostElements) {
    return Error{ErrorCode::kParse,
                 fmt::format("{} is {}: implausibly large", what, to_string(shape)),
                 "check the file"};
  }
  return {};
}

Result<MadeLayer> make_torch_layer(const TorchLayer& d) {
  RETURN_IF_ERROR(check_shape(d.in, fmt::format("the input of layer '{}'", d.name)));
  RETURN_IF_ERROR(check_shape(d.out, fmt::format("the output of layer '{}'", d.name)));
  if (!(d.params >= 0 && d.params <= kMostElements)) return misfit(d, "parameters out of range");
  if (d.traced) {
    MadeLayer made{make_traced(d), true};
    finish(made.layer, d);
    return made;
  }
  const auto found = makers().find(d.type);
  if (found == makers().end()) {
    const double inputs = d.inputs > 0 ? d.inputs : elements(d.in);
    Layer layer = make_elementwise(d.name, d.type, d.in, d.out, inputs);
    layer.params = d.params;
    finish(layer, d);
    return MadeLayer{std::move(layer), false};
  }
  ASSIGN_OR_RETURN(Layer layer, found->second(d));
  finish(layer, d);
  return MadeLayer{std::move(layer), true};
}

}  // namespace hypermile
