// SPDX-License-Identifier: Apache-2.0
#include "plan/stages.h"

#include <gtest/gtest.h>

#include "plan/builtin_networks.h"
#include "plan/layer_makers.h"

namespace hypermile {
namespace {

double total_flops(const std::vector<PlanStage>& stages) {
  double sum = 0;
  for (const PlanStage& stage : stages) sum += stage.flops;
  return sum;
}

double dram_bytes(const std::vector<PlanStage>& stages) {
  double sum = 0;
  for (const PlanStage& stage : stages) {
    for (const Kernel& kernel : stage.kernels) sum += kernel.bytes;
  }
  return sum;
}

Network conv_relu() {
  Network network;
  network.layers.push_back(make_conv("conv", {1, 64, 8, 8}, {1, 64, 8, 8}, 9, 1, true));
  network.layers.push_back(make_relu("relu", {1, 64, 8, 8}));
  return network;
}

TEST(Stages, OfTrainingAreForwardBackwardAndOptimizer) {
  const auto stages = make_stages(*builtin_network("resnet50", 2), {});

  EXPECT_EQ(stages.front().name, "conv1");
  EXPECT_EQ(stages.back().phase, PlanPhase::kOptimizer);
  EXPECT_TRUE(
      std::is_sorted(stages.begin(), stages.end(),
                     [](const PlanStage& a, const PlanStage& b) { return a.phase < b.phase; }));
}

TEST(Stages, OfTrainingDoAboutThreeTimesTheForwardOperations) {
  const Network network = *builtin_network("vgg16", 16);

  const double forward = total_flops(make_stages(network, {.scope = Scope::kForward}));
  const double train = total_flops(make_stages(network, {.scope = Scope::kTrain}));

  EXPECT_NEAR(train / forward, 3, 0.05);
}

TEST(Stages, OfBackwardAndForwardAddUpToTraining) {
  const Network network = *builtin_network("gpt2", 1);

  const auto forward = make_stages(network, {.scope = Scope::kForward});
  const auto backward = make_stages(network, {.scope = Scope::kBackward});
  const auto train = make_stages(network, {.scope = Scope::kTrain});

  EXPECT_EQ(forward.size() + backward.size(), train.size());
  EXPECT_DOUBLE_EQ(total_flops(forward) + total_flops(backward), total_flops(train));
}

TEST(Stages, RunFrameworkKernelsButReportNoTrafficForThem) {
  const auto stages = make_stages(conv_relu(), {.scope = Scope::kForward});

  ASSERT_EQ(stages[0].kernels.size(), 2U);  // the bias has a kernel of its own
  EXPECT_DOUBLE_EQ(stages[0].bytes, 4.0 * (2 * 64 * 64 + 64 * 64 * 9));
  EXPECT_DOUBLE_EQ(stages[0].flops, 2.0 * 64 * 64 * 64 * 9);
}

TEST(Stages, FuseElementwiseLayersIntoTheOneBefore) {
  const Network network = conv_relu();
  const double tensor = 4.0 * 64 * 64;

  const auto apart = make_stages(network, {.scope = Scope::kForward});
  const auto fused = make_stages(network, {.scope = Scope::kForward, .fuse = true});

  ASSERT_EQ(fused.size(), 1U);
  EXPECT_EQ(fused[0].name, "conv+relu");
  EXPECT_EQ(fused[0].kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(total_flops(fused), total_flops(apart));
  // Fusing saves writing and reading the bias's tensor and the tensor between the layers.
  EXPECT_DOUBLE_EQ(dram_bytes(apart) - dram_bytes(fused), 4 * tensor);
}

TEST(Stages, TakeSmallTensorsFromTheL2) {
  const Network network = conv_relu();
  const double tensor = 4.0 * 64 * 64;

  const auto cold = make_stages(network, {.scope = Scope::kForward});
  const auto warm = make_stages(network, {.scope = Scope::kForward, .l2_bytes = 2 * tensor});
  const auto small = make_stages(network, {.scope = Scope::kForward, .l2_bytes = 1.9 * tensor});

  EXPECT_DOUBLE_EQ(dram_bytes(cold) - dram_bytes(warm), tensor);
  EXPECT_DOUBLE_EQ(dram_bytes(cold), dram_bytes(small));
  EXPECT_DOUBLE_EQ(cold[1].bytes, warm[1].bytes);  // the report shows the traffic of the algorithm
}

TEST(Scope, IsReadAsItIsWritten) {
  EXPECT_EQ(*parse_scope("backward"), Scope::kBackward);
  EXPECT_EQ(parse_scope("inference").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
