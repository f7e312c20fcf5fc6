// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include "cli/cli.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace hypermile {
namespace {

TEST(OptionTable, HasNoNameTwiceForOneCommandAndOnlyValidFallbacks) {
  for (const OptionSpec& spec : option_table()) {
    for (const Command* command : all_commands()) {
      const auto mine = options_of(command->name);
      EXPECT_LE(std::ranges::count(mine, spec.name, &OptionSpec::name), 1) << spec.name;
    }
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    EXPECT_TRUE(spec.fallback.empty() || validate_option(spec, spec.fallback).ok()) << spec.name;
  }
}

TEST(OptionTable, IsWhatTheDocsSay) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  std::ifstream in(std::filesystem::path(source) / "docs/reference/options.md");
  std::stringstream page;
  page << in.rdbuf();

  EXPECT_EQ(page.str(), options_markdown())
      << "run: build/bin/hypermile --options-markdown > docs/reference/options.md";
}

TEST(OptionValues, FallBackToTheTableUntilGiven) {
  OptionValues values("evaluate");
  EXPECT_DOUBLE_EQ(values.number("max-slowdown"), 0.05);
  EXPECT_FALSE(values.given("max-slowdown"));

  values.set("max-slowdown", "1.02");

  EXPECT_NEAR(values.number("max-slowdown"), 0.02, 1e-12);
  EXPECT_TRUE(values.given("max-slowdown"));
}

TEST(OptionValues, SplitListsAtCommas) {
  OptionValues values("evaluate");
  values.set("knobs", "sm,,mem");

  EXPECT_EQ(values.list("knobs"), (std::vector<std::string>{"sm", "mem"}));
}

class FromEnvironment : public ::testing::Test {
 protected:
  ~FromEnvironment() override {
    for (const char* name : {"HYPERMILE_MAX_SLOWDOWN", "HYPERMILE_OBSERVE", "HYPERMILE_NVML",
                             "HYPERMILE_KNOBS", "HYPERMILE_ALL"}) {
      ::unsetenv(name);
    }
  }
  OptionValues values_{"run"};
};

TEST_F(FromEnvironment, TakesWhatTheCommandLineLeavesOpen) {
  ::setenv("HYPERMILE_MAX_SLOWDOWN", "2%", 1);
  ::setenv("HYPERMILE_OBSERVE", "true", 1);
  ::setenv("HYPERMILE_KNOBS", "", 1);
  values_.set("max-slowdown", "3%");

  ASSERT_TRUE(read_environment("run", values_).ok());

  EXPECT_DOUBLE_EQ(values_.number("max-slowdown"), 0.03);
  EXPECT_TRUE(values_.flag("observe"));
  EXPECT_FALSE(values_.given("knobs")) << "an empty variable is none";
}

TEST_F(FromEnvironment, NamesTheVariableOfABrokenValue) {
  ::setenv("HYPERMILE_MAX_SLOWDOWN", "a lot", 1);

  EXPECT_EQ(read_environment("run", values_).error().line(),
            "HYPERMILE_MAX_SLOWDOWN: expected a slowdown such as 5%, 0.05 or 1.05, got 'a lot'");
}

TEST_F(FromEnvironment, LeavesVariablesAloneThatMeanSomethingElse) {
  ::setenv("HYPERMILE_NVML", "/usr/lib/libnvidia-ml.so.1", 1);
  ::setenv("HYPERMILE_ALL", "true", 1);
  OptionValues detect("detect");
  OptionValues reset("reset");

  ASSERT_TRUE(read_environment("detect", detect).ok());
  ASSERT_TRUE(read_environment("reset", reset).ok());

  EXPECT_FALSE(detect.given("nvml"));
  EXPECT_FALSE(reset.flag("all")) << "too much to happen by a forgotten variable";
}

class Config : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Result<void> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_config(path_, "evaluate", values_);
  }
  // The error with the file's name replaced, or "".
  std::string problem(const std::string& text) {
    const Result<void> result = read(text);
    if (result) return "";
    std::string line = result.error().line();
    return line.replace(line.find(path_), path_.size(), "F.toml");
  }

  std::string path_ = (std::filesystem::path(::testing::TempDir()) /
                       (std::string("hypermile_config_") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml"))
                          .string();
  OptionValues values_{"evaluate"};
};

TEST_F(Config, ACommandsTableWinsOverTheTopAndTheCommandLineOverBoth) {
  values_.set("iterations", "10");

  ASSERT_TRUE(read("seed = 3\nrepeat = 5\niterations = 99\n[evaluate]\nseed = 4\n").ok());

  EXPECT_EQ(values_.integer("seed"), 4);
  EXPECT_EQ(values_.integer("repeat"), 5);
  EXPECT_EQ(values_.integer("iterations"), 10);
}

TEST_F(Config, IgnoresOtherCommandsButChecksThem) {
  EXPECT_EQ(problem("[monitor]\nseed = 9\n"), "");
  EXPECT_EQ(values_.integer("seed"), 1);
  EXPECT_EQ(problem("[monitor]\nseed = -1\n"), "F.toml:2: --seed: expected 0 or more, got '-1'");
}

TEST_F(Config, SaysFileLineAndNearestNames) {
  EXPECT_EQ(problem("seed = 1\nmax-slowdwn = '5%'\n"),
            "F.toml:2: unknown option 'max-slowdwn'; did you mean max-slowdown?");
  EXPECT_EQ(problem("[evaluat]\nseed = 1\n"),
            "F.toml:1: unknown command [evaluat]; did you mean evaluate?");
  EXPECT_EQ(problem("max-slowdown = 'a lot'\n"),
            "F.toml:1: --max-slowdown: expected a slowdown such as 5%, 0.05 or 1.05, got 'a lot'");
  EXPECT_EQ(problem("seed = [1]\n"), "F.toml:1: expected text, a number, true or false");
  EXPECT_EQ(problem("seed = 1\nseed 2\n").substr(0, 9), "F.toml:2:");
}

TEST_F(Config, SaysWhenTheFileIsNotThere) {
  EXPECT_EQ(read_config("/nonexistent/c.toml", "evaluate", values_).error().code,
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hypermile
