// SPDX-License-Identifier: Apache-2.0
#include "plan/network_file.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <functional>

#include "plan/stages.h"

namespace hypermile {
namespace {

void add_value(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& list, const char* name,
               const std::vector<std::int64_t>& shape) {
  onnx::ValueInfoProto& value = *list.Add();
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : shape) {
    auto& dim = *type.mutable_shape()->add_dim();
    // -1 leaves the extent open
    if (extent >= 0) {
      dim.set_dim_value(extent);
    } else {
      dim.set_dim_param("open");
    }
  }
}

void add_weight(onnx::GraphProto& graph, const char* name, const std::vector<std::int64_t>& shape) {
  onnx::TensorProto& weight = *graph.add_initializer();
  weight.set_name(name);
  weight.set_data_type(onnx::TensorProto::FLOAT);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    weight.add_dims(extent);
    count *= extent;
  }
  weight.set_raw_data(std::string(static_cast<std::size_t>(4 * count), '\0'));
}

onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* type,
                          const std::vector<const char*>& inputs, const char* output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(std::string("/") + output);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void set_integers(onnx::NodeProto& node, const char* name,
                  const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

// A convolution, an activation, a pooling and a linear layer, without any shape in between.
onnx::ModelProto small_model(std::int64_t batch, std::int64_t side = 8) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("small");
  add_value(*graph.mutable_input(), "x", {batch, 3, side, side});
  add_weight(graph, "w", {16, 3, 3, 3});
  add_weight(graph, "b", {16});
  set_integers(add_node(graph, "Conv", {"x", "w", "b"}, "c"), "pads", {1, 1, 1, 1});
  add_node(graph, "Relu", {"c"}, "r");
  add_node(graph, "GlobalAveragePool", {"r"}, "p");
  add_node(graph, "Flatten", {"p"}, "f");
  add_weight(graph, "fw", {16, 10});
  add_weight(graph, "fb", {10});
  add_node(graph, "Gemm", {"f", "fw", "fb"}, "y");
  add_value(*graph.mutable_output(), "y", {batch, 10});
  return model;
}

Result<Network> parse(const onnx::ModelProto& model,
                      std::optional<std::int64_t> batch = std::nullopt) {
  return parse_onnx(model.SerializeAsString(), "m.onnx", batch);
}

TEST(OnnxFile, BecomesLayersWithInferredShapes) {
  const auto network = parse(small_model(4));

  ASSERT_TRUE(network) << network.error().line();
  ASSERT_EQ(network->layers.size(), 4U);  // Flatten moves no data
  EXPECT_EQ(network->layers[0].type, "Conv");
  EXPECT_EQ(network->layers[0].out, (Shape{4, 16, 8, 8}));
  EXPECT_TRUE(network->layers[0].bias);
  EXPECT_FALSE(network->layers[0].input_gradient);
  EXPECT_EQ(network->layers[3].type, "Gemm");
  EXPECT_DOUBLE_EQ(network->forward_macs(), 4.0 * 64 * 16 * 27 + 4 * 16 * 10);
  EXPECT_DOUBLE_EQ(network->params(), 16 * 27 + 16 + 160 + 10);
  EXPECT_EQ(network->batch, 4);
  EXPECT_TRUE(network->unknown.empty());
}

TEST(OnnxFile, WithAnOpenBatchTakesTheOneAskedFor) {
  const auto one = parse(small_model(-1));
  const auto eight = parse(small_model(-1), 8);

  ASSERT_TRUE(one && eight);
  EXPECT_DOUBLE_EQ(eight->forward_macs(), 8 * one->forward_macs());
}

TEST(OnnxFile, WithABatchOfItsOwnTakesNoOther) {
  const auto network = parse(small_model(4), 8);

  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code, ErrorCode::kUsage);
}

TEST(OnnxFile, WithDynamicShapesIsRefused) {
  const auto network = parse(small_model(4, -1));

  ASSERT_FALSE(network);
  EXPECT_NE(network.error().line().find("dimension 2 of input 'x' is open"), std::string::npos)
      << network.error().line();
}

TEST(OnnxFile, WithALayerOfSizeZeroIsRefused) {
  const auto network = parse(small_model(0));

  ASSERT_FALSE(network);
  EXPECT_NE(network.error().line().find("size zero"), std::string::npos) << network.error().line();
}

TEST(OnnxFile, CountsAndNamesUnknownOperators) {
  onnx::ModelProto model = small_model(4);
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    if (node.op_type() == "Relu") node.set_op_type("Softsign");
  }

  const auto network = parse(model);

  ASSERT_TRUE(network) << network.error().line();
  ASSERT_EQ(network->unknown.size(), 1U);
  EXPECT_EQ(network->unknown[0].type, "Softsign");
  EXPECT_EQ(network->unknown[0].count, 1U);
  // It costs as much as an element-wise layer.
  const auto stages = make_stages(*network, {.scope = Scope::kForward});
  EXPECT_DOUBLE_EQ(stages[1].bytes, 2 * 4.0 * 4 * 16 * 64);
}

TEST(OnnxFile, ThatIsBrokenIsOneClearLine) {
  const std::string whole = small_model(4).SerializeAsString();
  onnx::ModelProto dangling = small_model(4);
  dangling.mutable_graph()->mutable_node(1)->set_input(0, "nowhere");
  onnx::ModelProto misfit = small_model(4);
  misfit.mutable_graph()->mutable_initializer(0)->set_dims(1, 5);

  for (const std::string& bytes :
       {std::string(), std::string("no model"), whole.substr(0, whole.size() / 2),
        dangling.SerializeAsString(), misfit.SerializeAsString()}) {
    const auto network = parse_onnx(bytes, "m.onnx", std::nullopt);

    ASSERT_FALSE(network);
    EXPECT_EQ(network.error().code, ErrorCode::kParse);
    EXPECT_EQ(network.error().line().find("m.onnx"), 0U) << network.error().line();
    EXPECT_EQ(network.error().line().find('\n'), std::string::npos);
  }
}

std::string torch_export(const std::string& layers) {
  return R"({"format": "hypermile-network-1", "name": "net", "batch": 2, "optimizer": "adam",
            "layers": [)" +
         layers + "]}";
}

constexpr const char* kConv = R"({"name": "c", "type": "Conv2d", "in_shape": [2, 3, 8, 8],
    "out_shape": [2, 16, 8, 8], "params": 448, "kernel_size": [3, 3], "stride": [1, 1],
    "groups": 1, "bias": true})";

TEST(TorchExport, BecomesLayers) {
  const auto network =
      parse_torch_export(torch_export(std::string(kConv) +
                                      R"(,{"name": "r", "type": "ReLU", "in_shape": [2, 16, 8, 8],
                       "out_shape": [2, 16, 8, 8]},
                      {"name": "p", "type": "MaxPool2d", "in_shape": [2, 16, 8, 8],
                       "out_shape": [2, 16, 4, 4], "kernel_size": [3, 3], "stride": [2, 2]})"),
                         "n.json", std::nullopt);

  ASSERT_TRUE(network) << network.error().line();
  ASSERT_EQ(network->layers.size(), 3U);
  EXPECT_DOUBLE_EQ(network->forward_macs(), 2.0 * 64 * 16 * 27);
  EXPECT_EQ(network->optimizer, Optimizer::kAdam);
  EXPECT_EQ(network->layers[1].type, "ReLU");
  EXPECT_DOUBLE_EQ(network->layers[2].forward.flops, 2 * 16 * 16 * 9);
}

TEST(TorchExport, CountsAndNamesUnknownModules) {
  const auto network = parse_torch_export(
      torch_export(R"({"name": "a", "type": "Strange", "in_shape": [2, 4], "out_shape": [2, 4]},
                      {"name": "b", "type": "Strange", "in_shape": [2, 4], "out_shape": [2, 4]})"),
      "n.json", std::nullopt);

  ASSERT_TRUE(network) << network.error().line();
  ASSERT_EQ(network->unknown.size(), 1U);
  EXPECT_EQ(network->unknown[0].count, 2U);
}

TEST(TorchExport, ThatIsBrokenIsOneClearLine) {
  const auto layer = [](const char* text) { return torch_export(text); };
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(R"({"format": "other", "batch": 1})"),
        torch_export(""), layer("3"), layer(R"({"name": "a"})"),
        layer(R"({"name": "a", "type": "ReLU", "in_shape": [2, 0], "out_shape": [2, 0]})"),
        layer(R"({"name": "a", "type": "ReLU", "in_shape": "2", "out_shape": [2]})"),
        layer(R"({"name": "a", "type": "ReLU", "in_shape": [], "out_shape": [2]})"),
        layer(R"({"name": "a", "type": "ReLU", "in_shape": [2, -4], "out_shape": [2]})"),
        layer(R"({"name": "a", "type": "Linear", "in_shape": [2, 4], "out_shape": [2, 4],
                  "params": 7})")}) {
    const auto network = parse_torch_export(text, "n.json", std::nullopt);

    ASSERT_FALSE(network) << text;
    EXPECT_EQ(network.error().code, ErrorCode::kParse);
    EXPECT_EQ(network.error().line().find("n.json"), 0U) << network.error().line();
  }
}

std::string traced(const std::string& product, const std::string& more, double flops) {
  return R"({"format": "hypermile-network-1", "batch": 2, "matrix_flops": )" +
         std::to_string(flops) +
         R"(, "layers": [{"name": ":bmm", "type": "MatMul", "op": "matmul", "in_shape": [4, 8, 16],
            "out_shape": [4, 8, 8], "values_in": 1024, "values_out": 256, "product": )" +
         product + more + "}]}";
}

TEST(TorchExport, TakesWhatATracedOperatorSaysOfItself) {
  const auto network = parse_torch_export(
      traced("[8, 16, 8, 1, 4]", R"(, "repeat": 3, "recompute": 0.5)", 3 * 2.0 * 8 * 16 * 8 * 4),
      "n.json", std::nullopt);

  ASSERT_TRUE(network) << network.error().line();
  EXPECT_TRUE(network->unknown.empty());
  const Layer& layer = network->layers.front();
  const auto kernels = kernels_of(layer, Pass::kForward, Precision::kFp32, {});
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].flops, 3 * 2.0 * 8 * 16 * 8 * 4);
  EXPECT_EQ(kernels[0].bytes, 3 * 4.0 * (1024 + 256));
  EXPECT_EQ(kernels[0].launches, 3);
}

TEST(TorchExport, WithMissingLayersIsOneClearLine) {
  const auto network = parse_torch_export(traced("[8, 16, 8, 1, 4]", "", 1e6), "n.json", {});

  ASSERT_FALSE(network);
  EXPECT_NE(network.error().line().find("layers are missing"), std::string::npos);
  EXPECT_EQ(network.error().line().find('\n'), std::string::npos);
}

TEST(TorchExport, WithABrokenOperatorIsOneClearLine) {
  for (const char* product : {"3", "[]", "[1, 2, 3, 4]", "[1, 2, 3, 4, 0]", "[1, 2, 3, 4, 1e300]",
                              "[1, 2, 3, 4, \"5\"]", "[-1, 2, 3, 4, 5]"}) {
    const auto network = parse_torch_export(traced(product, "", 0), "n.json", {});

    ASSERT_FALSE(network) << product;
    EXPECT_NE(network.error().line().find("product"), std::string::npos);
  }
}

TEST(TorchExport, CountsSharedParametersOnce) {
  const char* layer = R"({"name": "a", "type": "Linear", "in_shape": [2, 4], "out_shape": [2, 4],
                          "params": 16, "trains": )";
  const auto network = parse_torch_export(
      torch_export(std::string(layer) + "true}, " + layer + "false}"), "n.json", std::nullopt);

  ASSERT_TRUE(network) << network.error().line();
  EXPECT_EQ(network->params(), 16);
}

TEST(TorchExport, UpdatesWhatNoEarlierLayerSharesAndABiasThatLearnsAlone) {
  const char* layer = R"({"name": "a", "type": "Linear", "in_shape": [2, 4], "out_shape": [2, 4],
                          "params": 20, "bias": true, )";
  const auto network =
      parse_torch_export(torch_export(std::string(layer) + R"("trains": true}, )" + layer +
                                      R"("updated": 4, "weight_gradient": false})"),
                         "n.json", std::nullopt);

  ASSERT_TRUE(network) << network.error().line();
  EXPECT_EQ(network->params(), 24);
  const auto updates = [&](std::size_t i) {
    return kernels_of(network->layers[i], Pass::kOptimizer, Precision::kFp32, network->optimizer);
  };
  ASSERT_EQ(updates(1).size(), 1u);
  EXPECT_DOUBLE_EQ(updates(0).front().bytes, 5 * updates(1).front().bytes);
}

TEST(TorchExport, TakesNoOtherBatch) {
  const auto network = parse_torch_export(torch_export(kConv), "n.json", 64);

  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code, ErrorCode::kUsage);
}

TEST(Networks, AreOpenedByNameOrFile) {
  EXPECT_EQ(open_network("vgg16", 4)->batch, 4);
  EXPECT_EQ(open_network("vgg16", std::nullopt)->batch, 1);
  EXPECT_EQ(open_network("nowhere.onnx", 4).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(open_network("vgg17", 4).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
