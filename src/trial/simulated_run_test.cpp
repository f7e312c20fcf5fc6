// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "testing/simulated_job.h"
#include "trial/simulated_training.h"

namespace hypermile {
namespace {

struct Heard {
  std::string log;
  std::vector<Window> windows;
  double seconds = 0;  // until the last event
};

Heard play_and_hear(const SimulatedJob& job, const char* policy) {
  Heard heard;
  RunHearers hearers;
  hearers.event = [&](const Event& event) {
    heard.log += to_json_line(event) + "\n";
    heard.seconds = event.time.since_origin().value();
  };
  hearers.window = [&](const LiveWindow& live) { heard.windows.push_back(live.window); };
  const auto played = play(job, truth_of(job), policy, std::move(hearers));
  EXPECT_TRUE(played.ok()) << played.error().line();
  EXPECT_FALSE(played.ok() && played->interrupted);
  return heard;
}

// One of the workloads that come with the program, followed by its launches.
SimulatedJob shipped_job(const char* key, std::uint64_t iterations, const Effects& effects) {
  SimulatedJob job = job_for_test(iterations, effects);
  auto workload = load_workload(key);
  EXPECT_TRUE(workload.ok()) << workload.error().line();
  job.workload = std::move(*workload);
  job.progress = ProgressKind::kLaunches;
  return job;
}

// Mean over the windows at one setting, weighted by their iterations.
double seconds_at(const std::vector<Window>& windows, const Setting& setting) {
  double seconds = 0;
  double iterations = 0;
  for (const Window& window : windows) {
    if (!window.usable() || !(window.setting == setting)) continue;
    seconds += window.time_per_iteration->value() * window.iterations;
    iterations += window.iterations;
  }
  EXPECT_GT(iterations, 0);
  return seconds / iterations;
}

constexpr Setting kLow = {.sm_clock = Mhz(900)};

TEST(SimulatedRun, MeasuresWhatTheSimulatorKnowsToBeTrue) {
  const SimulatedJob job = job_for_test(2000);
  const double truth = truth_of(job).default_point().time.value();

  const Heard heard = play_and_hear(job, "default");

  ASSERT_GT(heard.windows.size(), 10U);
  const Window& late = heard.windows[heard.windows.size() - 2];  // the card is warm
  ASSERT_TRUE(late.usable()) << late.unusable;
  const double checkpoints = 3.0 / 97;  // s of an iteration in the truth, which no window contains
  EXPECT_NEAR(late.time_per_iteration->value(), truth - checkpoints, 0.01 * truth);
  EXPECT_GT(late.power->value(), 200);
}

// Its iterations are too short for NVML, so the published method counts instructions.
TEST(SimulatedRun, GpoeoAsPublishedGoesFromItsDetectorToAHeldSetting) {
  const Heard heard = play_and_hear(job_for_test(4000), "gpoeo-published");

  const std::size_t detected = heard.log.find("looking for the job's period at the base clocks");
  const std::size_t measured = heard.log.find("the default and its counters; no period");
  const std::size_t searched = heard.log.find("gear near the predicted one; no model");
  const std::size_t held = heard.log.find("\"kept; no period: instructions are counted");
  ASSERT_NE(held, std::string::npos);
  EXPECT_LT(detected, measured);
  EXPECT_LT(measured, searched);
  EXPECT_LT(searched, held);
  EXPECT_NE(heard.log.find("\"issue_active\""), std::string::npos);
}

TEST(SimulatedRun, AModelSaysWhereGpoeoBegins) {
  SimulatedJob job = job_for_test(1500);
  bool asked = false;
  job.predict = [&](const PhaseFacts&, const PolicyContext& context) {
    return [&, count = context.settings.size()](const Window& window) {
      asked = window.features != nullptr;
      std::vector<PredictedRatio> ratios(count, {0, 0.01, 0, 0.01});
      ratios[5].log_energy = -0.5;
      return ratios;
    };
  };

  const Heard heard = play_and_hear(job, "gpoeo");

  EXPECT_TRUE(asked);
}

TEST(SimulatedRun, KeepsPausesOutOfWindows) {
  const Heard heard = play_and_hear(job_for_test(2000), "default");

  for (const Window& window : heard.windows) {
    if (!window.usable()) continue;
    EXPECT_LT(window.time_per_iteration->value(), 0.13) << "a checkpoint of 3 s is in the window";
    EXPECT_GT(window.power->value(), 250) << "power of a waiting GPU is in the window";
  }
}

TEST(SimulatedRun, CountsPausesThatComeAllTheTimeAsPartOfTheJob) {
  SimulatedJob job = job_for_test(2000);
  job.workload.load.phases[1].every = 4;
  job.workload.load.phases[1].parts[0].data_stall = Seconds(0.6);

  const Heard heard = play_and_hear(job, "default");

  EXPECT_NEAR(seconds_at(heard.windows, {}), truth_of(job).default_point().time.value(), 0.01);
}

TEST(SimulatedRun, TakesPausesTheSameWayAtEveryClock) {
  for (const std::uint64_t every : {11U, 12U, 13U, 14U, 15U, 16U}) {  // near a third of a window
    SimulatedJob job = job_for_test(1500);
    job.workload.load.phases[1].every = every;

    const double fast = seconds_at(play_and_hear(job, "default").windows, {});
    const double slow = seconds_at(play_and_hear(job, "fixed:sm=900").windows, kLow);

    EXPECT_GT(slow, fast) << every;
  }
}

// Windows of the same few iterations would differ by several percent.
TEST(SimulatedRun, ComparesWindowsOfAJobWithMixedLengthsAtEqualWork) {
  SimulatedJob job =
      shipped_job("ai_text_summarization", 1500, kNoEffects);  // lengths vary by 15 %
  const double truth = truth_of(job).default_point().time.value();

  const Heard heard = play_and_hear(job, "bisection");

  std::vector<double> at_default;
  for (const Window& window : heard.windows) {
    if (!window.usable() || !(window.setting == Setting())) continue;
    at_default.push_back(window.time_per_iteration->value() / truth);
  }
  ASSERT_GE(at_default.size(), 2U);
  const auto [least, most] = std::ranges::minmax(at_default);
  EXPECT_LT(most - least, 0.02);
}

// Its launches are watched a tenth of the time, and its pattern is lost now and then.
TEST(SimulatedRun, HoldsNoSettingForMinutesWithoutAWindow) {
  const SimulatedJob job = shipped_job("ai_spatial_transformer", 1720000, Effects{});  // 15 minutes

  const double usual = play_and_hear(job, "default").seconds;
  EXPECT_LT(play_and_hear(job, "hypermile").seconds, 1.05 * usual);
}

// Evaluations of a tenth of a second after every 48 iterations: a look that is cut at the first of
// them would show a Setting without any.
TEST(SimulatedRun, KeepsTheBoundOfAJobWhoseEpochsTakeASecond) {
  const SimulatedJob job = shipped_job("gnn_dd_gat", 51000, Effects{});  // 15 minutes

  const double usual = play_and_hear(job, "default").seconds;
  EXPECT_LT(play_and_hear(job, "hypermile").seconds, 1.051 * usual);
}

// A second look at the Setting in force begins when it begins, not when the Setting came into
// force: it would seem to take twice as long.
TEST(SimulatedRun, TakesNoSecondLookAtASettingForASlowOne) {
  const SimulatedJob job = shipped_job("gnn_collab_gatedgcn", 8000, Effects{});  // 15 minutes

  const double usual = play_and_hear(job, "default").seconds;
  EXPECT_LT(play_and_hear(job, "hypermile").seconds, 1.051 * usual);
}

// Evaluations of two seconds after every ten: what passes in one is not the doing of the Setting
// that is looked at, nor of all slower ones.
TEST(SimulatedRun, TakesNoLookInAnEvaluationForASlowOne) {
  SimulatedJob job = shipped_job("gnn_cifar10_gin", 12000, Effects{});  // 5 minutes
  auto sheet = load_gpu_sheet("a4000");
  ASSERT_TRUE(sheet.ok()) << sheet.error().line();
  job.sheet = std::move(*sheet);

  // 1410 MHz is the best Setting.
  const auto is_low = [](const Window& window) {
    return window.usable() && window.setting.sm_clock < Mhz(1450) && !window.aborted;
  };
  EXPECT_GT(std::ranges::count_if(play_and_hear(job, "hypermile").windows, is_low), 2);
}

// GPU times come late: iterations of a Setting that was left a moment ago are not the default's.
TEST(SimulatedRun, CallsNoWindowTheDefaultsThatBeganAtAnotherSetting) {
  const SimulatedJob job = shipped_job("mlp_cuda_graph", 12000, kNoEffects);

  int seen = 0;
  for (const Window& window : play_and_hear(job, "hypermile").windows) {
    if (!window.usable() || !window.setting.empty()) continue;
    ++seen;
    EXPECT_GT(window.sm_clock->value(), 1900);
  }
  EXPECT_GT(seen, 3);
}

TEST(SimulatedRun, SlowsDownWithTheClock) {
  const Heard heard = play_and_hear(job_for_test(2000), "fixed:sm=900");

  const Window& last = heard.windows[heard.windows.size() - 2];
  EXPECT_EQ(last.setting, kLow);
  EXPECT_NEAR(last.sm_clock->value(), 900, 1);
  EXPECT_GT(seconds_at(heard.windows, kLow) / seconds_at(heard.windows, {}), 1.1);
}

TEST(SimulatedRun, EqualJobsWriteEqualLogsWhateverProcessPlaysThem) {
  for (const ProgressKind progress : {ProgressKind::kTicks, ProgressKind::kLaunches}) {
    SimulatedJob job = job_for_test(1000, Effects{});
    job.progress = progress;

    const Heard first = play_and_hear(job, "hypermile");
    const Heard second = play_and_hear(job, "hypermile");

    EXPECT_EQ(first.log, second.log);
    EXPECT_NE(first.log.find("\"process\":1,"), std::string::npos) << first.log.substr(0, 2000);
  }
}

TEST(SimulatedRun, HasTheCountersOfACardWithoutActivityMetricsWhereTheyAreAskedFor) {
  SimulatedJob job = job_for_test(1000);
  std::map<std::string, double> values;
  RunHearers hearers;
  hearers.event = [&](const Event& event) {
    if (const auto* features = std::get_if<FeaturesEvent>(&event.body)) values = features->values;
  };
  ASSERT_TRUE(play(job, truth_of(job), "hypermile", std::move(hearers)).ok());
  EXPECT_FALSE(values.contains("dram_active")) << "an RTX 3080 Ti tells nothing by itself";

  job.counters = true;
  RunHearers again;
  again.event = [&](const Event& event) {
    if (const auto* features = std::get_if<FeaturesEvent>(&event.body)) values = features->values;
  };
  ASSERT_TRUE(play(job, truth_of(job), "hypermile", std::move(again)).ok());

  // 35 GB and 1.2 TFLOP in about 100 ms of a card with 0.85 TB/s and 34 TFLOP/s.
  EXPECT_NEAR(values.at("dram_active"), 0.4, 0.1);
  EXPECT_NEAR(values.at("fp32_active"), 0.35, 0.1);
  EXPECT_NEAR(values.at("sm_active"), 1, 0.01);
  EXPECT_EQ(values.at("tensor_active"), 0);
  EXPECT_FALSE(values.contains("l2_active")) << "not simulated, so not known";
}

TEST(SimulatedRun, SaysWhenAJobIsTooShortToMeasure) {
  const SimulatedJob job = job_for_test(1);

  const auto played = play(job, truth_of(job), "default", {});

  EXPECT_EQ(played.error().code, ErrorCode::kUsage);
}

TEST(SimulatedRun, SaysThatItWasCutOff) {
  const SimulatedJob job = job_for_test(4000);
  std::stop_source stop;
  RunHearers hearers;
  std::string end;
  hearers.window = [&](const LiveWindow&) { stop.request_stop(); };
  hearers.event = [&](const Event& event) {
    if (const auto* over = std::get_if<RunEnd>(&event.body)) end = over->reason;
  };

  const auto played = play(job, truth_of(job), "default", std::move(hearers), stop.get_token());

  ASSERT_TRUE(played.ok());
  EXPECT_TRUE(played->interrupted);
  EXPECT_EQ(end, "interrupted");
}

TEST(SimulatedTraining, LosesNoTickHoweverLateItIsPlayed) {
  SimulatedJob job = job_for_test(0);
  job.workload = load_workload("mlp_tiny").value();
  VirtualClock clock;
  const auto training = SimulatedTraining::start(clock, job).value();
  ASSERT_EQ(training->folder().discover().size(), 1U);
  RingBatch batch;

  for (int i = 0; i < 20; ++i) {
    clock.advance(Seconds(0.7));  // hundreds of iterations
    training->play(clock.now());
    ASSERT_TRUE(training->folder().rings().front()->drain(clock.now(), batch).ok());
  }

  const std::size_t whole = training->card().state().ticks.count;
  EXPECT_GT(whole, 20 * kTickRing);
  EXPECT_EQ(batch.ticks.size(), whole);
  for (std::size_t i = 1; i < batch.ticks.size(); ++i) {
    ASSERT_GE(batch.ticks[i].time, batch.ticks[i - 1].time) << i;
  }
}

TEST(SimulatedTraining, LeavesNoRingBehind) {
  SimulatedJob job = job_for_test(0);
  VirtualClock clock;
  ASSERT_TRUE(SimulatedTraining::start(clock, job).ok());

  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    EXPECT_EQ(line.find(RingFolder::kPrefix), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace hypermile
