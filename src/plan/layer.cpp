// SPDX-License-Identifier: Apache-2.0
#include "plan/layer.h"

#include <fmt/format.h>

#include <cmath>

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
  for (const Layer& layer : layers) sum += layer.params;
  return sum;
}

double Network::forward_macs() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.product ? layer.product->flops() / 2 : 0;
  return sum;
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
