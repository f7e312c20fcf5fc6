// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sweep/curve.h"

namespace hypermile {
namespace {

Setting sm(double mhz) {
  Setting setting;
  setting.sm_clock = Mhz(mhz);
  return setting;
}

SweepEntry entry(std::size_t step, const Setting& setting, double time, double power,
                 std::size_t run = 0) {
  SweepEntry made;
  made.step = step;
  made.run = run;
  made.setting = setting;
  made.time_s = time;
  made.power_w = power;
  made.time_error = 0.003;
  made.power_error = 0.004;
  made.iterations = 100;
  made.sm_mhz = setting.sm_clock ? setting.sm_clock->value() : 1980;
  return made;
}

const SweepHeader kHeader = {"G", "GPU-1", "a, \"b\"", "", {}};

CurveSet curves_of(const std::string& csv) {
  std::istringstream in(csv);
  const auto file = read_sweep(in, "made.csv");
  EXPECT_TRUE(file.ok()) << (file ? "" : file.error().line());
  return file ? make_curves(*file, {}) : CurveSet();
}

TEST(SweepTable, IsReadBackAsTheCurveThatWasMeasured) {
  const std::vector<SweepEntry> entries = {entry(0, {}, 0.1, 300), entry(1, sm(1000), 0.15, 200),
                                           entry(2, sm(1500), 0.12, 250), entry(3, {}, 0.1, 300)};

  const CurveSet set = curves_of(sweep_csv(kHeader, entries));

  ASSERT_EQ(set.curves.size(), 1U);
  const Curve& curve = set.curves.front();
  EXPECT_EQ(curve.key.workload, "a, \"b\"");
  EXPECT_EQ(curve.default_values.sm_clock, Mhz(1980));
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points[1].setting, sm(1500));
  EXPECT_NEAR(curve.points[2].time / curve.points[0].time, 1.5, 1e-6);
  EXPECT_NEAR(curve.points[2].power.value(), 200, 1e-6);
}

TEST(SweepTable, RemovesDrift) {
  // The job slows down by a tenth during the sweep. Every setting takes 1.2 times the default
  // around it.
  std::vector<SweepEntry> entries;
  for (std::size_t step = 0; step <= 10; ++step) {
    const double drift = 1 + 0.01 * static_cast<double>(step);
    const Setting setting = step % 5 == 0 ? Setting() : sm(1000 + 10 * static_cast<double>(step));
    entries.push_back(entry(step, setting, (setting.empty() ? 0.1 : 0.12) * drift, 300 / drift));
  }

  const CurveSet set = curves_of(sweep_csv(kHeader, entries));

  const Curve& curve = set.curves.front();
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    EXPECT_NEAR(curve.points[i].time / curve.points[0].time, 1.2, 1e-3);
    EXPECT_NEAR(curve.points[i].power / curve.points[0].power, 1, 2e-3);
  }
}

TEST(SweepTable, ComparesWithTheDefaultOfTheSameRunOfTheJob) {
  // The second run of the job is twice as slow.
  const std::vector<SweepEntry> entries = {
      entry(0, {}, 0.1, 300), entry(1, sm(1000), 0.15, 200), entry(1, {}, 0.2, 300, 1),
      entry(2, sm(1500), 0.24, 250, 1), entry(3, {}, 0.2, 300, 1)};

  const CurveSet set = curves_of(sweep_csv(kHeader, entries));

  const Curve& curve = set.curves.front();
  EXPECT_NEAR(curve.points[1].time / curve.points[0].time, 1.2, 1e-6);
  EXPECT_NEAR(curve.points[2].time / curve.points[0].time, 1.5, 1e-6);
}

TEST(SweepTable, KeepsTheReasonWhyAWindowWasGivenUp) {
  SweepEntry given_up;
  given_up.step = 1;
  given_up.setting = sm(1000);
  given_up.refused = "too hot";
  const std::string csv = sweep_csv(
      kHeader,
      std::vector<SweepEntry>{entry(0, {}, 0.1, 300), given_up, entry(2, sm(900), 0.2, 90)});

  EXPECT_NE(csv.find("too hot"), std::string::npos);
  EXPECT_EQ(curves_of(csv).curves.front().points.size(), 2U);
}

TEST(SweepTable, IsEmptyBeforeTheDefaultAndASettingAreMeasured) {
  EXPECT_EQ(sweep_csv(kHeader, {}), "");
  EXPECT_EQ(sweep_csv(kHeader, std::vector<SweepEntry>{entry(0, {}, 0.1, 300)}), "");
  EXPECT_EQ(sweep_csv(kHeader, std::vector<SweepEntry>{entry(1, sm(900), 0.1, 300)}), "");
}

}  // namespace
}  // namespace hypermile
