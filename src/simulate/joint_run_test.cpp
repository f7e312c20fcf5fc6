// SPDX-License-Identifier: Apache-2.0
#include "simulate/joint_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "simulate/simulated_job_for_test.h"

namespace hypermile {
namespace {

JointJob joint_job(std::size_t gpus, double imbalance, std::uint64_t seed = 1) {
  JointJob job;
  job.job = job_for_test(3000, Effects{});
  job.job.knobs = {Knob::kSmClock};
  job.job.seed = seed;
  job.gpus = gpus;
  job.imbalance = imbalance;
  return job;
}

JointOutcome play(JointJob job, const char* policy) {
  if (std::string(policy) == "default") job.slack = false;
  auto outcome = play_joint(job, policy);
  EXPECT_TRUE(outcome.ok()) << outcome.error().line();
  return *outcome;
}

TEST(JointRun, OneDecisionForAllSavesEnergyWithinTheBound) {
  const JointJob job = joint_job(2, 0);
  const JointOutcome base = play(job, "default");

  const JointOutcome run = play(job, "hypermile");

  const JointChange whole = change(run.job, base.job);
  EXPECT_GT(whole.saved, 0.05);
  EXPECT_LE(whole.slowdown, 0.05);
  EXPECT_LE(run.unusable, run.windows / 10);
}

TEST(JointRun, RanksThatWaitAreToldLess) {
  JointJob job = joint_job(4, 0.15);
  const JointOutcome base = play(job, "default");
  const JointOutcome with = play(job, "hypermile");
  job.slack = false;

  const JointOutcome without = play(job, "hypermile");

  EXPECT_FALSE(with.kept_each.empty());
  EXPECT_TRUE(without.kept_each.empty());
  EXPECT_GT(change(with.late, base.late).saved, change(without.late, base.late).saved + 0.005);
  EXPECT_LE(change(with.late, base.late).slowdown, 0.05);
}

TEST(JointRun, EqualRunsAreEqual) {
  const JointJob job = joint_job(2, 0.1, 3);

  const JointOutcome first = play(job, "hypermile");
  const JointOutcome second = play(job, "hypermile");

  EXPECT_EQ(first.job.joules, second.job.joules);
  EXPECT_EQ(first.kept_each, second.kept_each);
}

TEST(JointRun, WorkOfRanksGoesFromTheHeaviestDown) {
  std::vector<double> work = work_of(joint_job(4, 0.3));

  std::ranges::sort(work);

  EXPECT_EQ(work, (std::vector{0.7, 0.8, 0.9, 1.0}));
}

}  // namespace
}  // namespace hypermile
