// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_groups.h"

#include <algorithm>
#include <map>

#include "testing/fake_counters_library.h"

namespace hypermile {
namespace {

std::map<Feature, std::string> grouped(const CounterGroups& groups) {
  std::map<Feature, std::string> metrics;
  for (const auto& group : groups) {
    for (const CounterForm& form : group->forms()) metrics[form.feature] = form.metric;
  }
  return metrics;
}

TEST(CounterGroups, PutsEveryFeatureOnceIntoGroupsThatFit) {
  FakeCounters fake;

  const auto groups = group_counters(fake.library, "GA102", {});

  ASSERT_TRUE(groups.ok());
  std::size_t forms = 0;
  for (const auto& group : *groups) {
    forms += group->forms().size();
    EXPECT_LE(group->names().size(), 3U);  // the fake's limit
  }
  EXPECT_EQ(forms, grouped(*groups).size());
  EXPECT_EQ(forms, 12U);
}

TEST(CounterGroups, TakesTheNextFormOfAFeatureWhereTheChipLacksTheBest) {
  FakeCounters fake;
  const TestVariable lacking("FAKE_COUNTERS_LACK", "dram__throughput");

  const auto groups = group_counters(fake.library, "TU102", {});

  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(grouped(*groups).at(Feature::kDramActive),
            "fbpa__dram_sectors.avg.pct_of_peak_sustained_elapsed");
}

TEST(CounterGroups, LeavesAFeatureOutThatTheChipCannotSample) {
  FakeCounters fake;
  const TestVariable lacking("FAKE_COUNTERS_LACK", "nvl");

  const auto groups = group_counters(fake.library, "AD102", {});

  ASSERT_TRUE(groups.ok());
  EXPECT_FALSE(grouped(*groups).contains(Feature::kNvlinkRate));
}

TEST(CounterGroups, ReportsAChipWithoutCountersAndAnUnknownChip) {
  FakeCounters fake;

  const auto volta = group_counters(fake.library, "GV100", {});
  const TestVariable lacking("FAKE_COUNTERS_LACK", "_");
  const auto nothing = group_counters(fake.library, "GB300", {});

  ASSERT_FALSE(volta.ok());
  EXPECT_EQ(volta.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(volta.error().line().find("GV100"), std::string::npos);
  EXPECT_NE(volta.error().line().find("Turing"), std::string::npos);
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().line().find("GB300"), std::string::npos);
  EXPECT_EQ(fake.open_objects(), 0);
}

TEST(CounterLibrary, RefusesALibraryThatCannotSampleAndSuggestsAnother) {
  const auto other = std::filesystem::path(FAKE_CUPTI).parent_path() / "libcuda.so.1";

  const auto old = CounterLibrary::load_cupti({other.string()});
  const auto none = CounterLibrary::load_cupti({"libnotthere.so.1"});

  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(old.error().line().find("12.6"), std::string::npos);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

// Checks the table with a real CUPTI (12.6 to 13.1), which knows every chip without GPU or driver.
TEST(CounterMetrics, AreThoseThatARealCuptiCanSample) {
  const char* const path = std::getenv("HYPERMILE_REAL_CUPTI");
  if (path == nullptr) GTEST_SKIP() << "HYPERMILE_REAL_CUPTI names no libcupti.so";
  const auto library = CounterLibrary::load_cupti({path});
  ASSERT_TRUE(library.ok());
  const std::map<std::string, std::size_t> features = {
      {"TU102", 12}, {"GA100", 11}, {"GA102", 12}, {"AD102", 11}, {"GH100", 11}};

  for (const auto& [chip, count] : features) {
    const auto groups = group_counters(*library, chip, {});
    ASSERT_TRUE(groups.ok()) << chip;
    EXPECT_EQ(grouped(*groups).size(), count) << chip;
    std::string line = chip + ":";
    for (const auto& group : *groups) {
      line += " |";
      for (const CounterForm& form : group->forms())
        line += " " + std::string(name_of(form.feature));
    }
    std::cout << line << "\n";
  }
}

}  // namespace
}  // namespace hypermile
