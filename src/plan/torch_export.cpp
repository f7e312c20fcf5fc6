// SPDX-License-Identifier: Apache-2.0
//
// parse_torch_export(): reads the JSON document that docs/reference/network-file.md describes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/network_file.h"
#include "plan/torch_layer.h"

namespace hypermile {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLayers = 100'000;
constexpr double kMostWork = 1e21;       // operations or values of one layer
constexpr double kFlopTolerance = 0.02;  // of all products, between the layers and the trace

constexpr std::array kClasses = {OpClass::kConv, OpClass::kLinear,      OpClass::kMatMul,
                                 OpClass::kNorm, OpClass::kElementwise, OpClass::kSoftmax,
                                 OpClass::kPool, OpClass::kGather,      OpClass::kView};

// Reads the members of one object, and keeps the first problem.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  std::string text(const char* key, std::optional<std::string> otherwise = std::nullopt) {
    const json* value = find(key, !otherwise);
    if (value == nullptr) return otherwise.value_or("");
    if (!value->is_string()) return complain(key, "text"), "";
    return value->get<std::string>();
  }

  std::optional<std::int64_t> integer(const char* key, bool required) {
    const json* value = find(key, required);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_integer()) return complain(key, "a whole number"), std::nullopt;
    return value->get<std::int64_t>();
  }

  std::optional<bool> flag(const char* key) {
    const json* value = find(key, false);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) return complain(key, "true or false"), std::nullopt;
    return value->get<bool>();
  }

  // A number of 0 or more.
  std::optional<double> amount(const char* key, bool required) {
    const json* value = find(key, required);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !(value->get<double>() >= 0 && value->get<double>() <= kMostWork)) {
      return complain(key, "a number of 0 or more"), std::nullopt;
    }
    return value->get<double>();
  }

  // A list of five numbers above 0; nullopt where it is absent.
  std::optional<Product> product(const char* key) {
    const json* value = find(key, false);
    if (value == nullptr) return std::nullopt;
    std::array<double, 5> numbers = {};
    bool good = value->is_array() && value->size() == numbers.size();
    for (std::size_t i = 0; good && i < numbers.size(); ++i) {
      good = (*value)[i].is_number();
      if (good) numbers[i] = (*value)[i].get<double>();
      good = good && numbers[i] > 0 && numbers[i] <= kMostWork;
    }
    if (!good) return complain(key, "five numbers above 0"), std::nullopt;
    const Product made{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    if (!(made.flops() <= kMostWork)) return complain(key, "a plausible product"), std::nullopt;
    return made;
  }

  Shape integers(const char* key, bool required) {
    const json* value = find(key, required);
    return value == nullptr ? Shape{} : integers_of(*value, key);
  }

  // The elements of a list of shapes, in total.
  double elements_of_shapes(const char* key) {
    const json* value = find(key, false);
    if (value == nullptr) return 0;
    if (!value->is_array()) return complain(key, "a list of shapes"), 0;
    double sum = 0;
    for (const json& shape : *value) sum += elements(integers_of(shape, key));
    return sum;
  }

  void complain(const char* key, const std::string& expected) {
    if (problem_.empty()) problem_ = fmt::format("'{}' must be {}", key, expected);
  }
  const std::string& problem() const { return problem_; }

 private:
  const json* find(const char* key, bool required) {
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    if (required && problem_.empty()) problem_ = fmt::format("'{}' is missing", key);
    return nullptr;
  }

  Shape integers_of(const json& value, const char* key) {
    Shape shape;
    if (!value.is_array()) return complain(key, "a list of whole numbers"), shape;
    for (const json& extent : value) {
      if (!extent.is_number_integer()) return complain(key, "a list of whole numbers"), shape;
      shape.push_back(extent.get<std::int64_t>());
    }
    return shape;
  }

  const json& object_;
  std::string problem_;
};

Error broken_export(const std::string& file, const std::string& what) {
  return Error{ErrorCode::kParse, fmt::format("{}: {}", file, what),
               "export it again with hypermile.export_layers()"};
}

// What an operator says about itself; nullopt for a module.
std::optional<TorchOperator> read_operator(Reader& reader) {
  const std::string name = reader.text("op", "");
  if (name.empty()) return std::nullopt;
  const auto found =
      std::ranges::find(kClasses, name, [](OpClass op) { return std::string(to_string(op)); });
  if (found == kClasses.end()) return reader.complain("op", "a class of operators"), std::nullopt;
  TorchOperator traced;
  traced.op = *found;
  traced.product = reader.product("product");
  traced.flops = reader.amount("flops", false);
  traced.values_in = reader.amount("values_in", true).value_or(0);
  traced.values_out = reader.amount("values_out", true).value_or(0);
  traced.bytes = reader.amount("bytes", false).value_or(0);
  traced.recompute = std::min(1.0, reader.amount("recompute", false).value_or(0));
  const bool matrix =
      traced.op == OpClass::kConv || traced.op == OpClass::kLinear || traced.op == OpClass::kMatMul;
  if (matrix != traced.product.has_value()) {
    reader.complain("product", "there for matrix operators, and only for them");
  }
  return traced;
}

// Layers that are missing from a file show in the products: the export also says what PyTorch ran.
Result<void> check_flops(const Network& network, std::optional<double> traced) {
  if (!traced || *traced <= 0) return {};
  double sum = 0;
  for (const Layer& layer : network.layers) {
    if (layer.product) sum += layer.repeat * layer.product->flops();
  }
  if (std::abs(sum / *traced - 1) <= kFlopTolerance) return {};
  return Error{ErrorCode::kParse,
               fmt::format("its layers do {:.4g} GFLOP of products, but the network ran {:.4g}: "
                           "layers are missing or changed",
                           sum / 1e9, *traced / 1e9),
               ""};
}

Result<TorchLayer> read_layer(const json& object) {
  if (!object.is_object()) return Error{ErrorCode::kParse, "is not an object", ""};
  Reader reader(object);
  TorchLayer layer;
  layer.name = reader.text("name");
  layer.type = reader.text("type");
  layer.in = reader.integers("in_shape", true);
  layer.out = reader.integers("out_shape", true);
  layer.params = static_cast<double>(reader.integer("params", false).value_or(0));
  layer.inputs = reader.elements_of_shapes("input_shapes");
  layer.groups = reader.integer("groups", false);
  layer.bias = reader.flag("bias");
  layer.entries = reader.integer("num_embeddings", false);
  layer.traced = read_operator(reader);
  layer.repeat = std::max(1.0, reader.amount("repeat", false).value_or(1));
  layer.updated = reader.amount("updated", false);
  if (!reader.flag("trains").value_or(true)) layer.updated = 0;
  layer.weight_gradient = reader.flag("weight_gradient").value_or(true);
  layer.input_gradient = reader.flag("input_gradient").value_or(true);
  const Shape kernel = reader.integers("kernel_size", false);
  const Shape stride = reader.integers("stride", false);
  if (kernel.size() == 2 && stride.size() == 2) {
    layer.window = SlidingWindow{kernel[0], kernel[1], stride[0], stride[1]};
    for (const std::int64_t extent : {kernel[0], kernel[1], stride[0], stride[1]}) {
      if (extent < 1 || extent > 1 << 16) reader.complain("kernel_size", "positive, like stride");
    }
  }
  if (!reader.problem().empty()) return Error{ErrorCode::kParse, reader.problem(), ""};
  return layer;
}

}  // namespace

Result<Network> parse_torch_export(std::string_view text, const std::string& file,
                                   std::optional<std::int64_t> batch) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    return broken_export(file, "is not a JSON object");
  Reader reader(document);
  Network network;
  const std::string format = reader.text("format");
  network.name = reader.text("name", file);
  network.batch = reader.integer("batch", true).value_or(1);
  const std::string optimizer = reader.text("optimizer", "sgd");
  const std::optional<double> traced_flops = reader.amount("matrix_flops", false);
  if (!reader.problem().empty()) return broken_export(file, reader.problem());
  if (format != "hypermile-network-1") {
    return broken_export(file, fmt::format("its format is '{}', not hypermile-network-1", format));
  }
  if (batch && *batch != network.batch) {
    return Error{
        ErrorCode::kUsage,
        fmt::format("{} was exported with a batch of {}, not {}", file, network.batch, *batch),
        "leave --batch out, or export it again"};
  }
  network.optimizer = optimizer == "sgd" ? Optimizer::kSgdMomentum : Optimizer::kAdam;
  const auto layers = document.find("layers");
  if (layers == document.end() || !layers->is_array() || layers->empty() ||
      layers->size() > kMostLayers) {
    return broken_export(file, "'layers' must be a list of at least one layer");
  }
  for (std::size_t i = 0; i < layers->size(); ++i) {
    const auto description = read_layer((*layers)[i]);
    if (!description) {
      return broken_export(file, fmt::format("layer {}: {}", i + 1, description.error().message));
    }
    auto made = make_torch_layer(*description);
    if (!made) return made.error().in(file);
    if (!made->known) count_unknown(network, made->layer.type);
    network.layers.push_back(std::move(made->layer));
  }
  network.layers.front().input_gradient = false;
  if (const auto checked = check_flops(network, traced_flops); !checked) {
    return broken_export(file, checked.error().message);
  }
  return network;
}

}  // namespace hypermile
