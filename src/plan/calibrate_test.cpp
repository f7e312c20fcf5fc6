// SPDX-License-Identifier: Apache-2.0
#include "plan/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "plan/cost_table.h"

namespace hypermile {
namespace {

constexpr const char* kHeader =
    "model,batch,precision,layer,type,in_shape,out_shape,params,fwd_us,bwd_us\n";

Result<std::vector<LayerTime>> read(const std::string& rows) {
  std::istringstream in(kHeader + rows);
  return read_layer_times(in, "layers.csv");
}

TEST(LayerTimes, KeepTheSmallestTimeOfEachShape) {
  const auto times = read(
      "m,2,tf32,a,ReLU,2x8,2x8,0,5,9\n"
      "m,2,tf32,b,ReLU,2x8,2x8,0,4,10\n"
      "m,2,bf16,a,ReLU,2x8,2x8,0,3,3\n");

  ASSERT_TRUE(times) << times.error().line();
  ASSERT_EQ(times->size(), 2U);
  EXPECT_EQ((*times)[0].count, 2U);
  EXPECT_DOUBLE_EQ((*times)[0].forward_s, 4e-6);
  EXPECT_DOUBLE_EQ((*times)[0].backward_s, 9e-6);
}

TEST(LayerTimes, SkipRowsAtOtherSettings) {
  std::istringstream in(
      "model,batch,precision,layer,type,in_shape,out_shape,params,fwd_us,bwd_us,setting\n"
      "m,2,tf32,a,ReLU,2x8,2x8,0,5,9,default\n"
      "m,2,tf32,a,ReLU,2x8,2x8,0,3,4,sm=1200MHz\n"
      "m,2,tf32,b,ReLU,2x9,2x9,0,6,9,\n");

  const auto times = read_layer_times(in, "layers.csv");

  ASSERT_TRUE(times) << times.error().line();
  ASSERT_EQ(times->size(), 2U);
  EXPECT_DOUBLE_EQ((*times)[0].forward_s, 5e-6);
}

TEST(LayerTimes, ReadGroupsOfConvolutionsWhereTheFileHasThem) {
  std::istringstream in(
      "model,batch,precision,layer,type,in_shape,out_shape,params,fwd_us,bwd_us,groups\n"
      "m,2,tf32,c,Conv2d,2x8x4x4,2x16x4x4,592,5,9,2\n"
      "m,2,tf32,a,ReLU,2x8,2x8,0,5,9,\n");

  const auto times = read_layer_times(in, "layers.csv");

  ASSERT_TRUE(times) << times.error().line();
  EXPECT_DOUBLE_EQ((*times)[0].layer.product->taps, 9);
}

TEST(LayerTimes, LeaveOutOperatorsThatComputeWithACopyOfTheirWeights) {
  const auto times = read(
      "m,2,tf32,a,ReLU,2x8,2x8,0,5,9\n"
      "m,2,tf32,b:convolution,Conv2d,2x8x4x4,2x16x4x4,0,5,9\n");

  ASSERT_TRUE(times) << times.error().line();
  EXPECT_EQ(times->size(), 1U);
  EXPECT_FALSE(read("m,2,tf32,b:convolution,Conv2d,2x8x4x4,2x16x4x4,0,nan,9\n"));
}

TEST(LayerTimes, DeriveKernelAndBiasFromTheParameters) {
  const auto times = read("m,2,tf32,c,Conv2d,2x8x4x4,2x16x4x4,1168,5,9\n");

  ASSERT_TRUE(times) << times.error().line();
  EXPECT_TRUE((*times)[0].layer.bias);
  EXPECT_DOUBLE_EQ((*times)[0].layer.product->taps, 9);
}

TEST(LayerTimes, NameFileAndLineOfABrokenRow) {
  for (const char* row :
       {"m,2,tf32,a,ReLU,2x8,2x0,0,5,9\n", "m,2,int4,a,ReLU,2x8,2x8,0,5,9\n",
        "m,2,tf32,a,ReLU,2xx8,2x8,0,5,9\n", "m,2,tf32,a,ReLU,2x8,2x8,0,0,9\n",
        "m,2,tf32,a,Conv2d,2x8x4x4,2x16x4x4,7,5,9\n", "m,2,tf32,a,ReLU,2x8,2x8,0,5\n"}) {
    const auto times = read(row);

    ASSERT_FALSE(times) << row;
    EXPECT_NE(times.error().line().find("layers.csv:2"), std::string::npos) << times.error().line();
  }
  EXPECT_FALSE(read(""));
}

// Times computed from known constants, which the fit must find again.
std::vector<LayerTime> made_from(const GpuSheet& sheet, const Efficiency& truth) {
  std::string rows;
  for (const int width : {16, 64, 128, 256, 512}) {
    for (const int side : {7, 28, 112}) {
      const std::string shape =
          "64x" + std::to_string(width) + "x" + std::to_string(side) + "x" + std::to_string(side);
      const std::string params = std::to_string(width * width * 9);
      for (const char* precision : {"tf32", "bf16"}) {
        const std::string start = std::string("m,64,") + precision + ",l,";
        rows += start + "Conv2d," + shape + "," + shape + "," + params + ",1,1\n";
        rows += start + "ReLU," + shape + "," + shape + ",0,1,1\n";
        rows += start + "BatchNorm2d," + shape + "," + shape + ",0,1,1\n";
        rows += start + "AvgPool2d," + shape + "," + shape + ",0,1,1\n";
        rows += start + "Linear,64x" + std::to_string(width * side) + ",64x1024," +
                std::to_string(width * side * 1024) + ",1,1\n";
      }
    }
  }
  std::vector<LayerTime> times = *read(rows);
  const ClockRanges& clocks = sheet.constants.clocks;
  for (LayerTime& time : times) {
    const auto run = [&](const std::vector<Kernel>& kernels) {
      return stage_time(sheet.constants, kernels, truth, clocks.sm_boost, clocks.memory_default);
    };
    time.forward_s = run(time.forward_kernels());
    time.backward_s = run(time.backward_kernels());
  }
  return times;
}

TEST(Calibration, FindsTheConstantsThatMadeTheTimes) {
  const GpuSheet sheet = *load_gpu_sheet("h200");
  Efficiency truth;
  truth.values = {3e-6, 12e-6, 0.55, 0.35, 0.5, 0.4, 0.3, 0.4, 0.5, 0.45, 0.4, 0.35};
  const std::vector<LayerTime> times = made_from(sheet, truth);

  const Efficiency found = calibrate(sheet, times, {});

  EXPECT_LT(score_calibration(sheet, times, found).mean_error, 0.02);
  EXPECT_GT(score_calibration(sheet, times, {}).mean_error, 0.15);
  EXPECT_NEAR(found[Constant::kNormMemory], 0.55, 0.03);
  EXPECT_NEAR(found[Constant::kConvForward], 0.5, 0.04);
}

TEST(Calibration, LeavesWhatItDoesNotSeeAtTheDefault) {
  const GpuSheet sheet = *load_gpu_sheet("h200");
  const auto times = read("m,2,tf32,a,ReLU,64x512x56x56,64x512x56x56,0,190,580\n");

  const Efficiency found = calibrate(sheet, *times, {});

  EXPECT_DOUBLE_EQ(found[Constant::kConvForward], Efficiency()[Constant::kConvForward]);
  EXPECT_NE(found[Constant::kKernelTime], Efficiency()[Constant::kKernelTime]);
}

// Layers measured on an H200. These tests are skipped where the recordings are missing.
class H200Layers : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("HYPERMILE_H200_DATA");
    const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
    const std::filesystem::path path =
        folder != nullptr
            ? std::filesystem::path(folder)
            : std::filesystem::path(source != nullptr ? source : ".") / "../shared/data/h200";
    if (!std::filesystem::exists(path / "layers.csv")) {
      GTEST_SKIP() << "no recordings of an H200; set HYPERMILE_H200_DATA";
    }
    times_ = *read_layer_times((path / "layers.csv").string());
    sheet_ = *load_gpu_sheet("h200");
  }

  std::vector<LayerTime> only(const std::function<bool(const LayerTime&)>& wanted) const {
    std::vector<LayerTime> some;
    std::ranges::copy_if(times_, std::back_inserter(some), wanted);
    return some;
  }

  void expect_within_the_bar(const std::vector<LayerTime>& judged, const Efficiency& constants,
                             double each = 0.35, double all = 0.15) {
    for (const Precision precision : {Precision::kTf32, Precision::kBf16}) {
      std::vector<LayerTime> some;
      std::ranges::copy_if(judged, std::back_inserter(some),
                           [&](const LayerTime& t) { return t.precision == precision; });
      const CalibrationScore score = score_calibration(sheet_, some, constants);
      RecordProperty("mean_error", std::to_string(score.mean_error));
      EXPECT_LE(score.mean_error, each) << to_string(precision);
      EXPECT_LE(std::abs(score.total_error), all) << to_string(precision);
    }
  }

  std::vector<LayerTime> times_;
  GpuSheet sheet_;
};

bool is_norm(const LayerTime& time) {
  return time.layer.op == OpClass::kNorm;
}

TEST_F(H200Layers, OfOneNetworkPredictThoseOfTheOther) {
  for (const char* judged : {"resnet50", "vgg16"}) {
    const auto learnt = only([&](const LayerTime& t) { return t.model != judged; });
    const Efficiency constants = calibrate(sheet_, learnt, {});

    SCOPED_TRACE(judged);
    expect_within_the_bar(
        only([&](const LayerTime& t) { return t.model == judged && !is_norm(t); }), constants);
  }
}

// A recording with CUDA graphs (benchmarks/h200/record_layers.py), which the repository holds.
class H200LayersOfGraphs : public H200Layers {
 protected:
  void SetUp() override {
    const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
    const std::filesystem::path root(source != nullptr ? source : ".");
    times_ = *read_layer_times((root / "benchmarks/h200/layers_graphs.csv").string());
    sheet_ = *load_gpu_sheet("h200");
  }
};

TEST_F(H200LayersOfGraphs, OfOneNetworkPredictThoseOfTheOther) {
  for (const char* judged : {"resnet50", "vgg16"}) {
    const auto learnt = only([&](const LayerTime& t) { return t.model != judged; });
    const Efficiency constants = calibrate(sheet_, learnt, {});

    SCOPED_TRACE(judged);
    expect_within_the_bar(
        only([&](const LayerTime& t) { return t.model == judged && !is_norm(t); }), constants, 0.2,
        0.1);
  }
}

TEST_F(H200Layers, OfBatchNormPredictTheShapeLeftOut) {
  const auto norms = only(is_norm);
  std::vector<LayerTime> judged;
  double errors[2] = {}, predicted[2] = {}, measured[2] = {};
  std::size_t count[2] = {};
  std::set<std::string> shapes;
  for (const LayerTime& time : norms) shapes.insert(to_string(time.layer.in));
  for (const std::string& shape : shapes) {
    const auto left_out = [&](const LayerTime& t) {
      return is_norm(t) && to_string(t.layer.in) == shape;
    };
    const Efficiency constants =
        calibrate(sheet_, only([&](const LayerTime& t) { return !left_out(t); }), {});
    for (const LayerTime& time : only(left_out)) {
      const CalibrationScore score = score_calibration(sheet_, {&time, 1}, constants);
      const std::size_t i = time.precision == Precision::kBf16 ? 1 : 0;
      const double both = static_cast<double>(time.count) * (time.forward_s + time.backward_s);
      errors[i] += score.mean_error;
      predicted[i] += both * (1 + score.total_error);
      measured[i] += both;
      ++count[i];
    }
  }

  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LE(errors[i] / static_cast<double>(count[i]), 0.35);
    EXPECT_LE(std::abs(predicted[i] / measured[i] - 1), 0.15);
  }
}

}  // namespace
}  // namespace hypermile
