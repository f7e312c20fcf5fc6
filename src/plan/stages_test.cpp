// SPDX-License-Identifier: Apache-2.0
#include "plan/stages.h"

#include <gtest/gtest.h>

#include <algorithm>

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

std::size_t count(const std::vector<PlanStage>& stages, PlanPhase phase) {
  return static_cast<std::size_t>(std::ranges::count(stages, phase, &PlanStage::phase));
}

TEST(Stages, RepeatBothPassesForEachMicroBatchBeforeOneUpdate) {
  const Network network = conv_relu();
  const auto once = make_stages(network, {});

  const auto stages = make_stages(network, {.micro_batches = 3});

  EXPECT_EQ(count(stages, PlanPhase::kForward), 3 * count(once, PlanPhase::kForward));
  EXPECT_EQ(count(stages, PlanPhase::kBackward), 3 * count(once, PlanPhase::kBackward));
  EXPECT_EQ(count(stages, PlanPhase::kOptimizer), 1U);
  EXPECT_EQ(stages[2].phase, PlanPhase::kBackward);
  EXPECT_EQ(stages.back().phase, PlanPhase::kOptimizer);
}

TEST(Stages, RunCheckpointedPartsAgainBeforeTheirBackwardPass) {
  const Network network = *builtin_network("vgg16", 2);
  const auto plain = make_stages(network, {});

  const auto stages = make_stages(network, {.checkpoints = 4});

  const auto again = count(stages, PlanPhase::kRecompute);
  const auto forward = count(stages, PlanPhase::kForward);
  EXPECT_EQ(forward, count(plain, PlanPhase::kForward));
  // The last part's activations are still there.
  EXPECT_GT(again, forward / 2);
  EXPECT_LT(again, forward);
  EXPECT_GT(total_flops(stages), 1.2 * total_flops(plain));
  EXPECT_LT(total_flops(stages), 1.34 * total_flops(plain));
  const auto first = std::ranges::find(stages, PlanPhase::kRecompute, &PlanStage::phase);
  ASSERT_NE(first, stages.end());
  EXPECT_EQ((first - 1)->phase, PlanPhase::kBackward);
}

TEST(Stages, ExchangeGradientsBetweenGpusOnceForAllMicroBatches) {
  const Network network = *builtin_network("vgg16", 2);

  const auto stages =
      make_stages(network, {.micro_batches = 2, .gpus = 4, .link_bytes_per_s = 25e9});

  ASSERT_EQ(count(stages, PlanPhase::kCommunication), 1U);
  const PlanStage& exchange = stages[stages.size() - 2];
  EXPECT_EQ(exchange.phase, PlanPhase::kCommunication);
  const double gradients = 4 * network.params();
  EXPECT_NEAR(exchange.kernels.front().wait_s, 2 * 0.75 * gradients / 25e9, 1e-12);
  EXPECT_EQ(count(make_stages(network, {.gpus = 1}), PlanPhase::kCommunication), 0U);
}

TEST(Scope, IsReadAsItIsWritten) {
  EXPECT_EQ(*parse_scope("backward"), Scope::kBackward);
  EXPECT_EQ(parse_scope("inference").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
