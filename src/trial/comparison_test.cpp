// SPDX-License-Identifier: Apache-2.0
#include "trial/comparison.h"

#include <gtest/gtest.h>

#include "testing/logged_events.h"
#include "testing/simulated_job.h"

namespace hypermile {
namespace {

const std::vector<std::string> kPolicies = {"default", "oracle", "bisection"};

TEST(Comparison, PutsEveryPolicyBesideADefaultRunOfTheSameJob) {
  const std::vector<SimulatedJob> jobs = {job_for_test(4000)};

  const auto comparison = compare(jobs, kPolicies, {});

  ASSERT_TRUE(comparison.ok()) << comparison.error().line();
  ASSERT_EQ(comparison->outcomes.size(), 3U);
  const SimulatedOutcome& base = comparison->outcomes[0];
  const SimulatedOutcome& oracle = comparison->outcomes[1];
  EXPECT_EQ(base.result.saved, 0);
  EXPECT_EQ(base.result.slowdown, 0);
  EXPECT_TRUE(base.result.kept.front().setting.empty());
  EXPECT_GT(oracle.result.saved, 0.05);
  EXPECT_NEAR(oracle.result.saved, oracle.result.oracle_saved, 0.02);
  EXPECT_EQ(oracle.result.kept.front().setting, oracle.best);
  EXPECT_LT(oracle.result.slowdown, 0.055);
  const SimulatedOutcome& bisection = comparison->outcomes[2];
  EXPECT_GT(bisection.result.probes, 3U);
  EXPECT_GT(bisection.result.saved, 0);
}

// The truth is of the card that the seed gives, whose power and heat differ from the sheet's. On a
// card that its power limit holds back, another card's truth is off by more than a percent.
TEST(Comparison, JudgesACardAtItsLimitByItsOwnTruth) {
  const std::vector<std::string> policies = {"fixed:sm=1590"};
  std::vector<SimulatedJob> jobs;
  for (const char* workload : {"vgg16", "diffusion_64", "gpt2_accumulated"}) {
    SimulatedJob job = job_for_test(1500, {0, 1, 0, 1});
    job.sheet = *load_gpu_sheet("a4000");
    job.workload = *load_workload(workload);
    jobs.push_back(std::move(job));
  }

  const auto comparison = compare(jobs, policies, {});

  ASSERT_TRUE(comparison.ok()) << comparison.error().line();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& result = comparison->outcomes[i].result;
    EXPECT_NEAR(result.final_slowdown, result.slowdown, 0.003) << jobs[i].workload.key;
    EXPECT_NEAR(result.final_saved, result.saved, 0.005) << jobs[i].workload.key;
  }
}

TEST(Comparison, DoesNotDependOnTheNumberOfThreads) {
  std::vector<SimulatedJob> jobs = {job_for_test(600, {}), job_for_test(600, {}),
                                    job_for_test(600, {})};
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].seed = i;

  const auto one = compare(jobs, kPolicies, {.keep_log = true, .threads = 1});
  const auto three = compare(jobs, kPolicies, {.keep_log = true, .threads = 3});

  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_FALSE(one->log.empty());
  EXPECT_EQ(one->log, three->log);
}

TEST(Comparison, LogsTheDefaultRunFirstAndNothingUnasked) {
  const std::vector<SimulatedJob> jobs = {job_for_test(400)};
  const std::vector<std::string> policies = {"fixed:sm=1200"};

  const auto logged = compare(jobs, policies, {.keep_log = true});
  const auto silent = compare(jobs, policies, {});

  ASSERT_TRUE(logged.ok()) << logged.error().line();
  const std::vector<Event> events = events_in_text(logged->log).events;
  ASSERT_FALSE(events.empty());
  const auto* start = std::get_if<RunStart>(&events.front().body);
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->environment.at("policy"), "default");
  EXPECT_TRUE(std::holds_alternative<RunEnd>(events.back().body));
  EXPECT_TRUE(silent->log.empty());
}

TEST(Comparison, NamesTheJobWhosePolicyIsRefused) {
  const std::vector<SimulatedJob> jobs = {job_for_test(100)};
  const std::vector<std::string> policies = {"bisecton"};

  const auto comparison = compare(jobs, policies, {});

  ASSERT_FALSE(comparison.ok());
  EXPECT_EQ(comparison.error().code, ErrorCode::kUsage);
  EXPECT_NE(comparison.error().line().find("bisection"), std::string::npos);
}

TEST(Comparison, LeavesOutWhatAnInterruptionCutOff) {
  const std::vector<SimulatedJob> jobs = {job_for_test(1000), job_for_test(1000)};
  std::stop_source stop;
  ComparisonOptions options;
  options.threads = 1;
  options.keep_log = true;
  options.listener = [&](const LiveWindow& live) {
    if (live.policy == "oracle") stop.request_stop();
  };

  const auto comparison = compare(jobs, kPolicies, options, stop.get_token());

  ASSERT_TRUE(comparison.ok()) << comparison.error().line();
  ASSERT_EQ(comparison->outcomes.size(), 1U);
  EXPECT_EQ(comparison->outcomes[0].result.policy, "default");
  EXPECT_EQ(comparison->cut_off, 5U);
  EXPECT_NE(comparison->log.find("interrupted"), std::string::npos);
}

TEST(Comparison, EffectsThatNobodyModelsCostThePolicySomething) {
  const std::vector<SimulatedJob> calm = {job_for_test(2000, kNoEffects)};
  const std::vector<SimulatedJob> rough = {job_for_test(2000, {2, 2, 2, 2})};

  const auto without = compare(calm, kPolicies, {});
  const auto with = compare(rough, kPolicies, {});

  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_NE(without->outcomes[0].job.joules, with->outcomes[0].job.joules);
}

}  // namespace
}  // namespace hypermile
