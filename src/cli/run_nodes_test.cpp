// SPDX-License-Identifier: Apache-2.0
#include "cli/run_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace hypermile {
namespace {

CommandArguments arguments() {
  CommandArguments given{OptionValues("run"), {"torchrun", "--nnodes=2", "train.py"}};
  given.options.set("nodes-from", "torchrun");
  return given;
}

TEST(RunNodesTest, TheAgentGetsTheOptionsAndTheCommand) {
  CommandArguments given = arguments();
  given.options.set("max-slowdown", "3%");
  given.options.set("observe", "true");
  given.options.set("quiet", "false");

  const auto words = agent_words(given);

  ASSERT_TRUE(words) << words.error().line();
  const std::vector<std::string> last(words->end() - 4, words->end());
  EXPECT_EQ(last, (std::vector<std::string>{"--", "torchrun", "--nnodes=2", "train.py"}));
  const auto has = [&](const std::string& word) {
    return std::find(words->begin(), words->end(), word) != words->end();
  };
  EXPECT_TRUE(has("--nodes-from") && has("--max-slowdown") && has("3%") && has("--observe"));
  EXPECT_FALSE(has("--quiet"));
}

TEST(RunNodesTest, WhatAnAgentDoesNotHaveIsSaidBeforeTheJobStarts) {
  CommandArguments given = arguments();
  given.options.set("cache", "default");

  const auto words = agent_words(given);

  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().code, ErrorCode::kUsage);
  EXPECT_NE(words.error().message.find("--cache"), std::string::npos);
}

TEST(RunNodesTest, AnAgentRemembersNothingAnyway) {
  CommandArguments given = arguments();
  given.options.set("cache", "no");

  const auto words = agent_words(given);

  ASSERT_TRUE(words) << words.error().line();
  EXPECT_EQ(std::find(words->begin(), words->end(), "--cache"), words->end());
}

TEST(LeasesTest, AnotherNodeIsAskedInTheWayThatIsNamed) {
  ::setenv("HYPERMILE_REMOTE", "test hypermile-of", 1);
  const CommandArguments right = [] {
    CommandArguments given{OptionValues("leases"), {}};
    given.options.set("node", "=");
    return given;
  }();
  CommandArguments named{OptionValues("leases"), {}};
  named.options.set("node", "gpu7");
  const auto clock = make_real_clock();
  std::ostringstream out, err;
  CommandContext context{out, err, false, *clock, {}};

  EXPECT_EQ(kLeasesCommand.run(right, context).error().code, ErrorCode::kUsage);
  EXPECT_EQ(kLeasesCommand.run(named, context).error().code, ErrorCode::kIo) << "test(1) says no";
  ::setenv("HYPERMILE_REMOTE", "true", 1);
  EXPECT_TRUE(kLeasesCommand.run(named, context).ok());
  ::unsetenv("HYPERMILE_REMOTE");
}

}  // namespace
}  // namespace hypermile
