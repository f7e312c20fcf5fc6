// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/watch_duty.h"

#include <algorithm>

#include "testing/session_fixture.h"

namespace hypermile {
namespace {

// A process in virtual time, watched as the duty says; an iteration takes 5 ms.
class DutyTest : public ::testing::Test {
 protected:
  void live(double seconds) {
    for (const Instant end = now_ + Seconds(seconds); now_ < end; now_ = now_ + milliseconds(20)) {
      if (dark_until_ && now_ >= *dark_until_) {
        dark_until_.reset();
        watching_ = now_;
        duty_.watching_since(now_);
      }
      if (dark_until_) {
        dark_ += milliseconds(20);
        continue;
      }
      const Seconds seen = now_ - watching_;
      view_.measured = seen > Seconds(2.3);
      view_.iterations = seen / milliseconds(5);
      dark_until_ = duty_.dark_until(now_, view_);
      if (dark_until_) longest_ = std::max(longest_, *dark_until_ - now_);
      if (dark_until_ && view_.measured) ++windows_;
    }
  }

  WatchDuty duty_;
  WatchDuty::View view_{.certain = true, .launches_per_second = 30'000};
  Instant now_, watching_;
  std::optional<Instant> dark_until_;
  Seconds dark_, longest_;
  int windows_ = 0;
};

TEST_F(DutyTest, KeepsTheCostBearable) {
  live(12);
  const Seconds before = dark_;

  live(300);

  // 30,000 launches per second at 0.6 µs cost 1.8 %.
  const double watched = 1 - (dark_ - before) / Seconds(300);
  EXPECT_LE(watched * 0.018, 0.003);
  EXPECT_GE(watched * 0.018, 0.002) << "it should see as much as the cost allows";
  EXPECT_GE(windows_, 9);
  EXPECT_LE(longest_, Seconds(2.6)) << "there are glances in between";
}

TEST_F(DutyTest, WatchesLoopsWithFewLaunchesAllTheTime) {
  view_.launches_per_second = 4'000;

  live(100);

  EXPECT_EQ(dark_, Seconds(0));
}

TEST_F(DutyTest, WatchesEverythingUntilThePatternHasSettled) {
  live(9.9);
  EXPECT_EQ(dark_, Seconds(0));
  live(5);
  EXPECT_GT(dark_, Seconds(1));
}

TEST_F(DutyTest, LooksNowAndThenIfNoPatternShowsForAMinute) {
  view_.certain = false;

  live(59);
  EXPECT_EQ(dark_, Seconds(0));
  live(241);
  EXPECT_GT(dark_, Seconds(150));
  EXPECT_LE(longest_, Seconds(50));
  EXPECT_LT(dark_, Seconds(225)) << "it still searches for a pattern";
}

TEST_F(DutyTest, WatchesEverythingWhileNothingIsCertain) {
  live(20);
  while (dark_until_) live(0.02);
  const Seconds before = dark_;
  view_.certain = false;

  live(30);
  view_.certain = true;
  live(9.9);

  EXPECT_EQ(dark_, before);
}

TEST_F(DutyTest, AGlanceLastsUntilAnIterationWasSeen) {
  live(20);
  while (!dark_until_) live(0.02);
  while (dark_until_) live(0.02);

  view_.iterations = 0;
  EXPECT_EQ(duty_.dark_until(now_ + Seconds(0.3), view_), std::nullopt);
  view_.iterations = 1;
  EXPECT_NE(duty_.dark_until(now_ + Seconds(0.3), view_), std::nullopt);
}

TEST_F(DutyTest, JobsThatTickNeedNoGlances) {
  view_.ticks = true;

  live(150);

  EXPECT_GT(longest_, Seconds(5));
  EXPECT_GE(windows_, 4);
}

// The whole path: rings, detector and Windows.
class WatchingNowAndThen : public SessionTest {
 protected:
  const std::vector<Iteration> train_ = {iteration_of("train_", 40, milliseconds(1))};
  const std::vector<Iteration> eval_ = {iteration_of("eval_", 25, milliseconds(0.6))};
};

TEST_F(WatchingNowAndThen, KeepsTheFiguresRight) {
  RingJob job(at(0.1));

  run_until(60, [&](Instant now) { job.train_until(now, train_); });
  const auto watched = static_cast<double>(job.launches_watched());
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.at(0).phases.size(), 1U);
  const PhaseReport& phase = summary.processes[0].phases[0];
  const auto iterations = static_cast<double>(job.iterations());
  EXPECT_LT(watched, 0.4 * 40 * iterations)
      << "it watches the first ten seconds and a sixth of the rest";
  EXPECT_LE(phase.iterations, 1.005 * iterations);
  EXPECT_GE(phase.iterations, 0.995 * iterations - 4000)
      << "the job may have ended in a dark stretch";
  EXPECT_GT(phase.estimated, 0.5 * iterations);
  ASSERT_TRUE(phase.cost);
  EXPECT_NEAR(phase.cost->time_s->value, 1e-3, 1e-3 * 1e-3);
  EXPECT_GE(phase.cost->gpu_timed, 6U);
  for (const auto& [reason, count] : phase.unusable) EXPECT_LE(count, 3U) << reason;
}

TEST_F(WatchingNowAndThen, EndsWhenEverythingIsWanted) {
  RingJob job(at(0.1));
  const auto play = [&](Instant now) { job.train_until(now, train_); };
  run_until(20, play);
  const std::uint64_t launched = 40 * job.iterations();
  ASSERT_LT(job.launches_watched(), launched);

  session_->attend({.closely = true});
  run_until(21, play);
  const std::uint64_t missed = 40 * job.iterations() - job.launches_watched();
  run_until(40, play);

  EXPECT_EQ(40 * job.iterations() - job.launches_watched(), missed);
}

TEST_F(WatchingNowAndThen, NoticesAnotherPhaseAtTheNextGlance) {
  RingJob job(at(0.1));
  run_until(30, [&](Instant now) { job.train_until(now, train_); });
  while (job.writer().control().dark_until_ns <
         static_cast<std::uint64_t>((clock_.now() + Seconds(1)).nanoseconds())) {
    run_until((clock_.now() - begin_).value() + 0.02,
              [&](Instant now) { job.train_until(now, train_); });
  }
  const Instant switched = clock_.now();

  run_until((clock_.now() - begin_).value() + 6, [&](Instant now) { job.train_until(now, eval_); });
  const RunSummary summary = finish();

  const std::vector<Event> told = events("progress");
  const auto lost = std::ranges::find_if(told, [](const Event& event) {
    return std::get<ProgressEvent>(event.body).state == "searching";
  });
  ASSERT_NE(lost, told.end());
  ASSERT_EQ(summary.processes.at(0).phases.size(), 2U);
  EXPECT_GT(summary.processes[0].phases[1].in_force, Seconds(2.5));
  EXPECT_LE(summary.processes[0].phases[0].in_force, switched - at(0))
      << "unseen time belongs to no phase";
}

}  // namespace
}  // namespace hypermile
