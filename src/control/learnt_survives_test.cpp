// SPDX-License-Identifier: Apache-2.0
//
// What a search has found is not searched again, whatever happens to the job, the lease or
// hypermile.
#include <gtest/gtest.h>

#include "control/job_memory.h"
#include "testing/control_fixture.h"
#include "testing/faulty_files.h"

namespace hypermile {
namespace {

class LearntSurvivesTest : public ControllerTest {
 protected:
  double now() const { return (clock_.now() - begin_).value(); }
  std::size_t probes() const {
    const ControlSummary summary = controller_->summary();
    return summary.phases.empty() ? 0 : summary.phases.front().probes;
  }
  // Searches until nothing is left to find.
  void learn() {
    options_.job_iterations = 45000;
    begin();
    ASSERT_TRUE(train_until_held(400));
    train(now() + 200);
    known_ = probes();
  }
  // A Setting is held again within `seconds`, and all that was learnt is still known.
  void expect_all_is_known(double seconds) {
    EXPECT_TRUE(train_until_held(now() + seconds)) << controller_->reason();
    train(now() + 60);
    // A look at the default now and then is a probe too.
    EXPECT_LE(probes(), known_ + 4);
    EXPECT_EQ(controller_->summary().drifts, 0U);
  }
  std::size_t known_ = 0;
};

TEST_F(LearntSurvivesTest, ALostPattern) {
  learn();
  launch_at_random(now() + 30);
  expect_all_is_known(60);
}

TEST_F(LearntSurvivesTest, APause) {
  learn();
  pause(now() + 90);
  expect_all_is_known(30);
}

TEST_F(LearntSurvivesTest, AnEvaluation) {
  learn();
  train(now() + 30, "evaluate", 0.5);
  expect_all_is_known(30);
}

TEST_F(LearntSurvivesTest, ALostLease) {
  learn();
  port_.lose();
  expect_all_is_known(60);
}

TEST_F(LearntSurvivesTest, AGpuThatCouldNotBeReadForAWhile) {
  learn();
  card_->lost = true;
  train(now() + 20);
  card_->lost = false;
  expect_all_is_known(60);
}

TEST_F(LearntSurvivesTest, ARestartOfTheJobAndOfHypermile) {
  Fate fate;
  FaultyFiles files({}, fate);
  options_.job_iterations = 45000;
  Setting found;
  {
    JobCache cache(files, "/cache/jobs.json");
    JobMemory memory(cache, {.knobs = options_.knobs});
    begin(memory.maker());
    ASSERT_TRUE(train_until_held(400));
    train(now() + 200);
    session_->finish();
    found = controller_->summary().phases.front().kept;
    ASSERT_FALSE(found.empty());
    ASSERT_TRUE(memory.keep(controller_->summary(), 1.7e9).ok());
  }
  JobCache cache(files, "/cache/jobs.json");
  JobMemory memory(cache, {.knobs = options_.knobs});
  job_.reset();
  begin_ = clock_.now();
  port_.asked.clear();

  begin(memory.maker());
  train_until_held(200);

  EXPECT_EQ(memory.recalled(), 1U);
  const auto first =
      std::ranges::find_if(port_.asked, [](const Setting& one) { return !one.empty(); });
  ASSERT_NE(first, port_.asked.end());
  EXPECT_EQ(*first, found) << "it begins where the last run ended";
}

}  // namespace
}  // namespace hypermile
