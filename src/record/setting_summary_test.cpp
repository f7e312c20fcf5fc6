// SPDX-License-Identifier: Apache-2.0
#include "record/setting_summary.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Event window(const Setting& setting, double time, double watts, double iterations = 30) {
  Window w;
  w.setting = setting;
  w.iterations = iterations;
  w.time_per_iteration = Seconds(time);
  w.power = Watts(watts);
  return {Instant(), WindowEvent{GpuUuid("GPU-1"), w}};
}

const Setting kSlow{.sm_clock = Mhz(1200)};

TEST(SummarizeSettings, ComparesEachSettingWithTheDefault) {
  const std::vector<Event> events = {window({}, 0.1, 400), window(kSlow, 0.11, 300),
                                     window({}, 0.1, 400)};

  const auto summaries = summarize_settings(events);

  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].windows, 2U);
  EXPECT_NEAR(*summaries[1].slowdown, 0.1, 1e-12);
  EXPECT_NEAR(*summaries[1].saved, 1 - 33.0 / 40.0, 1e-12);
}

TEST(SummarizeSettings, WeighsWindowsByIterationsAndTellsTheirScatter) {
  const std::vector<Event> events = {window({}, 0.1, 400, 90), window({}, 0.14, 400, 30)};

  const auto summaries = summarize_settings(events);

  EXPECT_NEAR(summaries.at(0).time_s.mean, 0.11, 1e-12);
  EXPECT_GT(*summaries[0].time_s.error, 0);
  EXPECT_NEAR(*summaries[0].power_w.error, 0, 1e-9);
}

TEST(SummarizeSettings, CountsUnusableWindowsAndClaimsNothingWithoutADefault) {
  Event bad = window(kSlow, 0.2, 300);
  std::get<WindowEvent>(bad.body).window.unusable = "throttled";
  const std::vector<Event> events = {bad, window(kSlow, 0.11, 300)};

  const auto summaries = summarize_settings(events);

  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].unusable_windows, 1U);
  EXPECT_FALSE(summaries[0].slowdown);
  EXPECT_FALSE(summaries[0].saved);
}

}  // namespace
}  // namespace hypermile
