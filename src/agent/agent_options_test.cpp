// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_options.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Result<AgentOptions> parse(const std::vector<std::string>& words) {
  return parse_agent_options(words, [](std::string_view) { return std::nullopt; });
}

TEST(AgentOptionsTest, ReadsWhatThePluginWrites) {
  const auto options =
      parse({"--job", "12.0", "--nodes", "n[0-3]", "--node", "#2", "--max-slowdown", "3%", "--log",
             "/tmp/%j-%n.jsonl", "--address", "10.0.0.%i", "--ports", "30000-30099"});

  ASSERT_TRUE(options) << options.error().line();
  EXPECT_EQ(options->self, 2U);
  EXPECT_EQ(*options->log, "/tmp/12.0-n2.jsonl");
  EXPECT_DOUBLE_EQ(*options->objective.max_slowdown, 0.03);
  EXPECT_TRUE(agent_address(*options, 3).starts_with("10.0.0.3:300"));
}

TEST(AgentOptionsTest, EveryAgentWorksOutTheSameAddresses) {
  const auto first = parse({"--job", "12.0", "--nodes", "a,b", "--node", "a"});
  const auto second = parse({"--job", "12.0", "--nodes", "a,b", "--node", "b"});
  const auto other = parse({"--job", "12.1", "--nodes", "a,b", "--node", "a"});

  EXPECT_EQ(agent_address(*first, 0), agent_address(*second, 0));
  EXPECT_NE(agent_address(*first, 0), agent_address(*first, 1));
  EXPECT_NE(agent_address(*first, 0), agent_address(*other, 0));
}

TEST(AgentOptionsTest, TakesTheHostsFromTorchrunAndLearnsWhereTheyAre) {
  const auto options =
      parse({"--nodes-from", "torchrun", "--secret-file", "/s", "--", "torchrun", "--nnodes=3",
             "--node-rank=1", "--master-addr=10.0.0.1", "train.py", "--observe"});

  ASSERT_TRUE(options) << options.error().line();
  EXPECT_EQ(options->nodes.size(), 3U);
  EXPECT_EQ(options->self, 1U);
  EXPECT_FALSE(options->observe) << "that is an option of the job";
  EXPECT_TRUE(agent_address(*options, 0).starts_with("10.0.0.1:"));
  EXPECT_EQ(agent_address(*options, 2), "") << "the first host tells";
  EXPECT_TRUE(listening_address(*options).starts_with("[::]:"));
}

TEST(AgentOptionsTest, WithoutASecretItListensOnTheLoopbackAlone) {
  const std::vector<std::string> beyond = {"--nodes-from",  "torchrun",    "--",
                                           "torchrun",      "--nnodes=2",  "--node-rank=0",
                                           "--master-addr", "gpu1.cluster"};
  std::vector<std::string> here = beyond;
  here.back() = "127.0.0.1";

  const auto refused = parse(beyond);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  const auto options = parse(here);
  ASSERT_TRUE(options) << options.error().line();
  EXPECT_TRUE(listening_address(*options).starts_with("127.0.0.1:"));
}

TEST(AgentOptionsTest, RefusesWhatMakesNoSense) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{}, Words{"--job", "1.0", "--nodes", "a", "--node", "b"},
        Words{"--job", "1.0", "--nodes", "a", "--node", "#1"}, Words{"--job"},
        Words{"--job", "1.0", "--nodes", "a[", "--node", "a"}, Words{"--what", "x"},
        Words{"--job", "1.0", "--nodes", "a", "--node", "a", "--ports", "9-8"},
        Words{"--job", "1.0", "--nodes", "a", "--node", "a", "--", "train"},
        Words{"--nodes-from", "mpirun", "--", "mpirun"}, Words{"--nodes-from", "torchrun"},
        Words{"--job", "1.0", "--nodes", "a", "--node", "a", "--max-slowdown", "fast"}}) {
    EXPECT_FALSE(parse(words));
  }
}

}  // namespace
}  // namespace hypermile
