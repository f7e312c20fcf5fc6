// SPDX-License-Identifier: Apache-2.0
#include "plan/strategies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "plan/builtin_networks.h"

namespace hypermile {
namespace {

// A network on a card, prepared for any strategy.
class Bench {
 public:
  Bench(const char* network, const char* gpu, Scope scope, double max_slowdown, double latency_s)
      : sheet_(*load_gpu_sheet(gpu)), max_slowdown_(max_slowdown) {
    stages_ =
        make_stages(*builtin_network(network, 32), {.precision = Precision::kFp32, .scope = scope});
    table_ = make_cost_table(sheet_, stages_, {});
    set_latency(latency_s);
  }

  void set_latency(double latency_s) {
    problem_ = make_problem(sheet_, table_, max_slowdown_, {.latency = Seconds(latency_s)});
  }

  StrategyResult run(std::string_view name) const {
    return run_strategy(name, {sheet_, stages_, Precision::kFp32, table_, problem_, max_slowdown_});
  }
  const CostTable& table() const { return table_; }
  const std::vector<PlanStage>& stages() const { return stages_; }
  double iteration_s() const { return table_.uniform(0).time_s; }

 private:
  GpuSheet sheet_;
  double max_slowdown_;
  std::vector<PlanStage> stages_;
  CostTable table_;
  PlanProblem problem_;
};

TEST(Strategies, ThatKeepTheDefaultSaveNothing) {
  const StrategyResult result = Bench("resnet50", "a4000", Scope::kTrain, 0.05, 0).run("default");

  EXPECT_DOUBLE_EQ(result.saved, 0);
  EXPECT_DOUBLE_EQ(result.slowdown, 0);
  EXPECT_EQ(result.totals.switches, 0U);
}

TEST(Strategies, ThatKnowTheBoundKeepIt) {
  for (const double latency : {0.0, 0.002, 0.02}) {
    const Bench bench("resnet50", "a4000", Scope::kTrain, 0.05, latency);
    for (const char* name : {"uniform", "phase", "switch-aware"}) {
      EXPECT_LE(bench.run(name).slowdown, 0.05 + 1e-9) << name << " " << latency;
    }
  }
}

TEST(Strategies, SaveMoreTheFinerTheyMaySwitch) {
  for (const double latency : {0.0, 0.005, 0.05}) {
    const Bench bench("resnet50", "a4000", Scope::kTrain, 0.05, latency);
    const double uniform = bench.run("uniform").saved;
    const double phase = bench.run("phase").saved;
    const double aware = bench.run("switch-aware").saved;

    EXPECT_GE(phase, uniform - 1e-12) << latency;
    EXPECT_GE(aware, phase - 1e-12) << latency;
  }
}

TEST(Strategies, ByExhaustiveSearchHaveTheLeastEnergyWithFreeSwitching) {
  const Bench bench("vgg16", "rtx2000ada", Scope::kForward, 0.05, 0);

  const double least = bench.run("exhaustive").totals.energy_j;

  for (const std::string_view name : strategy_names()) {
    EXPECT_LE(least, bench.run(name).totals.energy_j * (1 + 1e-12)) << name;
  }
}

TEST(Strategies, ByBoundedSearchKeepTheBoundOfEachLayer) {
  const Bench bench("vgg16", "a4000", Scope::kTrain, 0.05, 0);

  const StrategyResult result = bench.run("exhaustive-bounded");

  for (std::size_t i = 0; i < result.wanted.size(); ++i) {
    EXPECT_LE(bench.table().at(i, result.wanted[i]).time_s,
              1.05 * bench.table().at(i, 0).time_s * (1 + 1e-12));
  }
}

TEST(Strategies, ByIntensityLowerTheClockThatDoesNotBind) {
  const Bench bench("resnet50", "a4000", Scope::kForward, 0.05, 0);

  const StrategyResult result = bench.run("intensity");

  const Choice& normal = bench.table().choices.front();
  for (std::size_t i = 0; i < result.wanted.size(); ++i) {
    const Choice& choice = bench.table().choices[result.wanted[i]];
    if (bench.stages()[i].type == "Relu") {
      EXPECT_LT(choice.sm, normal.sm);
      EXPECT_EQ(choice.memory, normal.memory);
    }
    EXPECT_TRUE(choice.memory == normal.memory || !choice.setting.sm_clock);
  }
  EXPECT_GT(result.saved, 0);
}

TEST(Strategies, OfThePlannerEndInUniformWhereSwitchesAreTooSlow) {
  Bench bench("resnet50", "a4000", Scope::kTrain, 0.05, 0);
  bench.set_latency(10 * bench.iteration_s());

  EXPECT_EQ(bench.run("switch-aware").wanted, bench.run("uniform").wanted);
  EXPECT_EQ(bench.run("switch-aware").totals.switches, 0U);
}

TEST(Strategies, OfThePlannerHardlyEverSaveMoreWhereSwitchesAreSlower) {
  Bench bench("resnet50", "a4000", Scope::kTrain, 0.05, 0);
  double before = 1;
  for (const double share : {0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8}) {
    bench.set_latency(share * bench.iteration_s());

    const double saved = bench.run("switch-aware").saved;

    EXPECT_LE(saved, before + 0.001) << share;
    before = std::min(before, saved);
  }
}

TEST(Strategies, OfSingleLayersLoseWhatTheyPromiseWhereSwitchesAreSlow) {
  Bench bench("resnet50", "a4000", Scope::kTrain, 0.05, 0);
  const double promised = bench.run("exhaustive-bounded").saved;
  bench.set_latency(0.02);

  const StrategyResult executed = bench.run("exhaustive-bounded");

  EXPECT_LT(executed.saved, promised);
  EXPECT_LT(executed.totals.switches, 12U);
}

}  // namespace
}  // namespace hypermile
