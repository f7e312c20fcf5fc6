// SPDX-License-Identifier: Apache-2.0
#include "record/run_figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/figures_text.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kCard{GpuUuid("GPU-1")};
const MeasuredGpu kOther{GpuUuid("GPU-2")};
const Setting kLower{.sm_clock = Mhz(1400)};
const Setting kLowest{.sm_clock = Mhz(1200)};

Event counter(const GpuUuid& gpu, double seconds, double joules) {
  Sample sample;
  sample.energy = Joules(joules);
  return event_at(seconds, SampleEvent{gpu, sample});
}

// `iterations` so far, all of them counted.
Event counted(double seconds, WindowEvent event, double iterations) {
  event.counted = iterations;
  return event_at(seconds, std::move(event));
}

TEST(RunFigures, HaveStudentsIntervalOfTheWindowsAtEachSetting) {
  RunFigures figures;
  for (const double wobble : {-0.001, 0.001}) {
    figures.add(event_at(1, kCard.window({}, 0.1 + wobble, 300)));
    figures.add(event_at(2, kCard.window(kLower, 0.102 + wobble, 250)));
  }

  const JobPhase phase = figures.job_phases().at(0);

  const SettingCost* cost = phase.at(kLower);
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->windows, 2U);
  EXPECT_NEAR(cost->time_s->value, 0.102, 1e-12);
  // Two windows: one degree of freedom, 12.706 standard errors of 0.001 s.
  EXPECT_NEAR(*cost->time_s->half_width95, 12.706e-3, 1e-6);
  EXPECT_NEAR(cost->time_change->value, 0.02, 1e-9);
  EXPECT_NEAR(cost->energy_change->value, 25.5 / 30 - 1, 1e-9);
  EXPECT_GT(cost->energy_change->half_width95.value_or(0), 0);
}

TEST(RunFigures, OfASingleWindowHaveItsOwnError) {
  RunFigures figures;
  WindowEvent event = kCard.window({}, 0.1, 300);
  event.window.time_error = 0.01;
  figures.add(event_at(1, event));

  const SettingCost cost = figures.job_phases().at(0).settings.at(0);

  EXPECT_NEAR(*cost.time_s->half_width95, 1.96 * 0.01 * 0.1, 1e-6);
  EXPECT_FALSE(cost.energy_j->half_width95) << "the error of its power is not known";
}

TEST(RunFigures, WeighWindowsByTheirIterations) {
  RunFigures figures;
  WindowEvent longer = kCard.window({}, 0.1, 300);
  longer.window.iterations = 30;
  figures.add(event_at(1, longer));
  figures.add(event_at(2, kCard.window({}, 0.14, 300)));

  EXPECT_NEAR(figures.job_phases().at(0).at({})->time_s->value, 0.11, 1e-12);
}

TEST(RunFigures, CompareTheWholeJobWithItsIterationsAtTheDefault) {
  RunFigures figures;
  figures.add(counter(kCard.gpu, 0, 1000));
  // 50 iterations at the default, 10 as a probe that uses more, 240 at what is kept: of each only
  // 10 are in windows. Between 20 s and 30 s the job did something else.
  figures.add(counted(20, kCard.window({}, 0.1, 300), 50));
  figures.add(counted(31, kCard.window(kLowest, 0.2, 200), 60));
  figures.add(counted(60, kCard.window(kLower, 0.11, 200), 300));
  figures.add(counter(kCard.gpu, 60, 16000));

  const JobTotals job = figures.job();

  EXPECT_DOUBLE_EQ(job.seconds, 60);
  EXPECT_EQ(job.joules, 15000);
  EXPECT_EQ(job.iterations, 300);
  const double saved = 10 * (30 - 40) + 240 * (30 - 22);
  const double lost = 10 * 0.1 + 240 * 0.01;
  EXPECT_NEAR(job.saved_j->value, saved, 1e-6);
  EXPECT_NEAR(job.lost_s->value, lost, 1e-9);
  EXPECT_NEAR(*job.default_joules, 15000 + saved, 1e-6);
  EXPECT_NEAR(*job.default_seconds, 60 - lost, 1e-9) << "what is no iteration takes as long";
  EXPECT_NEAR(job.energy_change->value, 15000 / (15000 + saved) - 1, 1e-9);
  EXPECT_NEAR(job.time_change->value, 60 / (60 - lost) - 1, 1e-9);
  EXPECT_FALSE(job.against_default_run);
}

TEST(RunFigures, CarryTheErrorsOfAllSettingsIntoTheJobs) {
  RunFigures figures;
  figures.add(counter(kCard.gpu, 0, 0));
  for (const double wobble : {-0.001, 0.001}) {
    figures.add(event_at(1, kCard.window({}, 0.1 + wobble, 300)));
    figures.add(event_at(2, kCard.window(kLower, 0.102 + wobble, 250)));
  }
  figures.add(counter(kCard.gpu, 10, 1000));

  const JobTotals job = figures.job();

  // 20 iterations, each the difference of two means that are known to 12.706 ms.
  EXPECT_NEAR(*job.lost_s->half_width95, 20 * std::sqrt(2) * 12.706e-3, 1e-5);
  EXPECT_NEAR(*job.time_change->half_width95,
              *job.lost_s->half_width95 * 10 / std::pow(*job.default_seconds, 2), 1e-9);
  EXPECT_GT(job.energy_change->half_width95.value_or(0), 0);
}

TEST(RunFigures, TakeAWindowThatDoesNotKnowItsErrorToBeNoSurerThanTheOthers) {
  RunFigures figures;
  for (const double wobble : {-0.001, 0.001}) {
    figures.add(event_at(1, kCard.window({}, 0.1 + wobble, 300)));
  }
  figures.add(event_at(10, kCard.window(kLower, 0.11, 250)));

  // 10 iterations of 0.1 s and 10 of 0.11 s, each known to 12.7 %.
  EXPECT_NEAR(*figures.job().lost_s->half_width95, 0.12706 * std::hypot(1.0, 1.1), 1e-4);
}

TEST(RunFigures, ClaimNothingWhereTheClocksWereNotMovedOrTheDefaultIsNotKnown) {
  RunFigures observed;
  observed.add(event_at(0, RunStart{}));
  observed.add(event_at(90, kCard.window({}, 0.1, 300)));
  RunFigures without_default;
  without_default.add(event_at(1, kCard.window(kLower, 0.1, 300)));

  EXPECT_FALSE(observed.job().energy_change);
  EXPECT_FALSE(observed.job().time_change) << "starting the job is no slowdown";
  EXPECT_FALSE(without_default.job().energy_change);
  EXPECT_FALSE(without_default.job_phases().at(0).at(kLower)->energy_change);
}

TEST(RunFigures, AddTheEnergiesOfSeveralGpusAndNotTheirTimes) {
  RunFigures figures;
  for (const MeasuredGpu& card : {kCard, kOther}) {
    figures.add(event_at(1, card.window({}, 0.1, 300)));
    figures.add(event_at(2, card.window(kLower, 0.11, 200)));
  }
  figures.add(event_at(20, Drift{}));

  const JobPhase phase = figures.job_phases().at(0);
  const JobTotals job = figures.job();

  EXPECT_EQ(figures.job_phases().size(), 1U);
  EXPECT_NEAR(phase.at({})->energy_j->value, 60, 1e-9);
  EXPECT_NEAR(phase.at({})->time_s->value, 0.1, 1e-12);
  EXPECT_NEAR(job.saved_j->value, 2 * 10 * (30 - 22), 1e-9);
  EXPECT_NEAR(job.lost_s->value, 10 * 0.01, 1e-9);
}

TEST(RunFigures, CountOneProcessOfThoseOnAGpu) {
  RunFigures figures;
  WindowEvent stranger = kCard.window({}, 0.05, 300);
  stranger.process = 43;
  stranger.window.duration = Seconds(0.5);
  figures.add(event_at(1, stranger));
  figures.add(event_at(1, kCard.window({}, 0.1, 300)));

  ASSERT_EQ(figures.job_phases().size(), 1U);
  EXPECT_EQ(figures.job_phases()[0].process, 42);
}

TEST(RunFigures, SumThePhasesOfAJobAndCompareEachWithItself) {
  RunFigures figures;
  figures.add(event_at(1, kCard.window({}, 0.1, 300)));
  figures.add(event_at(2, kCard.window(kLower, 0.11, 200)));
  figures.add(event_at(3, kCard.window({}, 0.01, 100, /*phase=*/1)));
  figures.add(event_at(20, kCard.window(kLower, 0.02, 100, /*phase=*/1)));

  ASSERT_EQ(figures.job_phases().size(), 2U);
  EXPECT_EQ(figures.job_phases()[0].phase, 0U) << "the one that took most of the time";
  EXPECT_NEAR(figures.job().saved_j->value, 10 * 8 - 10 * 1, 1e-9);
  EXPECT_NEAR(figures.job().lost_s->value, 10 * 0.01 + 10 * 0.01, 1e-9);
}

TEST(RunFigures, CallKeptWhatWasLastMeasuredWhileASettingWasHeld) {
  RunFigures figures;
  figures.add(event_at(1, kCard.window({}, 0.1, 300)));
  figures.add(event_at(2, kCard.decision(kLower, true)));
  figures.add(event_at(3, kCard.window(kLower, 0.102, 250)));
  EXPECT_FALSE(figures.job_phases().at(0).kept);
  figures.add(event_at(4, kCard.decision(kLower, false)));
  figures.add(event_at(5, kCard.window(kLower, 0.102, 250)));
  figures.add(event_at(6, kCard.decision({}, true)));
  figures.add(event_at(7, kCard.window({}, 0.1, 300)));

  const JobPhase phase = figures.job_phases().at(0);

  ASSERT_TRUE(phase.kept);
  EXPECT_EQ(phase.kept->setting, kLower);
  EXPECT_TRUE(phase.at(kLower)->kept);
  EXPECT_FALSE(phase.at({})->kept);
}

TEST(RunFigures, TellTheMixOfSettingsByItsTime) {
  RunFigures figures;
  figures.add(event_at(1, kCard.window({}, 0.1, 300)));
  for (const auto& [setting, time_s] : {std::pair(kLower, 0.1), std::pair(kLowest, 0.15)}) {
    Decision held = kCard.decision(setting, false);
    held.numbers["share"] = 0.5;
    figures.add(event_at(2, held));
    figures.add(event_at(3, kCard.window(setting, time_s, 200)));
  }

  const JobPhase phase = figures.job_phases().at(0);

  // As many iterations at each, but 1.0 s and 1.5 s.
  EXPECT_EQ(mix_text(phase), "60 % of the time at 1200 MHz, 40 % at 1400 MHz");
  const std::string text = kept_text(phase, "");
  EXPECT_NE(text.find("kept 60 % of the time at 1200 MHz, 40 % at 1400 MHz: "), std::string::npos)
      << text;
  EXPECT_NE(text.find("at that mix, per iteration: 16.7 % energy saved, 25.0 % slower"),
            std::string::npos)
      << text;
}

TEST(RunFigures, KnowWhatEachGpuKeepsWhereOneWaitsForTheOther) {
  RunFigures figures;
  for (const MeasuredGpu& card : {kCard, kOther}) {
    figures.add(event_at(1, card.window({}, 0.1, 300)));
    figures.add(event_at(2, card.decision(kLower, false)));
  }
  figures.add(event_at(3, kCard.window(kLower, 0.11, 200)));
  figures.add(event_at(3, Decision{kOther.gpu, "slack", kLowest, "", {}, {{"exploring", 1.0}}}));
  figures.add(event_at(3, kOther.window(kLowest, 0.11, 100)));

  const JobPhase phase = figures.job_phases().at(0);

  ASSERT_TRUE(phase.kept);
  EXPECT_EQ(phase.kept_each, (std::vector<Setting>{kLower, kLowest}));
  EXPECT_NEAR(phase.kept->energy_j->value, 22 + 11, 1e-9);
  EXPECT_NEAR(phase.kept->energy_change->value, 33.0 / 60 - 1, 1e-9);
}

TEST(RunFigures, CountOptimizerStepsWhereMicroBatchesAreKnown) {
  RunFigures figures;
  figures.add(event_at(0, ProgressEvent{42, "locked", "launches", 0, false, {}, {}, {}, 5}));
  figures.add(event_at(1, kCard.window({}, 0.1, 300)));

  const SettingCost cost = figures.job_phases().at(0).settings.at(0);

  EXPECT_NEAR(cost.time_s->value, 0.5, 1e-12);
  EXPECT_NEAR(cost.energy_j->value, 150, 1e-9);
  EXPECT_EQ(cost.iterations, 2);
  EXPECT_EQ(figures.job().iterations, 2);
}

TEST(RunFigures, RestOnUsableWindowsAndOnOthersWhereThereAreNone) {
  RunFigures figures;
  WindowEvent idle = kCard.window({}, 0.2, 100);
  idle.window.unusable = "the GPU stood idle for 80 % of the time";
  idle.window.refusal = Refusal::kIdle;
  WindowEvent strange = kCard.window({}, 9, 100);
  strange.window.unusable = "another process used the GPU";
  figures.add(event_at(1, idle));
  figures.add(event_at(2, strange));
  EXPECT_NEAR(figures.job_phases().at(0).at({})->time_s->value, 0.2, 1e-12);

  figures.add(event_at(3, kCard.window({}, 0.1, 300)));

  const JobPhase phase = figures.job_phases().at(0);
  EXPECT_NEAR(phase.at({})->time_s->value, 0.1, 1e-12);
  EXPECT_EQ(phase.at({})->windows, 1U);
  EXPECT_EQ(phase.at({})->unusable, 2U);
  EXPECT_EQ(figures.phases().at(0).unusable().at("the GPU stood idle"), 1U);
}

TEST(RunFigures, ComparesAnEndedJobWithTheRunAtTheDefaultThatASimulatorHas) {
  RunFigures figures;
  figures.compare_with({100, 30000, 1000});
  figures.add(event_at(0, RunStart{}));
  figures.add(event_at(10, kCard.window({}, 0.1, 300)));
  EXPECT_FALSE(figures.job().against_default_run) << "half a job is no whole run";
  RunFigures interrupted = figures;
  interrupted.add(
      event_at(50, RunEnd{0, "", {{"seconds", 50}, {"joules", 13000}, {"iterations", 480}}, {}}));
  figures.add(event_at(
      104, RunEnd{0, "", {{"seconds", 104}, {"joules", 27000}, {"iterations", 1000}}, {}}));

  EXPECT_FALSE(interrupted.job().against_default_run);
  const JobTotals job = figures.job();
  EXPECT_TRUE(job.against_default_run);
  EXPECT_NEAR(job.energy_change->value, -0.1, 1e-12);
  EXPECT_NEAR(job.time_change->value, 0.04, 1e-12);
  EXPECT_FALSE(job.energy_change->half_width95);
}

TEST(RunFigures, OfALogOfVersion01CountTheIterationsBetweenItsWindows) {
  RunFigures figures;
  const auto window = [&](const Setting& setting, double first) {
    WindowEvent event = kCard.window(setting, setting.empty() ? 0.1 : 0.11, 300);
    event.window.first_iteration = first;
    figures.add(event_at(60, event));
  };
  window({}, 0);
  window(kLower, 15);  // after 5 iterations that settled
  window(kLower, 5);   // counted from elsewhere

  EXPECT_NEAR(figures.job().iterations, 35, 1e-12);
}

TEST(RunFigures, ABillTellsMoneyAndCarbonOfGpusAndHost) {
  RunFigures figures;
  EXPECT_FALSE(figures.bill()) << "no energy is known";
  RunStart start;
  start.environment = {{"price_per_kwh", "0.3"},
                       {"currency", "EUR"},
                       {"carbon_g_per_kwh", "400"},
                       {"carbon_source", "as given"}};
  figures.add({Instant(), start});
  figures.add({Instant() + Seconds(1),
               RunEnd{0, "", {{"joules", 3.6e6}, {"seconds", 1}, {"host_joules", 1.8e6}}, {}}});

  const std::optional<JobBill> bill = figures.bill();
  ASSERT_TRUE(bill);
  EXPECT_NEAR(bill->kwh, 1.5, 1e-12);
  EXPECT_NEAR(*bill->cost(bill->kwh), 0.45, 1e-12);
  EXPECT_NEAR(*bill->co2e_g(bill->kwh), 600, 1e-9);
  EXPECT_FALSE(bill->cost(bill->saved_kwh)) << "nothing was saved or lost";
}

TEST(RunFigures, WithoutATariffThereAreOnlyKilowattHours) {
  RunFigures figures;
  figures.add({Instant(), RunStart{}});
  figures.add({Instant() + Seconds(1), RunEnd{0, "", {{"joules", 3.6e5}, {"seconds", 1}}, {}}});
  const std::optional<JobBill> bill = figures.bill();
  ASSERT_TRUE(bill);
  EXPECT_NEAR(bill->kwh, 0.1, 1e-12);
  EXPECT_FALSE(bill->host_joules);
  EXPECT_FALSE(bill->cost(bill->kwh));
  EXPECT_FALSE(bill->co2e_g(bill->kwh));
}

}  // namespace
}  // namespace hypermile
