// SPDX-License-Identifier: Apache-2.0
#include "trial/sweep_run.h"

#include <gtest/gtest.h>

#include "testing/faulty_files.h"
#include "testing/simulated_job.h"
#include "trial/sweeping/sweep_table.h"

namespace hypermile {
namespace {

SweepOptions terms_for_test(const char* grid) {
  SweepOptions terms;
  terms.grid = SweepGrid::parse(grid).value();
  terms.workload = "test";
  terms.warm_up = Seconds(2);
  terms.settle = Seconds(0);
  return terms;
}

constexpr const char* kJournal = "F.csv.journal";

// The table, made by a process that dies where its files say.
Result<std::string> sweep_once(FaultyFiles& files, const SimulatedJob& job,
                               const SweepOptions& terms) {
  ASSIGN_OR_RETURN(SweepJournal journal, SweepJournal::open(files, kJournal));
  RETURN_IF_ERROR(sweep_simulated(job, terms, journal, {}));
  return sweep_csv(*journal.header(), journal.entries());
}

TEST(SweepRun, KilledAnywhereAndBegunAgainGivesTheSameFile) {
  const SimulatedJob job = job_for_test(0, Effects());
  const SweepOptions terms = terms_for_test("sm=3");
  Fate whole;
  FaultyFiles uninterrupted({}, whole);
  const Result<std::string> expected = sweep_once(uninterrupted, job, terms);
  ASSERT_TRUE(expected && !expected->empty());

  // The process dies at every operation on a file. Of what it wrote, nothing, a part or all is on
  // the disk.
  for (int dies_at = 0; dies_at < whole.operations; ++dies_at) {
    const std::size_t torn = dies_at % 3 == 0 ? 0 : 30;
    Fate fate{.dies_at = dies_at, .torn_after = torn};
    FaultyFiles killed({}, fate);
    ASSERT_FALSE(sweep_once(killed, job, terms)) << dies_at;
    const FaultyFiles::Disk left =
        dies_at % 2 == 0 ? killed.after_kill() : killed.after_power_loss(torn, true);

    Fate next;
    FaultyFiles again(left, next);
    const Result<std::string> done = sweep_once(again, job, terms);

    ASSERT_TRUE(done) << dies_at << ": " << done.error().line();
    ASSERT_EQ(*done, *expected) << dies_at;
  }
}

TEST(SweepRun, StoppedAfterEachWindowAndBegunAgainGivesTheSameFile) {
  const SimulatedJob job = job_for_test(0, Effects());
  const SweepOptions terms = terms_for_test("sm=5");
  Fate fate;
  FaultyFiles at_once({}, fate);
  const Result<std::string> expected = sweep_once(at_once, job, terms);
  ASSERT_TRUE(expected);
  FaultyFiles in_pieces({}, fate);

  for (int piece = 0; piece < 20; ++piece) {
    SweepJournal journal = SweepJournal::open(in_pieces, kJournal).value();
    std::stop_source stop;
    SweepHearers hearers;
    hearers.show = [&](const SweepProgress&) { stop.request_stop(); };
    ASSERT_TRUE(sweep_simulated(job, terms, journal, hearers, stop.get_token()));
  }
  const Result<std::string> pieced = sweep_once(in_pieces, job, terms);

  ASSERT_TRUE(pieced);
  EXPECT_EQ(*pieced, *expected);
}

TEST(SweepRun, MeasuresWhatTheSimulatorKnowsToBeTrue) {
  SimulatedJob job = job_for_test(0);
  job.workload = load_workload("resnet50").value();  // without checkpoints between its iterations
  job.knobs = {Knob::kSmClock};
  Fate fate;
  FaultyFiles files({}, fate);
  SweepJournal journal = SweepJournal::open(files, kJournal).value();

  ASSERT_TRUE(sweep_simulated(job, terms_for_test("sm=4"), journal, {}));

  const Curve truth = truth_of(job);
  double compared = 0;
  const SweepEntry& base = journal.entries().front();
  for (const SweepEntry& entry : journal.entries()) {
    const CurvePoint* point = find_point(truth, entry.setting);
    if (point == nullptr || entry.setting.empty()) continue;
    ASSERT_TRUE(entry.measured()) << entry.refused;
    EXPECT_NEAR(*entry.time_s / *base.time_s, point->time / truth.points[0].time, 0.02);
    EXPECT_NEAR(*entry.power_w / *base.power_w, point->power / truth.points[0].power, 0.03);
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(SweepRun, SweepsAMeasuredCurve) {
  Curve curve;
  curve.key = {"G", "job", "", ""};
  curve.default_values.sm_clock = Mhz(1000);
  for (const double s : {1.0, 0.9, 0.8, 0.6}) {
    CurvePoint point;
    if (s < 1) point.setting.sm_clock = Mhz(1000 * s);
    point.time = Seconds(2 * (0.5 + 0.5 / s));
    point.power = Watts(100 + 200 * s * s);
    curve.points.push_back(point);
  }
  Fate fate;
  FaultyFiles files({}, fate);
  SweepJournal journal = SweepJournal::open(files, kJournal).value();

  ASSERT_TRUE(sweep_replayed(curve, terms_for_test("sm=all"), journal, {}));

  ASSERT_EQ(journal.entries().size(), 5U);
  const SweepEntry& base = journal.entries().front();
  for (const SweepEntry& entry : journal.entries()) {
    const CurvePoint* point = find_point(curve, entry.setting);
    ASSERT_TRUE(point != nullptr && entry.measured()) << entry.refused;
    EXPECT_NEAR(*entry.time_s / *base.time_s, point->time / curve.points[0].time, 0.05);
  }
}

}  // namespace
}  // namespace hypermile
