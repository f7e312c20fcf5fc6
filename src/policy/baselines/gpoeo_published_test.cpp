// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "measure/features.h"
#include "measure/sensor_trace.h"
#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

// A job seen as GPOEO sees it: power on three levels, the period stretched by the Setting.
class TracedJob {
 public:
  explicit TracedJob(SyntheticJob job, double period_s) : job_(std::move(job)), period_(period_s) {
    job_.context.gpu = "A card that the authors did not have";
  }

  SyntheticJob& job() { return job_; }
  double power_factor = 1;
  bool counters = true;
  double idle_share = 0;  // of a period, at its end

  Window run(const Step& step) {
    if (step.setting != setting_) {
      trace_ = {};
      trace_.begin = now_;
      setting_ = step.setting;
    }
    Window window = job_.window(setting_, 0, random_);
    window.begin = now_;
    window.sm_clock = job_.context.settings[setting_].sm_clock.value_or(Mhz(1410));
    const Seconds length = step.trace_for.value_or(Seconds(10));
    const double period = period_ * job_.time[setting_];
    for (double s = 0; s < length.value(); s += kTraceStep.value()) {
      const double place =
          period > 0 ? std::fmod(now_.since_origin().value() / period, 1.0) : random_.uniform();
      const double level = place < 0.4 ? 1.2 : place < 0.7 ? 1.0 : 0.7333;
      const bool idle = place > 1 - idle_share;
      trace_.power_w.push_back(power_factor * job_.power[setting_] * level);
      trace_.gpu_percent.push_back(idle ? 0 : place < 0.7 ? 95 : 60);
      trace_.memory_percent.push_back(place < 0.4 ? 50 : 30);
      now_ = now_ + kTraceStep;
    }
    seconds_ += length.value();
    if (step.trace_for) window.trace = std::make_shared<const SensorTrace>(trace_);
    if (step.features && counters) {
      Features features;
      features.set(Feature::kIssueActive,
                   0.3 / job_.time[setting_] * 1410 / window.sm_clock->value());
      window.features = std::make_shared<const Features>(features);
    }
    return window;
  }
  double seconds() const { return seconds_; }

 private:
  SyntheticJob job_;
  double period_;
  Random random_{11};
  Instant now_;
  SensorTrace trace_;
  std::size_t setting_ = 0;
  double seconds_ = 0;
};

struct Ran {
  std::vector<Step> probes;
  Step last;
};

Ran run(Policy& policy, TracedJob& job, int steps) {
  Ran ran;
  for (int i = 0; i < steps; ++i) {
    ran.last = policy.next();
    if (ran.last.exploring) ran.probes.push_back(ran.last);
    policy.observe(job.run(ran.last));
  }
  return ran;
}

TEST(GpoeoPublished, GoesFromDetectionToHoldOnTracesAlone) {
  TracedJob job(clock_job(0.5), 2.1);
  const auto policy = *make_policy("gpoeo-published", job.job().context);

  const Ran ran = run(*policy, job, 60);

  ASSERT_GT(ran.probes.size(), 4U);
  // First the base clocks, then the default with its counters, then the search from 86 %.
  EXPECT_NEAR(job.job().context.settings[ran.probes[0].setting].sm_clock->value() / 1410, 0.902,
              0.01);
  const auto at_default =
      std::ranges::find(ran.probes, std::size_t{0}, [](const Step& step) { return step.setting; });
  ASSERT_NE(at_default, ran.probes.end());
  EXPECT_TRUE(at_default->features);
  EXPECT_NE(at_default->reason.find("a period of"), std::string::npos) << at_default->reason;
  EXPECT_FALSE(ran.last.exploring);
  EXPECT_NE(ran.last.setting, 0U);
  EXPECT_LE(job.job().slowdown(ran.last.setting), 0.12);  // its detector errs by several percent
  EXPECT_GT(job.seconds(), 100);                          // and takes its time
}

TEST(GpoeoPublished, ReadsCountersOnlyToPredictWhereAPeriodShows) {
  TracedJob job(clock_job(0.5), 2.1);
  const auto policy = *make_policy("gpoeo-published", job.job().context);

  const Ran ran = run(*policy, job, 60);

  for (const Step& step : ran.probes)
    EXPECT_TRUE(step.setting == 0 || !step.features) << step.reason;
}

TEST(GpoeoPublished, CountsInstructionsWhereThereIsNoPeriod) {
  TracedJob job(clock_job(0.5), 0);
  const auto policy = *make_policy("gpoeo-published", job.job().context);

  const Ran ran = run(*policy, job, 20);

  EXPECT_FALSE(ran.last.exploring);
  ASSERT_NE(ran.last.setting, 0U);
  EXPECT_LE(job.job().slowdown(ran.last.setting), 0.05);  // instructions tell the pace exactly
  EXPECT_TRUE(ran.probes.back().features);
}

TEST(GpoeoPublished, KeepsTheDefaultWithoutAPeriodAndWithoutCounters) {
  TracedJob job(clock_job(0.5), 0);
  job.counters = false;
  const auto policy = *make_policy("gpoeo-published", job.job().context);

  const Ran ran = run(*policy, job, 40);

  EXPECT_EQ(ran.last.setting, 0U);
  EXPECT_NE(ran.last.reason.find("instructions cannot be read"), std::string::npos)
      << ran.last.reason;
}

TEST(GpoeoPublished, LeavesAJobAloneWhoseGpuWaits) {
  TracedJob job(clock_job(0.5), 3.7);
  job.idle_share = 0.3;
  const auto policy = *make_policy("gpoeo-published", job.job().context);

  const Ran ran = run(*policy, job, 30);

  EXPECT_EQ(ran.last.setting, 0U);
  EXPECT_NE(ran.last.reason.find("waits"), std::string::npos) << ran.last.reason;
}

TEST(GpoeoPublished, SearchesAgainWhenPowerSpreads) {
  TracedJob job(clock_job(0.5), 2.1);
  const auto policy = *make_policy("gpoeo-published", job.job().context);
  ASSERT_FALSE(run(*policy, job, 60).last.exploring);

  job.power_factor = 1.3;
  const Ran again = run(*policy, job, 10);

  EXPECT_FALSE(again.probes.empty());
}

TEST(GpoeoPublished, IsRefusedWhereNobodyRecordsTraces) {
  PolicyContext context = clock_job(0.5).context;
  context.traces = false;

  const auto made = make_policy("gpoeo-published", context);

  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
