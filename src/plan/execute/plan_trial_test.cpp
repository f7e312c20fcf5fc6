// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/plan_trial.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"

namespace hypermile {
namespace {

struct Cost {
  double time_s = 0.1;
  double power_w = 300;
};

// Runs iterations with each arm's cost, noise and drift until the trial is over.
PlanVerdict run_trial(PlanTrialOptions options, const std::function<Cost(PlanArm)>& cost,
                      double noise = 0.005, double drift_per_s = 0) {
  PlanTrial trial(options);
  Random random(7);
  Instant now;
  double energy = 0;
  for (int i = 0; i < 100'000 && !trial.over(); ++i) {
    trial.iteration(now);
    const Cost its = cost(trial.arm());
    const double drift = 1 + drift_per_s * now.since_origin().value();
    const double power = its.power_w * drift * (1 + noise * random.gaussian());
    for (int step = 0; step < 10; ++step) {
      now = now + Seconds(its.time_s / 10);
      energy += power * its.time_s / 10;
      Sample sample;
      sample.time = now;
      sample.energy = Joules(energy);
      sample.power_instant = Watts(power);
      trial.add(sample);
    }
  }
  EXPECT_TRUE(trial.over());
  return trial.verdict().value_or(PlanVerdict{});
}

TEST(PlanTrial, KeepsAPlanThatPays) {
  const auto verdict = run_trial({}, [](PlanArm arm) {
    return arm == PlanArm::kPlan      ? Cost{0.102, 240}
           : arm == PlanArm::kUniform ? Cost{0.101, 270}
                                      : Cost{};
  });

  EXPECT_EQ(verdict.kept, PlanArm::kPlan);
  EXPECT_NEAR(verdict.plan_energy.mean, 0.102 * 240 / 30, 0.005);
  EXPECT_NEAR(verdict.plan_time.mean, 1.02, 0.002);
  EXPECT_NEAR(verdict.energy_j[0], 30, 0.3);
  EXPECT_NE(verdict.reason.find("plan is kept"), std::string::npos) << verdict.reason;
}

TEST(PlanTrial, DropsAPlanThatOnlyEqualsTheBestSingleSetting) {
  const auto verdict = run_trial({}, [](PlanArm arm) {
    return arm == PlanArm::kDefault ? Cost{} : Cost{0.101, 260};
  });

  EXPECT_EQ(verdict.kept, PlanArm::kUniform);
}

TEST(PlanTrial, DropsAPlanThatIsTooSlow) {
  const auto verdict = run_trial({}, [](PlanArm arm) {
    return arm == PlanArm::kDefault ? Cost{} : Cost{0.110, 200};
  });

  EXPECT_EQ(verdict.kept, PlanArm::kDefault);
}

TEST(PlanTrial, NoiseIsNoSaving) {
  const auto verdict = run_trial(
      {}, [](PlanArm) { return Cost{}; }, 0.05);

  EXPECT_EQ(verdict.kept, PlanArm::kDefault);
}

TEST(PlanTrial, DriftDoesNotFavourLaterArms) {
  const auto verdict = run_trial(
      {}, [](PlanArm) { return Cost{}; }, 0.002, -0.001);

  EXPECT_EQ(verdict.kept, PlanArm::kDefault);
  EXPECT_NEAR(verdict.plan_energy.mean, 1, 0.01);
}

TEST(PlanTrial, WithoutSensorsTheDefaultIsKept) {
  PlanTrial trial({});
  for (int i = 0; i < 10'000 && !trial.over(); ++i) trial.iteration(Instant() + Seconds(0.1 * i));

  ASSERT_TRUE(trial.over());
  EXPECT_EQ(trial.arm(), PlanArm::kDefault);
  EXPECT_NE(trial.verdict()->reason.find("neither energy nor power"), std::string::npos);
}

TEST(PlanTrial, BeginsAfterTheGivenNumberOfIterations) {
  PlanTrialOptions options;
  options.after_iterations = 50;
  PlanTrial trial(options);

  for (int i = 0; i < 50; ++i) {
    trial.iteration(Instant() + Seconds(0.1 * i));
    EXPECT_EQ(trial.arm(), PlanArm::kDefault);
    EXPECT_FALSE(trial.measuring());
  }

  EXPECT_EQ(trial.all_blocks(), 18U);
}

// The iterations that the plan runs before the trial is over.
std::size_t plan_iterations(const Cost& plan) {
  PlanTrialOptions options;
  options.settle = Seconds(0.2);
  std::size_t count = 0;
  run_trial(options, [&](PlanArm arm) {
    if (arm != PlanArm::kPlan) return Cost{};
    ++count;
    return plan;
  });
  return count;
}

TEST(PlanTrial, DropsWithinTwentyStepsAPlanThatIsTooSlow) {
  EXPECT_LE(plan_iterations({0.115, 200}), 20U);
}

TEST(PlanTrial, DropsWithinTwentyStepsAPlanThatCostsEnergy) {
  EXPECT_LE(plan_iterations({0.101, 330}), 20U);
}

TEST(PlanTrial, GivesAPlanThatMayPayTheWholeTrial) {
  EXPECT_GT(plan_iterations({0.103, 280}), 200U);
}

TEST(PlanTrial, SaysWhyItDroppedAPlanEarly) {
  const auto verdict = run_trial({}, [](PlanArm arm) {
    return arm == PlanArm::kPlan ? Cost{0.12, 300} : Cost{};
  });

  EXPECT_EQ(verdict.kept, PlanArm::kDefault);
  EXPECT_NE(verdict.reason.find("iterations of the plan took +20"), std::string::npos)
      << verdict.reason;
  EXPECT_NEAR(verdict.plan_time.mean, 1.2, 0.01);
}

}  // namespace
}  // namespace hypermile
