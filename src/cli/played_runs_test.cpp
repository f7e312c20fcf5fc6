// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of `demo`, `evaluate` and `simulate` in virtual time, as people and scripts see them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "testing/cli_fixture.h"
#include "testing/logged_events.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

using PlayedRuns = BareMachineTest;

// Requests a stop, as Ctrl-C does, once a word was written.
class StopAtWord final : public std::stringbuf {
 public:
  StopAtWord(std::string word, std::stop_source& stop) : word_(std::move(word)), stop_(stop) {}
  int sync() override {
    if (str().find(word_) != std::string::npos) stop_.request_stop();
    return 0;
  }

 private:
  std::string word_;
  std::stop_source& stop_;
};

struct Interrupted {
  int code = 0;
  std::string out, err;
};

// On a terminal, where live lines name the policy that runs. An empty word stops at once.
Interrupted interrupt_at(const std::string& word, const std::vector<std::string>& arguments) {
  std::stop_source stop;
  if (word.empty()) stop.request_stop();
  StopAtWord buffer(word, stop);
  std::ostream err(&buffer);
  std::ostringstream out;
  VirtualClock clock(1.7e9);
  CommandContext context{out, err, true, clock, stop.get_token()};
  const int code = run_cli(arguments, context);
  return {code, out.str(), buffer.str()};
}

TEST_F(PlayedRuns, DemoComparesThreePoliciesAndKeepsALogThatSaysTheSame) {
  const ScratchFolder folder;
  const std::string log = folder.file("demo.jsonl");

  ASSERT_EQ(run({"demo", "--json", "--log", log}), 0) << err();

  const auto runs = nlohmann::json::parse(out())["runs"];
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0]["policy"], "default");
  EXPECT_EQ(runs[0]["saved_pct"].get<double>(), 0);
  EXPECT_EQ(runs[1]["policy"], "gpoeo");
  EXPECT_GT(runs[2]["saved_pct"].get<double>(), 2);
  EXPECT_LT(runs[2]["slowdown_pct"].get<double>(), 5.5);
  const LoggedEvents content = events_in_file(log);
  EXPECT_EQ(content.unreadable_lines, 0U);
  ASSERT_FALSE(content.events.empty());
  const auto* end = std::get_if<RunEnd>(&content.events.back().body);
  ASSERT_NE(end, nullptr);
  EXPECT_NEAR(end->totals.at("joules"), runs[2]["joules"].get<double>(), 1e-6);
}

TEST_F(PlayedRuns, DemoShowsATableAndWhatWasSaved) {
  const ScratchFolder folder;
  const std::string page = folder.file("demo.html");

  ASSERT_EQ(run({"demo", "--report", page}), 0) << err();

  EXPECT_NE(out().find("gpoeo"), std::string::npos);
  EXPECT_NE(out().find("(true best)"), std::string::npos);
  EXPECT_NE(out().find("energy saved"), std::string::npos);
  EXPECT_NE(out().find("Simulated, not measured"), std::string::npos);
  if (!std::filesystem::exists(page)) {  // built without npm
    EXPECT_NE(err().find("no report"), std::string::npos) << err();
    return;
  }
  EXPECT_NE(out().find("every decision: " + page + "\n"), std::string::npos) << out();
  EXPECT_EQ(err(), "") << "live lines belong on terminals";
}

TEST_F(PlayedRuns, DemoRepeatsExactlyForOneSeed) {
  ASSERT_EQ(run({"demo", "--json"}), 0);
  const std::string first = out();
  ASSERT_EQ(run({"demo", "--json"}), 0);

  EXPECT_EQ(out(), first);
  ASSERT_EQ(run({"demo", "--json", "--seed", "2"}), 0);
  EXPECT_NE(out(), first);
}

TEST_F(PlayedRuns, DemoSaysWhenItsLogCannotBeWritten) {
  EXPECT_EQ(run({"demo", "--log", "/nonexistent/demo.jsonl"}), 1);
  EXPECT_NE(err().find("/nonexistent/demo.jsonl: cannot open"), std::string::npos) << err();
}

TEST_F(PlayedRuns, DemoThatIsInterruptedClaimsNothing) {
  const Interrupted demo = interrupt_at("gpoeo", {"demo"});

  EXPECT_EQ(demo.code, 130);
  EXPECT_EQ(demo.out.find("saved"), std::string::npos) << demo.out;
  EXPECT_EQ(demo.out.find("energy"), std::string::npos) << demo.out;
  EXPECT_NE(demo.err.find("interrupted; 2 runs were cut off and are not compared"),
            std::string::npos)
      << demo.err;
  EXPECT_EQ(interrupt_at("", {"demo", "--json"}).code, 130);
}

TEST_F(PlayedRuns, SimulateThatIsInterruptedComparesNothingThatWasCutOff) {
  const Interrupted one = interrupt_at("", {"simulate", "--workload", "dcgan"});
  EXPECT_EQ(one.code, 130);
  EXPECT_EQ(one.out, "");
  EXPECT_NE(one.err.find("interrupted"), std::string::npos);

  const Interrupted json = interrupt_at("", {"simulate", "--workload", "dcgan,dlrm", "--json"});
  EXPECT_EQ(json.code, 130);
  EXPECT_TRUE(nlohmann::json::parse(json.out)["runs"].empty());

  const Interrupted joint = interrupt_at("", {"simulate", "--gpus", "2", "--json"});
  EXPECT_EQ(joint.code, 130);
  EXPECT_TRUE(nlohmann::json::parse(joint.out)["runs"].empty());
}

TEST_F(PlayedRuns, EvaluateScoresPoliciesAgainstTheOracle) {
  EXPECT_EQ(run({"evaluate", sweep_, "--policy", "default,oracle,fixed:sm=1680", "--json",
                 "--max-slowdown", "5%", "--repeat", "2"}),
            0)
      << err();

  const auto report = nlohmann::json::parse(out());
  ASSERT_EQ(report["summary"].size(), 3U);
  EXPECT_EQ(report["runs"].size(), 6U);
  EXPECT_NEAR(report["summary"][0]["mean_saved_pct"].get<double>(), 0, 1e-6);
  EXPECT_NEAR(report["summary"][1]["share_of_oracle"].get<double>(), 1, 1e-9);
  EXPECT_EQ(report["runs"][5]["final_setting"], "sm=1680MHz");
}

TEST_F(PlayedRuns, EvaluateNamesWhatItDoesNotKnow) {
  EXPECT_EQ(run({"evaluate", sweep_, "--policy", "bisecton"}), 2);
  EXPECT_NE(err().find("did you mean bisection"), std::string::npos) << err();
  EXPECT_EQ(run({"evaluate", sweep_, "--knobs", "fan"}), 2);
  EXPECT_EQ(run({"evaluate", sweep_, "--objective", "ed3p"}), 2);
  EXPECT_EQ(run({"evaluate"}), 2);
  EXPECT_EQ(run({"evaluate", "/nonexistent.csv"}), 1);
}

TEST_F(PlayedRuns, SimulateComparesPoliciesOnOneJob) {
  ASSERT_EQ(run({"simulate", "--gpu", "sim:rtx3080ti", "--workload", "vgg16", "--iterations",
                 "1500", "--policy", "default,oracle,fixed:sm=1200", "--json"}),
            0)
      << err();

  const auto report = nlohmann::json::parse(out());
  EXPECT_TRUE(report["simulated"].get<bool>());
  ASSERT_EQ(report["runs"].size(), 3U);
  EXPECT_EQ(report["summary"].size(), 3U);
  EXPECT_EQ(report["runs"][1]["final_setting"], report["runs"][1]["oracle_setting"]);
  EXPECT_GT(report["runs"][1]["saved_pct"].get<double>(), 0);
  EXPECT_GT(report["runs"][2]["slowdown_pct"].get<double>(), 5);
  EXPECT_TRUE(report["runs"][2]["violated_job"].get<bool>());
  EXPECT_GT(report["runs"][2]["kept"]["time_per_iteration_s"]["mean"].get<double>(),
            report["runs"][0]["baseline"]["time_per_iteration_s"]["mean"].get<double>());
}

TEST_F(PlayedRuns, SimulateShowsAPersonTheDefaultBesideWhatTheyAskedFor) {
  ASSERT_EQ(run({"simulate", "--workload", "dcgan", "--iterations", "1000", "--policy", "oracle"}),
            0)
      << err();

  EXPECT_NE(out().find("\ndefault "), std::string::npos) << out();
  EXPECT_NE(out().find("\noracle "), std::string::npos);
  EXPECT_NE(out().find("(true best)"), std::string::npos);
  EXPECT_NE(out().find(" ± "), std::string::npos) << "errors belong to means";
  EXPECT_NE(out().find("bound 5 %"), std::string::npos);
}

TEST_F(PlayedRuns, SimulateTakesSeveralWorkloadsAndSumsThemUp) {
  ASSERT_EQ(run({"simulate", "--workload", "dlrm,vit_b16", "--iterations", "800", "--policy",
                 "default,bisection"}),
            0)
      << err();

  EXPECT_NE(out().find("dlrm"), std::string::npos);
  EXPECT_NE(out().find("vit_b16"), std::string::npos);
  EXPECT_NE(out().find("share of oracle"), std::string::npos);
}

TEST_F(PlayedRuns, SimulateRepeatsExactlyForOneSeed) {
  const std::vector<std::string> call = {"simulate", "--workload",   "dcgan", "--policy",
                                         "gpoeo",    "--iterations", "1000",  "--json"};
  ASSERT_EQ(run(call), 0) << err();
  const std::string first = out();
  ASSERT_EQ(run(call), 0);

  EXPECT_EQ(out(), first);
  std::vector<std::string> other = call;
  other.insert(other.end(), {"--seed", "2"});
  ASSERT_EQ(run(other), 0);
  EXPECT_NE(out(), first);
}

TEST_F(PlayedRuns, SimulateNamesWhatItDoesNotKnow) {
  EXPECT_EQ(run({"simulate", "--workload", "resnet5"}), 2);
  EXPECT_NE(err().find("resnet50"), std::string::npos) << err();
  EXPECT_EQ(run({"simulate", "--gpu", "sim:rtx3080"}), 2);
  EXPECT_NE(err().find("rtx3080ti"), std::string::npos) << err();
  EXPECT_EQ(run({"simulate", "--gpu", "0"}), 2);
  EXPECT_EQ(run({"simulate", "--policy", "bisecton", "--iterations", "100"}), 2);
  EXPECT_NE(err().find("did you mean bisection"), std::string::npos) << err();
  EXPECT_EQ(run({"simulate", "--iterations", "1", "--policy", "default"}), 2);
  EXPECT_EQ(run({"simulate", "--log", "/nonexistent/run.jsonl"}), 1);
  EXPECT_EQ(std::ranges::count(err(), '\n'), 1) << err();
}

// Characters, not bytes: "±" is one column.
std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, width = 0;
  for (const char c : text) {
    if (c == '\n') {
      width = 0;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      widest = std::max(widest, ++width);
    }
  }
  return widest;
}

TEST_F(PlayedRuns, TablesFitATerminalOf80Columns) {
  for (const std::vector<std::string>& call : {
           std::vector<std::string>{"demo"},
           {"simulate", "--workload", "dcgan", "--iterations", "500", "--policy", "all"},
           {"simulate", "--workload", "dlrm,vit_b16", "--iterations", "300"},
           {"evaluate", sweep_, "--policy", "hypermile,gpoeo", "--repeat", "1"},
           {"monitor", "--gpu", "sim:h200", "--seconds", "2s"},
           {"plan", "resnet50", "--gpu", "sim:a4000"},
       }) {
    ASSERT_EQ(run(call), 0) << err();
    EXPECT_LE(widest_line(out()), call.front() == "simulate" ? 84U : 80U) << out();
  }
}

TEST_F(PlayedRuns, AJobTooShortForTheSearchIsSaidToBe) {
  ASSERT_EQ(run({"simulate", "--gpu", "sim:h200", "--workload", "dcgan", "--iterations", "2000"}),
            0)
      << err();
  EXPECT_NE(out().find("The search of hypermile was not over when the job ended: the job\n"
                       "lasts only 9 s"),
            std::string::npos)
      << out();

  ASSERT_EQ(run({"simulate", "--workload", "resnet50", "--iterations", "3000"}), 0) << err();
  EXPECT_EQ(out().find("was not over"), std::string::npos) << out();
}

TEST_F(PlayedRuns, NoShareIsGivenOfAnOracleThatHardlySaves) {
  const ScratchFolder folder;
  const std::string path = folder.file("flat.csv");
  std::ofstream sweep(path);
  sweep << "gpu,workload,sm_mhz,time_s,power_w,is_default\n";
  for (int i = 0; i <= 8; ++i) {
    sweep << "Card,flat," << 1800 - 100 * i << "," << 0.1 * (1 + 0.06 * i) << "," << 300 - 20 * i
          << "," << (i == 0 ? 1 : 0) << "\n";
  }
  sweep.close();

  ASSERT_EQ(run({"evaluate", path, "--repeat", "1"}), 0) << err();

  EXPECT_NE(out().find("No share is given where the best single setting saves less than 2 %"),
            std::string::npos)
      << out();
  EXPECT_EQ(out().find("(0-0) %"), std::string::npos) << out();
}

}  // namespace
}  // namespace hypermile
