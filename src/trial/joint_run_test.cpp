// SPDX-License-Identifier: Apache-2.0
#include "trial/joint_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/sim_ranks.h"
#include "sim/steady_state.h"
#include "testing/faulty_files.h"
#include "testing/simulated_job.h"

namespace hypermile {
namespace {

JointJob joint_job(std::size_t gpus, double imbalance, std::uint64_t seed = 1) {
  JointJob job;
  job.job = job_for_test(4000, Effects{});
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
  EXPECT_NE(outcome->training(), nullptr);
  return *outcome;
}

TEST(JointRun, OneDecisionForAllSavesEnergyWithinTheBound) {
  const JointJob job = joint_job(2, 0);
  const JointOutcome base = play(job, "default");

  const JointOutcome run = play(job, "hypermile");

  const JointChange whole = change(run.job, base.job);
  EXPECT_GT(whole.saved, 0.05);
  EXPECT_LE(whole.slowdown, 0.05);
  EXPECT_TRUE(run.training()->held);
  EXPECT_EQ(run.control.gpus.size(), 2U);
  EXPECT_TRUE(run.control.restored);
}

TEST(JointRun, RanksThatWaitAreToldLess) {
  JointJob job = joint_job(4, 0.15);
  const JointOutcome base = play(job, "default");
  const JointOutcome with = play(job, "hypermile");
  job.slack = false;

  const JointOutcome without = play(job, "hypermile");

  ASSERT_EQ(with.training()->kept_each.size(), 4U);
  EXPECT_TRUE(without.training()->kept_each.empty());
  EXPECT_GT(change(with.late, base.late).saved, change(without.late, base.late).saved + 0.005);
  EXPECT_LE(change(with.late, base.late).slowdown, 0.05);
  EXPECT_LE(change(with.job, base.job).slowdown, 0.05);
  ASSERT_TRUE(with.training()->with_slack);
}

TEST(JointRun, EqualRunsAreEqual) {
  const JointJob job = joint_job(2, 0.1, 3);

  const JointOutcome first = play(job, "hypermile");
  const JointOutcome second = play(job, "hypermile");

  EXPECT_EQ(first.job.joules, second.job.joules);
  EXPECT_EQ(first.training()->kept_each, second.training()->kept_each);
}

TEST(JointRun, WorkOfRanksGoesFromTheHeaviestDown) {
  std::vector<double> work = work_of(joint_job(4, 0.3));

  std::ranges::sort(work);

  EXPECT_EQ(work, (std::vector{0.7, 0.8, 0.9, 1.0}));
}

// Jobs of this shape launch the same kernels whatever their work is, so they have one fingerprint.
// They differ in how much of their time depends on the clock.
Workload shaped(double gflop, double gbyte) {
  auto workload = parse_workload(fmt::format(R"(
title = "shaped"
family = "test"
[[phase]]
name = "train"
length = {{ kind = "normal", cv = 0.004 }}
[[phase.part]]
name = "forward"
gflop = {{ fp32 = {} }}
gbyte = {}
launches = 60
[[phase.part]]
name = "optimizer"
gbyte = 1.0
launches = 8
)",
                                             gflop, gbyte),
                                 "test.toml");
  EXPECT_TRUE(workload.ok()) << workload.error().line();
  return *workload;
}

class RememberedRunTest : public testing::Test {
 protected:
  RememberedRunTest() : files_({}, fate_), cache_(files_, "/cache/jobs.json") {}

  JointJob job(std::uint64_t run, double gflop = 1500, double gbyte = 45) {
    JointJob job = joint_job(1, 0);
    job.run = run;
    job.job.workload = shaped(gflop, gbyte);
    job.job.progress = ProgressKind::kLaunches;
    job.cache = &cache_;
    return job;
  }

  Fate fate_;
  FaultyFiles files_;
  JobCache cache_;
};

TEST_F(RememberedRunTest, TheSecondRunLooksFirstWhereTheFirstOneEnded) {
  const JointOutcome first = play(job(1), "hypermile");

  const JointOutcome second = play(job(2), "hypermile");

  EXPECT_FALSE(first.recalled);
  EXPECT_TRUE(second.recalled);
  EXPECT_LE(second.training()->probes, first.training()->probes + 2);  // looks at the default too
  EXPECT_EQ(cache_.jobs().size(), 1U);
}

TEST_F(RememberedRunTest, AJobThatChangedUnderItsFingerprintIsSearchedAnew) {
  const JointJob then = job(1, 300, 62);
  const JointOutcome first = play(then, "hypermile");
  ASSERT_EQ(cache_.jobs().size(), 1U);
  // An iteration takes as long as before at the default, and now depends on the clock.
  JointJob changed = job(2, 2300, 5);
  const auto time_of = [](const JointJob& of) {
    return steady_state(of.job.sheet.constants, of.job.workload.load, {}).time;
  };
  changed.job.workload.load = scaled(changed.job.workload.load, time_of(then) / time_of(changed));
  JointJob plain = changed;
  plain.cache = nullptr;
  const JointOutcome base = play(plain, "default");

  const JointOutcome second = play(changed, "hypermile");

  EXPECT_TRUE(second.recalled) << "or the test shows nothing";
  EXPECT_LE(change(second.job, base.job).slowdown, 0.05);
  EXPECT_NE(second.training()->kept, first.training()->kept);
  // The cache no longer holds the setting that did not hold, whatever took its place.
  EXPECT_EQ(std::ranges::count(cache_.jobs(), first.training()->kept, &CachedJob::kept), 0);
}

}  // namespace
}  // namespace hypermile
