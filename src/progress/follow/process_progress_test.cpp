// SPDX-License-Identifier: Apache-2.0
//
// ProcessProgress in a session, with rings that a test writes: jobs that rest, and jobs whose
// patterns do not last.
#include "progress/follow/process_progress.h"

#include "base/random.h"
#include "testing/session_fixture.h"

namespace hypermile {
namespace {

class ProcessProgressTest : public SessionTest {
 protected:
  // Progress events of a state after a time of the test, in seconds.
  std::vector<ProgressEvent> told(const std::string& state, double after) {
    std::vector<ProgressEvent> found;
    for (const Event& event : events("progress")) {
      const ProgressEvent& body = std::get<ProgressEvent>(event.body);
      if (body.state == state && event.time - begin_ >= Seconds(after)) found.push_back(body);
    }
    return found;
  }
};

// A job that waits for data longer than a job without a pattern is searched is not such a job: a
// dark stretch would begin with its next launch and hide up to 50 s of training.
TEST_F(ProcessProgressTest, IsKnownAgainAtOnceAfterALongRest) {
  RingJob job(clock_.now());
  const std::vector<Iteration> train = {iteration_of("train_", 40, milliseconds(2))};
  run_until(5, [&](Instant now) { job.train_until(now, train); });
  run_until(80, [&](Instant now) { job.pause_until(now); });
  ASSERT_EQ(told("idle", 5).size(), 1U);

  run_until(84, [&](Instant now) { job.train_until(now, train); });

  EXPECT_EQ(told("locked", 80).size(), 1U);
  EXPECT_EQ(job.launches_watched(), job.iterations() * 40);
}

// A learner that plays for a random time, trains its model and plays again: each loop has a
// pattern, and none lasts as long as a window.
TEST_F(ProcessProgressTest, FollowsAJobByItsWorkWhereNoPatternLasts) {
  RingJob job(clock_.now());
  const std::vector<Iteration> train = {iteration_of("train_", 40, milliseconds(20))};
  const std::vector<Iteration> imagine = {iteration_of("imagine_", 30, milliseconds(11))};
  Random random(1);
  double until = 0;
  while (until < 60) {
    until += random.uniform(0.6, 0.9);
    run_until(until, [&](Instant now) { job.train_until(now, train); });
    until += random.uniform(0.5, 0.8);
    run_until(until, [&](Instant now) { job.train_until(now, imagine); });
  }

  ASSERT_FALSE(told("locked", 20).empty());
  EXPECT_EQ(told("locked", 20).back().phase, 1000U);
  EXPECT_TRUE(told("searching", 30).empty());
}

TEST_F(ProcessProgressTest, LeavesTheWorkForAPatternThatLasts) {
  RingJob job(clock_.now());
  const std::vector<Iteration> train = {iteration_of("train_", 40, milliseconds(20))};
  const std::vector<Iteration> imagine = {iteration_of("imagine_", 30, milliseconds(11))};
  for (double until = 0.7; until < 60; until += 1.4) {
    run_until(until, [&](Instant now) { job.train_until(now, train); });
    run_until(until + 0.7, [&](Instant now) { job.train_until(now, imagine); });
  }
  ASSERT_EQ(told("locked", 20).back().phase, 1000U);

  run_until(90, [&](Instant now) { job.train_until(now, train); });

  EXPECT_EQ(told("locked", 60).back().phase, 0U);
}

}  // namespace
}  // namespace hypermile
