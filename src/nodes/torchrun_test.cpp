// SPDX-License-Identifier: Apache-2.0
#include "nodes/torchrun.h"

#include <gtest/gtest.h>

#include <map>

namespace hypermile {
namespace {

using Words = std::vector<std::string>;

Result<TorchrunJob> read(const Words& command,
                         const std::map<std::string, std::string, std::less<>>& variables = {}) {
  return read_torchrun(command, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

TEST(TorchrunTest, ReadsTheHostsFromTheCommandInBothSpellings) {
  for (const Words& command :
       {Words{"torchrun", "--nnodes=4", "--node_rank=2", "--master_addr=10.0.0.1",
              "--master_port=29501", "train.py"},
        Words{"torchrun", "--nnodes", "4:4", "--node-rank", "2", "--master-addr", "10.0.0.1",
              "--master-port", "29501", "train.py"}}) {
    const auto job = read(command);

    ASSERT_TRUE(job) << job.error().line();
    EXPECT_EQ(job->nodes, 4U);
    EXPECT_EQ(job->self, 2U);
    EXPECT_EQ(job->master, "10.0.0.1");
    EXPECT_EQ(job->job, "torchrun-29501");
  }
}

TEST(TorchrunTest, ReadsVariablesAndARendezvousWhereTheCommandDoesNotTell) {
  const auto job = read({"torchrun", "--rdzv-endpoint=gpu1:4000", "--rdzv_id", "run 7", "train.py"},
                        {{"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"MASTER_ADDR", "other"}});

  ASSERT_TRUE(job) << job.error().line();
  EXPECT_EQ(job->nodes, 2U);
  EXPECT_EQ(job->self, 1U);
  EXPECT_EQ(job->master, "gpu1");
  EXPECT_EQ(job->job, "torchrun-run-7");
}

TEST(TorchrunTest, OneHostNeedsNothing) {
  const auto job = read({"torchrun", "--standalone", "--nproc-per-node=8", "train.py"});

  ASSERT_TRUE(job);
  EXPECT_EQ(job->nodes, 1U);
  EXPECT_EQ(job->self, 0U);
}

TEST(TorchrunTest, RefusesHostsThatCannotBeToldApartOrMet) {
  EXPECT_FALSE(read({"torchrun", "--nnodes=2", "--master-addr=a", "train.py"}));
  EXPECT_FALSE(read({"torchrun", "--nnodes=2", "--node-rank=0", "train.py"}));
  EXPECT_FALSE(read({"torchrun", "--nnodes=1:4", "--node-rank=0", "--master-addr=a", "x"}));
  EXPECT_FALSE(read({"torchrun", "--nnodes=2", "--node-rank=2", "--master-addr=a", "x"}));
  EXPECT_FALSE(read({"torchrun", "--nnodes=two", "--node-rank=0", "--master-addr=a", "x"}));
}

}  // namespace
}  // namespace hypermile
