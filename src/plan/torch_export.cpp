// SPDX-License-Identifier: Apache-2.0
//
// parse_torch_export(): reads the JSON document that docs/reference/network-file.md describes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plan/network_file.h"
#include "plan/torch_layer.h"

namespace hypermile {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLayers = 100'000;

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
  return network;
}

}  // namespace hypermile
