// SPDX-License-Identifier: Apache-2.0
//
// A sweep in virtual time, under the Controller, on a card whose time and power follow a known law.
#include "trial/sweeping/sweep_course.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "measure/features.h"
#include "testing/control_fixture.h"
#include "testing/faulty_files.h"
#include "trial/sweeping/sweep_table.h"

namespace hypermile {
namespace {

class SweepCourseTest : public ControllerTest {
 protected:
  static SweepOptions options() {
    SweepOptions options;
    options.grid = SweepGrid::parse("sm=5").value();
    options.workload = "train";
    options.warm_up = Seconds(5);
    options.settle = Seconds(1);
    return options;
  }
  void sweep() {
    journal_.emplace(SweepJournal::open(files_, "F.csv.journal").value());
    course_ = std::make_unique<SweepCourse>(
        options(), *journal_, [this](const std::string& line) { said_.push_back(line); });
    options_ = course_->controller_options();
    begin(course_->maker());
  }
  bool train_until_complete(double most) {
    double seconds = (clock_.now() - begin_).value();
    while (seconds < most && !course_->over()) train(seconds += 5);
    return course_->complete();
  }

  Fate fate_;
  FaultyFiles files_{{}, fate_};
  std::optional<SweepJournal> journal_;
  std::unique_ptr<SweepCourse> course_;
  std::vector<std::string> said_;
};

TEST_F(SweepCourseTest, MeasuresEverySettingAndGivesTheGpuBack) {
  sweep();

  ASSERT_TRUE(train_until_complete(400)) << controller_->reason();
  session_->finish();

  EXPECT_TRUE(card_->held.empty());
  EXPECT_EQ(port_.releases, 1);
  // Five settings, and the default at the beginning, after four settings, and at the end.
  ASSERT_EQ(journal_->entries().size(), 8U);
  for (const SweepEntry& entry : journal_->entries()) {
    ASSERT_TRUE(entry.measured()) << entry.refused;
    const double ratio = entry.setting.sm_clock.value_or(Mhz(1980)).value() / 1980;
    EXPECT_NEAR(*entry.time_s, 0.040 * (0.6 + 0.4 / ratio), 0.0005);
  }
  EXPECT_TRUE(said_.empty());
}

TEST_F(SweepCourseTest, CollectsFeaturesOnceForTheDefault) {
  sweep();

  ASSERT_TRUE(train_until_complete(400));

  EXPECT_GT(journal_->entries().front().features.at("power_share"), 0.2);
  EXPECT_EQ(events("features").size(), 1U);
}

TEST_F(SweepCourseTest, ContinuesAfterARestartOfTheJob) {
  sweep();
  train(45);
  session_->finish();
  const std::vector<SweepEntry> before = journal_->entries();
  ASSERT_GT(before.size(), 1U);
  ASSERT_LT(before.size(), 8U);

  sweep();
  ASSERT_TRUE(train_until_complete(800)) << controller_->reason();

  const std::vector<SweepEntry>& after = journal_->entries();
  ASSERT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  for (std::size_t i = before.size(); i < after.size(); ++i) EXPECT_EQ(after[i].run, 1U);
  // The second run measures the default first.
  EXPECT_TRUE(after[before.size()].setting.empty());
}

TEST_F(SweepCourseTest, LeavesOutSettingsThatMayNotBeSetAndSaysSo) {
  port_.least = Mhz(1000);
  sweep();

  ASSERT_TRUE(train_until_complete(400)) << controller_->reason();

  ASSERT_FALSE(said_.empty());
  EXPECT_NE(said_.front().find("may not be set"), std::string::npos);
  const SweepProgress progress = course_->progress(clock_.now());
  EXPECT_EQ(progress.refused, said_.size());
  EXPECT_EQ(progress.done, 8U);
}

TEST_F(SweepCourseTest, GivesUpWindowsThatCannotBeUsed) {
  sweep();
  train(30);
  card_->shown_clock = Mhz(300);  // whatever clock is requested
  const std::size_t before = journal_->entries().size();

  while (said_.empty() && (clock_.now() - begin_).value() < 600) {
    train((clock_.now() - begin_).value() + 5);
  }

  ASSERT_FALSE(said_.empty());
  EXPECT_NE(said_.front().find("is left out"), std::string::npos);
  EXPECT_FALSE(journal_->entries()[before].refused.empty());
}

TEST_F(SweepCourseTest, StopsWhereTheJournalCannotBeWritten) {
  sweep();
  train(20);
  files_.fail({.first = files_.calls(), .times = 1000});

  train(60);
  session_->finish();

  ASSERT_TRUE(course_->problem());
  EXPECT_TRUE(course_->over());
  EXPECT_FALSE(course_->complete());
  EXPECT_TRUE(card_->held.empty());
}

TEST_F(SweepCourseTest, EstimatesTheRemainingTime) {
  sweep();
  train(40);

  const SweepProgress progress = course_->progress(clock_.now());

  EXPECT_EQ(progress.planned, 8U);
  ASSERT_TRUE(progress.left);
  EXPECT_GT(*progress.left, Seconds(5));
  EXPECT_LT(*progress.left, Seconds(300));
}

}  // namespace
}  // namespace hypermile
