// SPDX-License-Identifier: Apache-2.0
#include "plan/layer.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "plan/builtin_networks.h"
#include "plan/layer_makers.h"
#include "plan/stages.h"

namespace hypermile {
namespace {

double flops(const std::vector<Kernel>& kernels) {
  return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                         [](double sum, const Kernel& k) { return sum + k.flops; });
}

std::map<std::string, int> census(const Network& network) {
  std::map<std::string, int> counts;
  for (const Layer& layer : network.layers) ++counts[layer.type];
  return counts;
}

TEST(BuiltinNetworks, HaveThePublishedOperationsPerImage) {
  EXPECT_NEAR(builtin_network("resnet50", 1)->forward_macs(), 4.089e9, 0.0005e9);
  EXPECT_NEAR(builtin_network("vgg16", 1)->forward_macs(), 15.470e9, 0.0005e9);
}

TEST(BuiltinNetworks, HaveThePublishedParameters) {
  EXPECT_DOUBLE_EQ(builtin_network("resnet50", 8)->params(), 25'557'032);
  EXPECT_DOUBLE_EQ(builtin_network("vgg16", 8)->params(), 138'357'544);
  EXPECT_NEAR(builtin_network("gpt2", 1)->params(), 124.44e6, 0.01e6);
  EXPECT_NEAR(builtin_network("bert-base", 1)->params(), 108.89e6, 0.1e6);
}

TEST(BuiltinNetworks, HaveThePublishedCensusOfLayers) {
  auto resnet = census(*builtin_network("resnet50", 1));
  EXPECT_EQ(resnet["Conv"], 53);
  EXPECT_EQ(resnet["BatchNormalization"], 53);
  EXPECT_EQ(resnet["Relu"], 49);
  EXPECT_EQ(resnet["Add"], 16);
  EXPECT_EQ(resnet["Linear"], 1);

  auto vgg = census(*builtin_network("vgg16", 1));
  EXPECT_EQ(vgg["Conv"], 13);
  EXPECT_EQ(vgg["MaxPool"], 5);
  EXPECT_EQ(vgg["Linear"], 3);
}

TEST(BuiltinNetworks, GrowWithTheBatchButTheirParametersDoNot) {
  for (const std::string_view name : builtin_network_names()) {
    const Network one = *builtin_network(name, 1);
    const Network eight = *builtin_network(name, 8);

    EXPECT_NEAR(eight.forward_macs() / one.forward_macs(), 8, 1e-9) << name;
    EXPECT_DOUBLE_EQ(eight.params(), one.params()) << name;
  }
}

TEST(BuiltinNetworks, RefuseUnknownNamesAndImpossibleBatches) {
  const auto unknown = builtin_network("resnet5", 1);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_NE(unknown.error().line().find("resnet50"), std::string::npos);
  EXPECT_FALSE(builtin_network("vgg16", 0));
  EXPECT_FALSE(builtin_network("vgg16", 1LL << 40));
}

// profile_layers() always computes the gradient of the input, also of a network's first layer.
TEST(Kernels, OfALayerAloneIncludeTheGradientOfItsInput) {
  Layer first = make_conv("c", {2, 8, 10, 10}, {2, 16, 10, 10}, 9, 1, false);
  const double later = flops(alone_kernels(first, true, Precision::kTf32));
  first.input_gradient = false;

  EXPECT_DOUBLE_EQ(flops(alone_kernels(first, true, Precision::kTf32)), later);
}

TEST(Kernels, OfAFrozenLayerLeaveOutWeightGradientAndUpdate) {
  Layer frozen = make_linear("l", {4, 8}, 16, true);
  frozen.weight_gradient = false;

  EXPECT_TRUE(
      kernels_of(frozen, Pass::kWeightGradient, Precision::kTf32, Optimizer::kAdam).empty());
  EXPECT_TRUE(kernels_of(frozen, Pass::kOptimizer, Precision::kTf32, Optimizer::kAdam).empty());
  EXPECT_FALSE(kernels_of(frozen, Pass::kDataGradient, Precision::kTf32, {}).empty());
}

TEST(Kernels, OfAConvolutionMoveEachOperandOnce) {
  const Layer conv = make_conv("c", {2, 8, 10, 10}, {2, 16, 10, 10}, 9, 1, false);

  const auto kernels = kernels_of(conv, Pass::kForward, Precision::kTf32, Optimizer::kAdam);

  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(kernels[0].flops, 2.0 * 2 * 16 * 100 * 8 * 9);
  EXPECT_DOUBLE_EQ(kernels[0].bytes, 4.0 * (2 * 8 * 100 + 8 * 16 * 9 + 2 * 16 * 100));
  EXPECT_GT(kernels[0].padded_flops, kernels[0].flops);
}

TEST(Kernels, OfGroupsDivideTheOperations) {
  const Shape shape = {1, 32, 8, 8};
  const Layer whole = make_conv("c", shape, shape, 9, 1, false);
  const Layer depthwise = make_conv("c", shape, shape, 9, 32, false);

  EXPECT_DOUBLE_EQ(whole.product->flops() / depthwise.product->flops(), 32);
  EXPECT_DOUBLE_EQ(depthwise.params, 32 * 9);
}

TEST(Kernels, AreNarrowerInBf16) {
  const Layer relu = make_relu("r", {4, 100});

  const auto wide = kernels_of(relu, Pass::kForward, Precision::kFp32, Optimizer::kAdam);
  const auto narrow = kernels_of(relu, Pass::kForward, Precision::kBf16, Optimizer::kAdam);

  EXPECT_DOUBLE_EQ(wide[0].bytes, 2 * narrow[0].bytes);
  EXPECT_DOUBLE_EQ(wide[0].flops, narrow[0].flops);
}

TEST(Kernels, OfTheFirstLayerHaveNoDataGradient) {
  const Network network = *builtin_network("vgg16", 1);

  EXPECT_TRUE(
      kernels_of(network.layers.front(), Pass::kDataGradient, Precision::kTf32, network.optimizer)
          .empty());
  EXPECT_FALSE(
      kernels_of(network.layers.front(), Pass::kWeightGradient, Precision::kTf32, network.optimizer)
          .empty());
}

TEST(Kernels, OfAProductOfActivationsHaveBothGradientsAsData) {
  const Layer product = make_matmul("m", {2, 4, 8}, {2, 4, 6}, 2, 4, 8, 6);

  const auto data = kernels_of(product, Pass::kDataGradient, Precision::kTf32, Optimizer::kAdam);

  EXPECT_EQ(data.size(), 2U);
  EXPECT_DOUBLE_EQ(flops(data), 2 * product.product->flops());
  EXPECT_TRUE(
      kernels_of(product, Pass::kWeightGradient, Precision::kTf32, Optimizer::kAdam).empty());
}

TEST(Kernels, OfTheOptimizerFollowTheParameters) {
  const Layer linear = make_linear("l", {4, 10}, 5, true);

  const auto sgd = kernels_of(linear, Pass::kOptimizer, Precision::kBf16, Optimizer::kSgdMomentum);
  const auto adam = kernels_of(linear, Pass::kOptimizer, Precision::kBf16, Optimizer::kAdam);

  EXPECT_DOUBLE_EQ(sgd[0].bytes, 20 * linear.params);
  EXPECT_DOUBLE_EQ(adam[0].bytes, 28 * linear.params);
  EXPECT_TRUE(kernels_of(make_relu("r", {4}), Pass::kOptimizer, Precision::kBf16, Optimizer::kAdam)
                  .empty());
}

TEST(Precision, IsReadAsItIsWritten) {
  EXPECT_EQ(*parse_precision("tf32"), Precision::kTf32);
  EXPECT_EQ(*parse_precision("fp16"), Precision::kBf16);
  EXPECT_EQ(parse_precision("int8").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
