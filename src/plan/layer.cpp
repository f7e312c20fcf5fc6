// SPDX-License-Identifier: Apache-2.0
#include "plan/layer.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/parse.h"

namespace hypermile {

double elements(const Shape& shape) {
  double product = 1;
  for (const std::int64_t extent : shape) product *= static_cast<double>(extent);
  return product;
}

std::string to_string(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

std::string_view to_string(OpClass op) {
  switch (op) {
    case OpClass::kConv:
      return "conv";
    case OpClass::kLinear:
      return "linear";
    case OpClass::kMatMul:
      return "matmul";
    case OpClass::kNorm:
      return "norm";
    case OpClass::kElementwise:
      return "elementwise";
    case OpClass::kSoftmax:
      return "softmax";
    case OpClass::kPool:
      return "pool";
    case OpClass::kGather:
      return "gather";
    case OpClass::kView:
      return "view";
  }
  return "";
}

double Network::params() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.to_update();
  return sum;
}

double Network::forward_macs() const {
  double sum = 0;
  for (const Layer& layer : layers) {
    if (layer.product) sum += layer.repeat * layer.product->flops() / 2;
  }
  return sum;
}

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    ASSIGN_OR_RETURN(const long long extent, parse_integer(text.substr(0, end)));
    shape.push_back(extent);
    if (end == text.size()) return shape;
    text.remove_prefix(end + 1);
  }
}

std::string layer_key(std::string_view type, const Shape& in, const Shape& out, double params) {
  std::string name(type);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.size() > 2 && name.back() == 'd' && name[name.size() - 2] >= '1' &&
      name[name.size() - 2] <= '3') {
    name.resize(name.size() - 2);
  }
  // ONNX and the built-in networks name some operators differently from PyTorch.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSame = {{
      {"batchnormalization", "batchnorm"},
      {"layernormalization", "layernorm"},
      {"avgpool", "averagepool"},
      {"adaptiveavgpool", "averagepool"},
      {"globalaveragepool", "averagepool"},
      {"gather", "embedding"},
      {"relu6", "relu"},
      {"gemm", "linear"},
  }};
  for (const auto& [other, same] : kSame) {
    if (name == other) name = same;
  }
  return fmt::format("{} {} {} {:.0f}", name, to_string(in), to_string(out), params);
}

double value_bytes(Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return 8;
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
      return 1;
  }
  return 4;
}

Result<Precision> parse_precision(std::string_view text) {
  if (text == "fp32") return Precision::kFp32;
  if (text == "tf32") return Precision::kTf32;
  if (text == "bf16" || text == "fp16") return Precision::kBf16;
  return Error{ErrorCode::kUsage, fmt::format("unknown precision '{}'", text),
               "give fp32, tf32, bf16 or fp16"};
}

std::string_view to_string(Precision precision) {
  constexpr std::string_view kNames[kPrecisions] = {"fp64", "fp32", "tf32", "bf16", "fp8"};
  return kNames[static_cast<std::size_t>(precision)];
}

}  // namespace hypermile
