// SPDX-License-Identifier: Apache-2.0
#include "policy/response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

// A ledger that has seen these Settings of the job without noise.
JobLedger ledger_of(const SyntheticJob& job, const std::vector<std::size_t>& seen) {
  JobLedger ledger(job.context.settings.size(), 30);
  Random random(1);
  for (const std::size_t setting : seen) {
    for (int i = 0; i < 3; ++i) {
      ledger.pass(setting != 0, 30, Seconds(3 * job.time[setting]));
      ledger.add(setting, job.window(setting, 0.0005, random));
    }
  }
  return ledger;
}

TEST(Response, FindsTheCurveBetweenTheSettingsThatWereSeen) {
  const SyntheticJob job = clock_job(0.5);
  Response response(job.context, usual_prior());
  response.fit(ledger_of(job, {0, 10, 20}));

  for (const std::size_t setting : {5U, 10U, 15U, 20U}) {
    const Belief& belief = response.at(setting);
    EXPECT_NEAR(std::exp(belief.log_time), job.time[setting], 0.01) << setting;
    EXPECT_NEAR(std::exp(belief.log_power), job.power[setting] / job.power[0], 0.03) << setting;
  }
  EXPECT_GT(response.at(50).time_sd, response.at(15).time_sd);
}

TEST(Response, BelievesASettingThatFallsOutOfStepByItsOwnWindows) {
  SyntheticJob job = clock_job(0.5);
  for (const std::size_t odd : {8U, 12U, 16U}) job.time[odd] *= 1.2;
  Response response(job.context, usual_prior());
  response.fit(ledger_of(job, {0, 6, 8, 10, 12, 14, 16}));

  EXPECT_NEAR(std::exp(response.at(12).log_time) / job.time[12], 1, 0.02);
  EXPECT_NEAR(std::exp(response.at(10).log_time) / job.time[10], 1, 0.02);
}

TEST(Response, NeverExpectsMoreThanClocksCanDo) {
  const SyntheticJob job = clock_job(0.5);
  Response response(job.context, usual_prior());
  response.fit(ledger_of(job, {0}));

  for (std::size_t i = 1; i < response.size(); ++i) {
    EXPECT_GE(response.at(i).log_time, 0);
    EXPECT_LE(response.at(i).log_time, response.place(i).sm);
    EXPECT_LE(response.at(i).log_power, 0);
  }
}

TEST(Response, ExpectsLittleOfTheMemoryClockWhereTheSmClockExplainsTheTime) {
  const SyntheticJob bound = memory_job(0.95);
  const SyntheticJob free = memory_job(0.02);
  Response one(bound.context, usual_prior());
  Response other(free.context, usual_prior());
  one.fit(ledger_of(bound, {0, 1, 2}));
  other.fit(ledger_of(free, {0, 1, 2}));

  EXPECT_LT(one.at(5).log_time, other.at(5).log_time);
}

TEST(Response, BelievesNothingFasterThanWhatWasMeasuredAboveIt) {
  const SyntheticJob job = clock_job(0.9);
  Response response(job.context, usual_prior());
  response.fit(ledger_of(job, {0, 20}));

  for (std::size_t below = 21; below < job.time.size(); ++below) {
    EXPECT_GT(std::exp(response.at(below).least_time), 0.97 * job.time[20]) << below;
    EXPECT_GE(response.at(below).log_time, response.at(below).least_time) << below;
  }
  EXPECT_LT(response.at(10).least_time, 0.01);
}

TEST(Response, StartsFromAPredictionAndNarrowsItByMeasuring) {
  const SyntheticJob job = clock_job(0.5);
  std::vector<PredictedRatio> ratios;
  for (std::size_t i = 0; i < job.time.size(); ++i) {
    ratios.push_back({std::log(job.time[i]), i == 0 ? 0 : 0.01,
                      std::log(job.energy(i) / job.energy(0)), i == 0 ? 0 : 0.02});
  }
  Response plain(job.context, usual_prior());
  Response told(job.context, usual_prior());
  told.expect(ratios);
  plain.fit(ledger_of(job, {0}));
  told.fit(ledger_of(job, {0}));

  EXPECT_NEAR(std::exp(told.at(30).log_time), job.time[30], 1e-3);
  EXPECT_LT(told.at(30).time_sd, plain.at(30).time_sd);
  const double before = told.at(30).time_sd;
  told.fit(ledger_of(job, {0, 30}));
  EXPECT_LT(told.at(30).time_sd, 0.7 * before);
}

TEST(Response, TakesWhatAnEarlierRunKeptForOneMoreMeasurement) {
  const SyntheticJob job = clock_job(0.5);
  Response response(job.context, usual_prior());
  response.recall({20, job.time[20], job.power[20] / job.power[0]});
  response.fit(ledger_of(job, {0}));

  EXPECT_NEAR(std::exp(response.at(20).log_time), job.time[20], 0.02);
  EXPECT_LT(response.at(20).time_sd, 0.02);
}

TEST(Response, DrawsPlausibleJobs) {
  const SyntheticJob job = clock_job(0.5);
  const Response response(job.context, usual_prior());
  Random random(9);
  double slower = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<Belief> drawn = response.draw(random);
    EXPECT_EQ(drawn[0].log_time, 0);
    EXPECT_GE(drawn[30].log_time, 0);
    slower += drawn[30].log_time / 200;
  }
  EXPECT_NEAR(slower, 0.45 * response.place(30).sm, 0.1);
}

}  // namespace
}  // namespace hypermile
