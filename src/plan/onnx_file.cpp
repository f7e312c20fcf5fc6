// SPDX-License-Identifier: Apache-2.0
//
// parse_onnx(): reads the graph of an ONNX file as a Network. ONNX's own library parses the format
// and infers missing shapes; no other file sees its types.
#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <set>

#include "plan/network_file.h"
#include "plan/onnx_operator.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;  // the format's own limit
constexpr int kMostNodes = 100'000;
constexpr double kSmall = 1024;  // most elements of an integer tensor that describes a shape

Error broken_onnx(const std::string& file, const std::string& what) {
  return Error{ErrorCode::kParse, fmt::format("{}: {}", file, what),
               "check the file with onnx.checker"};
}

Error dynamic(const std::string& file, const std::string& what) {
  return Error{ErrorCode::kParse, fmt::format("{}: {}", file, what),
               "export it with fixed shapes (no dynamic_axes but the batch)"};
}

// Shapes that a network computes, as exporters write for a reshape, are followed too.
const onnx::ShapeInferenceOptions kWithData(false, 0, true);

class OnnxGraph {
 public:
  OnnxGraph(onnx::ModelProto& model, const std::string& file, std::optional<std::int64_t> batch)
      : model_(model), file_(file), batch_(batch) {}

  Result<Network> read() {
    onnx::GraphProto& graph = *model_.mutable_graph();
    // Newer versions differ only in parts that are not read here; operators are those of opset 17.
    model_.set_ir_version(std::min<std::int64_t>(model_.ir_version(), onnx::IR_VERSION));
    if (graph.node_size() == 0) return broken_onnx(file_, "has no nodes");
    if (graph.node_size() > kMostNodes) return broken_onnx(file_, "has too many nodes");
    for (const onnx::TensorProto& weight : graph.initializer()) weights_.insert(weight.name());
    RETURN_IF_ERROR(guarded([&] { onnx::checker::check_model(model_); }));
    RETURN_IF_ERROR(fix_batch(graph));
    RETURN_IF_ERROR(guarded([&] {
      onnx::shape_inference::InferShapes(model_, onnx::OpSchemaRegistry::Instance(), kWithData);
    }));
    RETURN_IF_ERROR(collect(graph));
    Network network;
    network.name = graph.name().empty() ? file_ : graph.name();
    network.batch = batch_.value_or(1);
    for (const onnx::NodeProto& node : graph.node()) RETURN_IF_ERROR(add(node, network));
    if (network.layers.empty()) return broken_onnx(file_, "has no layer that runs on a GPU");
    network.layers.front().input_gradient = false;
    return network;
  }

 private:
  // Sets the first dimension of every input to the batch, where that dimension is open.
  Result<void> fix_batch(onnx::GraphProto& graph) {
    bool first = true;
    for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
      if (weights_.contains(input.name()) || !input.type().has_tensor_type()) continue;
      auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (int i = 0; i < shape.dim_size(); ++i) {
        auto& dim = *shape.mutable_dim(i);
        if (dim.has_dim_value()) continue;
        if (i > 0) {
          return dynamic(file_, fmt::format("dimension {} of input '{}' is open ('{}')", i,
                                            input.name(), dim.dim_param()));
        }
        dim.set_dim_value(batch_.value_or(1));
      }
      if (shape.dim_size() == 0 || !first) continue;
      first = false;
      const std::int64_t own = shape.dim(0).dim_value();
      if (batch_ && own != *batch_) {
        return Error{ErrorCode::kUsage,
                     fmt::format("{} has a batch of {}, not {}", file_, own, *batch_),
                     "leave --batch out, or export it with an open first dimension"};
      }
      batch_ = own;
    }
    // Shapes that were inferred with an open batch must be inferred again.
    graph.clear_value_info();
    for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
      if (output.type().has_tensor_type()) {
        output.mutable_type()->mutable_tensor_type()->clear_shape();
      }
    }
    return {};
  }

  // Turns the exceptions of ONNX's library into Errors.
  template <class Call>
  Result<void> guarded(Call call) const {
    try {
      call();
    } catch (const std::exception& problem) {
      const std::string why = problem.what();
      return broken_onnx(file_, why.substr(0, why.find('\n')));
    }
    return {};
  }

  Result<void> collect(const onnx::GraphProto& graph) {
    for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
      for (const onnx::ValueInfoProto& value : *list) remember(value);
    }
    for (const onnx::TensorProto& weight : graph.initializer()) {
      OnnxTensor tensor{weight.name(), {weight.dims().begin(), weight.dims().end()}, true, false};
      tensor.small_integers = integral(weight.data_type());
      // A scalar has no dimensions.
      if (tensor.shape.empty()) tensor.shape = {1};
      RETURN_IF_ERROR(check(tensor));
      tensors_[weight.name()] = std::move(tensor);
    }
    return {};
  }

  static bool integral(int type) {
    return type == onnx::TensorProto::INT64 || type == onnx::TensorProto::INT32 ||
           type == onnx::TensorProto::BOOL;
  }

  void remember(const onnx::ValueInfoProto& value) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
    OnnxTensor tensor{value.name(), {}, false, false};
    for (const auto& dim : value.type().tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) return;  // the shape stays unknown
      tensor.shape.push_back(dim.dim_value());
    }
    if (tensor.shape.empty()) tensor.shape = {1};
    tensor.small_integers =
        integral(value.type().tensor_type().elem_type()) && elements(tensor.shape) <= kSmall;
    tensors_[value.name()] = std::move(tensor);
  }

  Result<void> check(const OnnxTensor& tensor) const {
    const auto checked = check_shape(tensor.shape, fmt::format("tensor '{}'", tensor.name));
    if (!checked) return checked.error().in(file_);
    return {};
  }

  Result<OnnxTensor> find(const std::string& name, const onnx::NodeProto& node) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      return dynamic(file_, fmt::format("the shape of '{}' (at {} '{}') is not known", name,
                                        node.op_type(), node.name()));
    }
    RETURN_IF_ERROR(check(found->second));
    return found->second;
  }

  Result<void> add(const onnx::NodeProto& from, Network& network) {
    OnnxNode node{from.name().empty() && from.output_size() > 0 ? from.output(0) : from.name(),
                  from.op_type(),
                  {},
                  {},
                  {}};
    // These operators run on the host, so their shapes do not matter.
    static const std::set<std::string> kHostOnly = {"Constant", "Shape", "ConstantOfShape",
                                                    "Range"};
    if (kHostOnly.contains(node.type)) return {};
    for (const std::string& name : from.input()) {
      if (name.empty()) continue;
      ASSIGN_OR_RETURN(OnnxTensor tensor, find(name, from));
      node.inputs.push_back(std::move(tensor));
    }
    for (const std::string& name : from.output()) {
      if (name.empty()) continue;
      // Unused outputs, such as masks and running statistics, may have no shape.
      if (!node.outputs.empty() && !tensors_.contains(name)) continue;
      ASSIGN_OR_RETURN(OnnxTensor tensor, find(name, from));
      node.outputs.push_back(std::move(tensor));
    }
    if (node.outputs.empty())
      return broken_onnx(file_, fmt::format("node '{}' has no output", node.name));
    for (const onnx::AttributeProto& attribute : from.attribute()) {
      auto& values = node.integers[attribute.name()];
      values.assign(attribute.ints().begin(), attribute.ints().end());
      if (attribute.has_i()) values.push_back(attribute.i());
    }
    auto made = make_onnx_layer(node);
    if (!made) return made.error().in(file_);
    if (!*made) return {};
    if (!(*made)->known) count_unknown(network, node.type);
    network.layers.push_back(std::move((*made)->layer));
    return {};
  }

  onnx::ModelProto& model_;
  const std::string& file_;
  std::optional<std::int64_t> batch_;
  std::set<std::string> weights_;
  std::map<std::string, OnnxTensor> tensors_;
};

}  // namespace

Result<Network> parse_onnx(std::string_view bytes, const std::string& file,
                           std::optional<std::int64_t> batch) {
  onnx::ModelProto model;
  if (bytes.size() >= kMostBytes ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return broken_onnx(file, "is not an ONNX model");
  }
  if (!model.has_graph()) return broken_onnx(file, "has no graph");
  return OnnxGraph(model, file, batch).read();
}

}  // namespace hypermile
