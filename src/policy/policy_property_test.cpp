// SPDX-License-Identifier: Apache-2.0
//
// What holds for every policy in the table, in any world.
#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/policies.h"
#include "testing/hostile_windows.h"
#include "testing/ledgered_policy.h"

namespace hypermile {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> all = {"fixed:90%"};
  for (const PolicyEntry& entry : policy_table()) {
    if (!entry.name.starts_with("fixed:")) all.emplace_back(entry.name);
  }
  return all;
}

class EveryPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, AsksOnlyForSettingsOfItsListInAnyWorld) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const ByteSource byte = [&] { return static_cast<unsigned>(random.bits() >> 56); };
    const PolicyContext context = hostile_context(byte);
    auto made = make_policy(GetParam(), context);
    ASSERT_TRUE(made.ok());
    LedgeredPolicy policy(std::move(*made), context);
    for (int i = 0; i < 80; ++i) {
      const Step step = policy.next();
      ASSERT_LT(step.setting, context.settings.size());
      ASSERT_TRUE(std::isfinite(step.iterations) && step.iterations > 0);
      ASSERT_TRUE(step.confidence >= 0 && step.confidence <= 1) << step.confidence;
      policy.observe(hostile_window(byte, context, step));
    }
  }
}

TEST_P(EveryPolicy, DecidesTheSameForTheSameWindows) {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    std::vector<std::size_t> asked[2];
    for (auto& steps : asked) {
      Random random(seed);
      const ByteSource byte = [&] { return static_cast<unsigned>(random.bits() >> 56); };
      const PolicyContext context = hostile_context(byte);
      auto made = make_policy(GetParam(), context);
      ASSERT_TRUE(made.ok());
      LedgeredPolicy policy(std::move(*made), context);
      for (int i = 0; i < 60; ++i) {
        const Step step = policy.next();
        steps.push_back(step.setting);
        policy.observe(hostile_window(byte, context, step));
      }
    }
    EXPECT_EQ(asked[0], asked[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPolicy, ::testing::ValuesIn(names()), [](const auto& param) {
  std::string name = param.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace hypermile
