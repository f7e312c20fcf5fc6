// SPDX-License-Identifier: Apache-2.0
//
// Measured layers in a plan: what they decide, what stays modelled, what is claimed, and which
// files are refused. The measurements are those of a simulated card whose kernels reach other
// shares of the peak rates than the planner assumes.
#include "plan/measured_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "plan/builtin_networks.h"
#include "plan/plan_report.h"
#include "plan/simulated_profile.h"

namespace hypermile {
namespace {

const GpuSheet& a4000() {
  static const GpuSheet sheet = *load_gpu_sheet("a4000");
  return sheet;
}

// Twelve constants that differ from the assumed ones by up to a factor of two.
Efficiency other_kernels() {
  Efficiency truth;
  const double factors[] = {1, 1, 0.6, 1, 1, 0.7, 1.2, 0.6, 1.4, 1.1, 1, 1};
  for (std::size_t i = 0; i < kEfficiencyConstants; ++i) truth.values[i] *= factors[i];
  return truth;
}

struct Profile {
  std::vector<const char*> settings;
  double noise = 0;  // relative
};

std::string profile(const Network& network, const Efficiency& truth, const Profile& how) {
  SimulatedProfile terms;
  terms.kernels = truth;
  terms.noise = how.noise;
  terms.seed = 3;
  for (const char* setting : how.settings) terms.settings.push_back(*parse_setting(setting));
  return simulated_profile(network, a4000(), terms);
}

// The file with every standard error as this share of its value.
MeasuredLayers with_errors(MeasuredLayers measured, double error) {
  for (auto& [key, layers] : measured.layers) {
    for (MeasuredLayer& layer : layers) {
      for (MeasuredPass* pass : {&layer.forward, &layer.backward}) {
        pass->time_s.error = error * pass->time_s.value;
        pass->energy_j->error = error * pass->energy_j->value;
      }
    }
  }
  return measured;
}

MeasuredLayers read(const std::string& csv) {
  std::istringstream in(csv);
  auto measured = read_measured_layers(in, "layers.csv", Precision::kTf32);
  EXPECT_TRUE(measured) << measured.error().line();
  return *measured;
}

const std::vector<const char*> kGrid = {"default",
                                        "sm=1500MHz",
                                        "sm=1305MHz",
                                        "sm=1095MHz",
                                        "sm=900MHz",
                                        "mem=5001MHz",
                                        "sm=1500MHz mem=5001MHz",
                                        "sm=1095MHz mem=5001MHz"};

PlanOptions training() {
  PlanOptions options;
  options.switching.latency = Seconds(0);
  options.break_even = false;
  return options;
}

// What a plan really saves and costs on the card with these kernels.
StrategyResult truth_of(const PlanReport& report, const StrategyReport& strategy,
                        const Efficiency& kernels) {
  const CostTable table = make_cost_table(a4000(), report.stages, kernels);
  // Choices are the same but for the clock of the power limit, which the kernels decide.
  Assignment wanted;
  for (const std::uint32_t choice : strategy.result.wanted) {
    const Setting& setting = report.table.choices[choice].setting;
    std::uint32_t c = 0;
    while (c + 1 < table.choices.size() && table.choices[c].setting != setting) ++c;
    wanted.push_back(c);
  }
  PlanProblem problem = make_problem(a4000(), table, 0.05, {.latency = Seconds(0)});
  StrategyResult result;
  result.wanted = wanted;
  judge(result, problem);
  return result;
}

TEST(MeasuredPlan, DecidesBetterThanTheModelOnACardThatTheModelDoesNotKnow) {
  const Network network = *builtin_network("resnet50", 32);
  PlanOptions options = training();
  const PlanReport modelled = *make_plan_report(network, a4000(), options);
  options.measured = read(profile(network, other_kernels(), {kGrid, 0.005}));

  const auto measured = make_plan_report(network, a4000(), options);

  ASSERT_TRUE(measured) << measured.error().line();
  EXPECT_NE(measured->strategies.back().result.wanted, modelled.strategies.back().result.wanted);
  const StrategyResult with_model = truth_of(modelled, modelled.strategies.back(), other_kernels());
  const StrategyResult with_measured =
      truth_of(*measured, measured->strategies.back(), other_kernels());
  EXPECT_LE(with_measured.slowdown, 0.05);
  EXPECT_GT(with_measured.saved, with_model.slowdown > 0.05 ? 0 : with_model.saved);
  // The measured plan also knows what it saves.
  const StrategyReport& plan = measured->strategies.back();
  EXPECT_NEAR(plan.result.saved, with_measured.saved, 0.015);
  EXPECT_EQ(measured->kept, "switch-aware");
}

TEST(MeasuredPlan, SaysOfEveryCostWhereItComesFrom) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  options.measured = read(profile(network, other_kernels(), {{"default", "sm=900MHz"}}));

  const PlanReport report = *make_plan_report(network, a4000(), options);

  const MeasuredTable& measured = *report.measured;
  EXPECT_GT(measured.covered_time, 0.85);
  EXPECT_EQ(measured.cell(0, 0).energy, CellOrigin::kMeasured);
  std::size_t counts[3] = {};
  for (std::size_t c = 0; c < report.table.choices.size(); ++c) {
    const Choice& choice = report.table.choices[c];
    const CellOrigin origin = measured.cell(0, c).energy;
    ++counts[static_cast<std::size_t>(origin)];
    if (choice.memory == Mhz(7001) && choice.sm > Mhz(900) && c > 0) {
      EXPECT_EQ(origin, CellOrigin::kInterpolated);
    }
    if (choice.memory != Mhz(7001)) {
      EXPECT_EQ(origin, CellOrigin::kModelled);
    }
  }
  EXPECT_EQ(counts[0], 2U);
  // The optimizer is not a layer and was not measured.
  EXPECT_EQ(measured.cell(report.stages.size() - 1, 0).time, CellOrigin::kModelled);
}

TEST(MeasuredPlan, EqualsTheModelWhereMeasurementsAgreeWithIt) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  const PlanReport modelled = *make_plan_report(network, a4000(), options);
  options.measured = read(profile(network, {}, {kGrid}));

  const PlanReport report = *make_plan_report(network, a4000(), options);

  // The alone profile runs at its own power-limited clock, so the default differs a little.
  EXPECT_NEAR(report.measured->time_ratio, 1, 0.015);
  EXPECT_NEAR(report.strategies.back().result.saved, modelled.strategies.back().result.saved, 0.03);
}

TEST(MeasuredPlan, ClaimsNoSavingBelowItsError) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  options.max_slowdown = 0.02;
  options.scope = Scope::kForward;  // every stage is measured
  options.measured = with_errors(read(profile(network, {}, {kGrid})), 1.0);

  const PlanReport report = *make_plan_report(network, a4000(), options);

  EXPECT_EQ(report.kept, "default");
  EXPECT_EQ(report.segments.size(), 1U);
  EXPECT_TRUE(report.segments.front().choice.setting.empty());
  for (const StrategyReport& strategy : report.strategies) {
    EXPECT_EQ(strategy.claimed, strategy.result.saved > strategy.error.saved);
  }
}

TEST(MeasuredPlan, ErrorsOfCommonSourceDoNotAverageOut) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  options.measured = with_errors(read(profile(network, {}, {kGrid})), 0.02);
  const PlanReport report = *make_plan_report(network, a4000(), options);
  const Assignment normal(report.stages.size(), 0);
  std::uint32_t c = 1;
  while (report.measured->cell(0, c).energy != CellOrigin::kMeasured) ++c;

  const PlanError same = error_between(*report.measured, normal, normal);
  const PlanError changed =
      error_between(*report.measured, Assignment(report.stages.size(), c), normal);

  EXPECT_EQ(same.saved, 0);
  EXPECT_GT(changed.saved, 0.005);
  EXPECT_LT(changed.saved, 1.96 * 0.02 * 2);
}

TEST(MeasuredPlan, WithoutAnEnergyCounterTakesPowerFromTheModel) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  options.measured = read(profile(network, other_kernels(), {kGrid}));
  for (auto& [key, layers] : options.measured->layers) {
    for (MeasuredLayer& layer : layers) layer.forward.energy_j = layer.backward.energy_j = {};
  }

  const PlanReport report = *make_plan_report(network, a4000(), options);

  EXPECT_EQ(report.measured->cell(0, 0).time, CellOrigin::kMeasured);
  EXPECT_EQ(report.measured->cell(0, 0).energy, CellOrigin::kModelled);
}

TEST(MeasuredPlan, RefusesAnotherCardOrNetworkInOneLine) {
  const Network network = *builtin_network("vgg16", 8);
  PlanOptions options = training();
  options.measured = read(profile(network, {}, {{"default"}}));
  options.measured->gpu = "NVIDIA H200";
  const auto other_card = make_plan_report(network, a4000(), options);
  options.measured = read(profile(network, {}, {{"default"}}));
  const auto other_network = make_plan_report(*builtin_network("bert-base", 8), a4000(), options);
  const auto other_batch = make_plan_report(*builtin_network("vgg16", 16), a4000(), options);

  ASSERT_FALSE(other_card);
  EXPECT_NE(other_card.error().line().find("was measured on NVIDIA H200"), std::string::npos);
  ASSERT_FALSE(other_network);
  EXPECT_NE(other_network.error().line().find("no layer of this network"), std::string::npos);
  EXPECT_FALSE(other_batch);
}

// VGG16 has a few of ResNet50's shapes, which say little about it.
TEST(MeasuredPlan, RefusesAnotherNetworkThatSharesSomeShapes) {
  const Network resnet50 = *builtin_network("resnet50", 8);
  PlanOptions options = training();
  options.measured = read(profile(resnet50, {}, {{"default"}}));
  const auto other = make_plan_report(*builtin_network("vgg16", 8), a4000(), options);

  ASSERT_FALSE(other);
  EXPECT_NE(other.error().line().find("was measured on resnet50"), std::string::npos);
  EXPECT_EQ(other.error().line().find('\n'), std::string::npos);
}

// The file is the network's own, so what it has decides, however little.
TEST(MeasuredPlan, TakesAFileWithMissingLayers) {
  const Network resnet50 = *builtin_network("resnet50", 8);
  PlanOptions options = training();
  const std::string whole = profile(resnet50, {}, {{"default"}});
  options.measured = read(whole.substr(0, whole.find('\n', whole.find('\n') + 1) + 1));
  const auto report = make_plan_report(resnet50, a4000(), options);

  ASSERT_TRUE(report) << report.error().line();
  EXPECT_LT(report->measured->covered_time, 0.1);
}

TEST(MeasuredFile, RefusesBadRowsWithFileAndLine) {
  const std::string header =
      "precision,type,in_shape,out_shape,params,setting,fwd_us,bwd_us,fwd_j,drift\n";
  const std::string good = "tf32,Linear,8x4,8x4,16,default,10,20,0.1,1\n";
  const char* bad[] = {"tf32,Linear,8x4,8x4,16,default,nan,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,inf,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,-1,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,0,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,1e308,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,1e-300,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,20,1e200,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,20,nan,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,20,0,1\n",
                       "tf32,Linear,8x,8x4,16,default,10,20,0.1,1\n",
                       "tf32,Linear,8x0,8x4,16,default,10,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,fast,10,20,0.1,1\n",
                       "int3,Linear,8x4,8x4,16,default,10,20,0.1,1\n",
                       "tf32,Linear,8x4,8x4,16,default,10,20,0.1,7\n",
                       "tf32,Linear,8x4,8x4,16,default,10\n"};
  for (const char* row : bad) {
    std::istringstream in(header + good + row);
    const auto measured = read_measured_layers(in, "layers.csv", Precision::kTf32);

    ASSERT_FALSE(measured) << row;
    const std::string line = measured.error().line();
    EXPECT_NE(line.find("layers.csv"), std::string::npos) << line;
    EXPECT_NE(line.find('3'), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
  std::istringstream in(header + good + good);
  const auto measured = read_measured_layers(in, "layers.csv", Precision::kTf32);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->layers.size(), 1U);
  std::istringstream other(header + good);
  const auto wrong = read_measured_layers(other, "layers.csv", Precision::kBf16);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().line().find("in tf32, not in bf16"), std::string::npos);
}

TEST(MeasuredFile, AveragesEqualRowsAndDividesByTheDrift) {
  std::istringstream in(
      "precision,type,in_shape,out_shape,params,setting,fwd_us,bwd_us,fwd_us_error,drift\n"
      "tf32,Linear,8x4,8x4,16,default,10,20,1,1\n"
      "tf32,Linear,8x4,8x4,16,default,24,20,2,1.2\n");

  const auto measured = read_measured_layers(in, "layers.csv", Precision::kTf32);

  ASSERT_TRUE(measured);
  const MeasuredLayer& layer = measured->layers.begin()->second.front();
  EXPECT_NEAR(layer.forward.time_s.value, 15e-6, 1e-12);
  EXPECT_NEAR(layer.forward.time_s.error, 0.5e-6 * std::hypot(1, 2 / 1.2), 1e-12);
  EXPECT_FALSE(layer.forward.energy_j);
}

}  // namespace
}  // namespace hypermile
