// SPDX-License-Identifier: Apache-2.0
#include "record/serve/run_shelf.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

using json = nlohmann::json;

class RunShelfTest : public testing::Test {
 protected:
  RunShelfTest() : folder_(testing::TempDir() + "shelf-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~RunShelfTest() override { std::filesystem::remove_all(folder_); }

  std::string log(const std::string& name) const { return folder_ + "/" + name; }
  void append(const std::string& name, const EventBody& body, double seconds = 0) const {
    std::ofstream(log(name), std::ios::app)
        << to_json_line({Instant() + Seconds(seconds), body}) << "\n";
  }
  static RunStart start(const std::string& run, double unix_time) {
    RunStart event;
    event.run = RunId(run);
    event.unix_time = unix_time;
    event.command = {"hypermile", "run", "--", run};
    return event;
  }

  std::string folder_;
};

TEST_F(RunShelfTest, ShowsRunsOfAFolderAsTheyAppearRunningOnesFirst) {
  append("a.jsonl", start("old", 1));
  append("a.jsonl", RunEnd{});
  RunShelf shelf({folder_});
  shelf.poll();
  append("b.jsonl", start("new", 2));
  append("c.jsonl", start("first", 0));
  append("notes.txt", start("none", 9));

  shelf.poll();

  const json overview = json::parse(shelf.overview_json());
  ASSERT_EQ(overview.at("runs").size(), 3u);
  EXPECT_EQ(overview.at("runs")[0].at("title"), "new");
  EXPECT_EQ(overview.at("runs")[1].at("title"), "first");
  EXPECT_EQ(overview.at("runs")[2].at("title"), "old");
  EXPECT_FALSE(overview.at("daemon").at("reached"));
}

TEST_F(RunShelfTest, NodesOfOneStepAreOneJob) {
  for (const auto& [node, job] : {std::pair("n0", "12"), {"n1", "12"}, {"n2", "13"}}) {
    RunStart begun = start(node, 1);
    begun.environment = {{"SLURM_JOB_ID", job}, {"SLURM_STEP_ID", "0"}, {"SLURMD_NODENAME", node}};
    append(std::string(node) + ".jsonl", begun);
  }
  append("alone.jsonl", start("alone", 1));
  RunShelf shelf({folder_});
  shelf.poll();

  const json jobs = json::parse(shelf.overview_json()).at("jobs");
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].at("job"), "12.0");
  ASSERT_EQ(jobs[0].at("nodes").size(), 2u);
  EXPECT_EQ(jobs[0].at("nodes")[1].at("node"), "n1");
}

TEST_F(RunShelfTest, SendsARunOnlyWhereItHasChanged) {
  append("a.jsonl", start("run", 1));
  RunShelf shelf({log("a.jsonl")});
  shelf.poll();
  const std::string id = json::parse(shelf.overview_json()).at("runs")[0].at("id");

  const auto first = shelf.run_document(id, "");
  ASSERT_TRUE(first);
  EXPECT_EQ(json::parse(first->json).at("run").at("title"), "run");
  EXPECT_EQ(shelf.run_document(id, first->version)->json, "");
  append("a.jsonl", Drift{GpuUuid("GPU-1"), "power", 1, 2}, 3);
  shelf.poll();

  EXPECT_NE(shelf.run_document(id, first->version)->json, "");
  EXPECT_FALSE(shelf.run_document("no such", ""));
}

TEST_F(RunShelfTest, TellsOfLogsThatCannotBeReadAndGoesOn) {
  std::ofstream(log("foreign.jsonl")) << "step,loss\n";
  append("good.jsonl", start("good", 1));
  RunShelf shelf({log("absent.jsonl"), folder_});

  shelf.poll();

  const json overview = json::parse(shelf.overview_json());
  EXPECT_EQ(overview.at("runs").size(), 1u);
  EXPECT_EQ(overview.at("problems").size(), 2u);
  EXPECT_NE(shelf.metrics_text().find("hypermile_logs_with_problems 2"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
