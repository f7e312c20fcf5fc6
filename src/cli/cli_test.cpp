// SPDX-License-Identifier: Apache-2.0
//
// The command line as people and scripts see it: exit codes, streams, messages. Time is virtual.
#include "cli/cli.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/terminal_text.h"
#include "record/event.h"
#include "testing/cli_fixture.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

using Cli = BareMachineTest;

TEST_F(Cli, WithoutACommandIsBadUsageAndShowsWhatThereIs) {
  EXPECT_EQ(run({}), 2);
  EXPECT_NE(err().find("doctor"), std::string::npos);
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_NE(out().find("monitor"), std::string::npos);
}

TEST_F(Cli, HelpShowsHowACommandIsCalled) {
  EXPECT_EQ(run({"run", "--help"}), 0);
  const std::string help = out();
  EXPECT_NE(help.find("hypermile run [OPTIONS] -- COMMAND [ARGUMENTS]"), std::string::npos);
  EXPECT_EQ(help.find("sim:rtx3080ti (simulate)"), std::string::npos) << "of other commands";
  EXPECT_EQ(run({"help", "run"}), 0);
  EXPECT_EQ(out(), help);
  EXPECT_EQ(run({"help", "rnu"}), 2);
}

// Lines of a text that an 80-column terminal would break.
std::vector<std::string> too_wide(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    if (columns(line) > 80) lines.push_back(line);
  }
  return lines;
}

TEST_F(Cli, HelpAndListsFitATerminal) {
  for (const Command* command : all_commands()) {
    EXPECT_EQ(run({std::string(command->name), "--help"}), 0);
    EXPECT_EQ(too_wide(out()), std::vector<std::string>()) << command->name;
  }
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_EQ(too_wide(out()), std::vector<std::string>());
  EXPECT_EQ(run({"list"}), 0);
  EXPECT_EQ(too_wide(out()), std::vector<std::string>());
  EXPECT_EQ(run({"doctor", "--gpu", "sim:h200", "--watch", "0.1s"}), 0) << err();
  const std::string last = "clocks can be changed by you: ";  // one line, for scripts
  EXPECT_EQ(too_wide(out().substr(0, out().find(last))), std::vector<std::string>());
}

TEST_F(Cli, HelpOfACommandTellsNothingOfOthers) {
  EXPECT_EQ(run({"run", "--help"}), 0);
  for (const char* other : {"(run, attach)", "evaluate", "simulate takes", "5000"})
    EXPECT_EQ(out().find(other), std::string::npos) << other << "\n" << out();
  EXPECT_EQ(run({"statement", "--help"}), 0);
  EXPECT_EQ(out().find("trained model"), std::string::npos) << out();
}

TEST_F(Cli, ListsWhatOptionsCanName) {
  EXPECT_EQ(run({"list"}), 0);
  const std::string all = out();
  for (const char* name : {"gpoeo", "resnet50", "sim:h200", "bert-base"})
    EXPECT_NE(all.find(name), std::string::npos) << name;
  EXPECT_EQ(run({"list", "policies", "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out())["policies"][0]["name"], "hypermile");
  EXPECT_EQ(run({"list", "polices"}), 2);
  EXPECT_NE(err().find("did you mean policies?"), std::string::npos) << err();
}

TEST_F(Cli, RunsOnlyWhatStandsAfterTheDashes) {
  EXPECT_EQ(run({"run", "--observe"}), 2);
  EXPECT_EQ(err(),
            "hypermile: no command was given; put it after --: hypermile run -- python train.py\n");
  EXPECT_EQ(run({"run", "--observe", "python", "train.py"}), 2);
  EXPECT_EQ(
      err(),
      "hypermile: unexpected argument 'python'; put -- before the command: hypermile run … -- "
      "python\n");
  EXPECT_EQ(run({"run", "--obsrve", "--", "true"}), 2);
  EXPECT_EQ(err(), "hypermile: unknown option '--obsrve'; did you mean --observe?\n");
}

TEST_F(Cli, RefusesNumbersThatNoRunCouldEnd) {
  EXPECT_EQ(run({"evaluate", "--repeat", "2000000000", "nothing.csv"}), 2);
  EXPECT_EQ(err(), "hypermile: --repeat: expected 10000 or less, got '2000000000'\n");
  EXPECT_EQ(run({"simulate", "--gpus", "2000000000"}), 2);
}

TEST_F(Cli, PrintsNothingThatSteersATerminal) {
  const ScratchFolder folder;
  const std::string path = folder.file("steer.jsonl");
  RunStart start;
  start.command = {"\x1b]0;owned\x07",
                   "\xc2\x9b"
                   "2J"};
  RunEnd end;
  end.summary = {"saved \x1b[2J nothing", "\x1b]52;c;eA==\x07"};
  std::ofstream(path) << to_json_line({Instant(), start}) << "\n"
                      << to_json_line({Instant(), end}) << "\n";

  EXPECT_EQ(run({"report", path, "--text"}), 0);
  const std::string text = out();
  EXPECT_NE(text.find("saved ?[2J nothing"), std::string::npos) << text;
  for (const char* sequence : {"\x1b", "\x07", "\xc2\x9b"})
    EXPECT_EQ(text.find(sequence), std::string::npos);
  EXPECT_EQ(run({"report", "/nowhere/\x1b[2J"}), 1);
  EXPECT_EQ(err().find('\x1b'), std::string::npos);
}

TEST_F(Cli, SaysWhatIsWrongWithARunBeforeItsJobStarts) {
  EXPECT_EQ(run({"run", "--policy", "hypermil", "--", "false"}), 2);
  EXPECT_EQ(err(), "hypermile: --policy: unknown policy 'hypermil'; did you mean hypermile?\n");
  EXPECT_EQ(run({"run", "--policy", "hypermile,zeus", "--", "false"}), 2);
  EXPECT_EQ(err(),
            "hypermile: --policy: one job follows one policy, got 'hypermile,zeus'; name one, for "
            "example hypermile\n");
  EXPECT_EQ(run({"run", "--knobs", "fan", "--", "false"}), 2);
  EXPECT_NE(err().find("--knobs: unknown knob 'fan'"), std::string::npos);
  EXPECT_EQ(run({"run", "--policy", "fixed:fast", "--", "false"}), 2);
}

TEST_F(Cli, ADryRunSaysWhatWouldBeDoneAndRunsNothing) {
  EXPECT_EQ(run({"run", "--dry-run", "--max-slowdown", "2%", "--knobs", "sm", "--gpu", "sim:h200",
                 "--", "no-such-command"}),
            0);
  EXPECT_NE(out().find("job         no-such-command\n"), std::string::npos) << out();
  EXPECT_NE(out().find("H200"), std::string::npos);
  EXPECT_NE(out().find("energy, at most 2.0 % slower"), std::string::npos);
  EXPECT_NE(out().find("policy      hypermile over sm\n"), std::string::npos);
  EXPECT_EQ(run({"run", "--dry-run", "--json", "--observe", "--", "true"}), 0);
  const auto j = nlohmann::json::parse(out());
  EXPECT_TRUE(j["observe"].get<bool>());
  EXPECT_NE(j["no_gpu"].get<std::string>().find("management library"), std::string::npos);
}

TEST_F(Cli, AttachNeedsAJobThatRuns) {
  EXPECT_EQ(run({"attach"}), 2);
  EXPECT_NE(err().find("--pid"), std::string::npos);
  EXPECT_EQ(run({"attach", "--pid", "999999999"}), 1);
  EXPECT_NE(err().find("there is no process"), std::string::npos);
}

TEST_F(Cli, SuggestsTheNearestCommandAndOption) {
  EXPECT_EQ(run({"doctr"}), 2);
  EXPECT_EQ(err(), "hypermile: unknown command 'doctr'; did you mean doctor?\n");
  EXPECT_EQ(run({"monitor", "--secnds", "3"}), 2);
  EXPECT_EQ(err(), "hypermile: unknown option '--secnds'; did you mean --seconds?\n");
  EXPECT_EQ(run({"monitor", "--secnds=3"}), 2);
  EXPECT_EQ(err(), "hypermile: unknown option '--secnds'; did you mean --seconds?\n");
}

TEST_F(Cli, SaysWhatWasExpectedOfAValue) {
  EXPECT_EQ(run({"monitor", "--seconds", "soon"}), 2);
  EXPECT_EQ(err(),
            "hypermile: --seconds: expected a duration such as 20ms, 1.5s or 100s, got 'soon'\n");
  EXPECT_EQ(run({"demo", "extra"}), 2);
  EXPECT_EQ(err(), "hypermile: unexpected argument 'extra'; see 'hypermile demo --help'\n");
}

TEST_F(Cli, EveryCommandHasHelpWithExamples) {
  for (const char* command :
       {"doctor", "monitor", "evaluate", "simulate", "demo", "leases", "reset"}) {
    EXPECT_EQ(run({command, "--help"}), 0);
    EXPECT_NE(out().find("examples:"), std::string::npos) << command;
    EXPECT_NE(out().find("--json"), std::string::npos) << command;
    EXPECT_EQ(err(), "");
  }
}

TEST_F(Cli, WithoutADriverOneLineSaysSoAndWhatToDo) {
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"monitor"}, {"monitor", "--gpu", "0"}, {"doctor"}}) {
    EXPECT_EQ(run(call), 1);
    EXPECT_EQ(std::ranges::count(err(), '\n'), 1) << err();
    EXPECT_NE(err().find("; "), std::string::npos) << "a remedy: " << err();
  }
}

TEST_F(Cli, DoctorReportsEvenWithoutAGpu) {
  EXPECT_EQ(run({"doctor", "--json"}), 1);

  const auto report = nlohmann::json::parse(out());
  EXPECT_EQ(report["checks"][0]["name"], "driver");
  EXPECT_EQ(report["checks"][0]["verdict"], "fail");
  EXPECT_TRUE(report["gpus"].empty());
}

TEST_F(Cli, DoctorExaminesAReplayedGpu) {
  EXPECT_EQ(run({"doctor", "--json", "--gpu", "replay:" + sweep_ + "#Demo GPU/resnet50"}), 0);

  const auto gpu = nlohmann::json::parse(out())["gpus"][0];
  EXPECT_EQ(gpu["name"], "Demo GPU");
  bool energy = false;
  for (const auto& sensor : gpu["sensors"]) {
    if (sensor["name"] != "energy") continue;
    energy = true;
    EXPECT_NEAR(sensor["refresh_s"].get<double>(), 0.1, 0.01);
  }
  EXPECT_TRUE(energy);
}

TEST_F(Cli, MonitorWatchesAReplayedGpu) {
  EXPECT_EQ(run({"monitor", "--gpu", "replay:" + sweep_ + "#Demo GPU/resnet50", "--seconds", "5s",
                 "--json"}),
            0);

  const auto report = nlohmann::json::parse(out());
  EXPECT_EQ(report["intervals"].size(), 5U);
  EXPECT_NEAR(report["energy_j"].get<double>(), 420 * 5, 420 * 5 * 0.05);
  EXPECT_NEAR(report["intervals"][0]["time_per_iteration_s"].get<double>(), 0.06, 0.006);
}

TEST_F(Cli, MonitorPrintsALineAnIntervalAndASum) {
  EXPECT_EQ(run({"monitor", "--gpu", "replay:" + sweep_ + "#Demo GPU/resnet50", "--seconds", "3s"}),
            0);
  EXPECT_EQ(std::ranges::count(out(), '\n'), 1 + 1 + 3 + 1) << out();
}

TEST_F(Cli, MonitorsASimulatedGpuUnderItsJob) {
  EXPECT_EQ(run({"monitor", "--gpu", "sim:h200", "--seconds", "3s"}), 0);

  EXPECT_NE(out().find("NVIDIA H200"), std::string::npos);
  EXPECT_NE(out().find("1980"), std::string::npos);
}

TEST_F(Cli, NamesTheNearestSimulatedGpus) {
  EXPECT_EQ(run({"monitor", "--gpu", "sim:h2000"}), 2);

  EXPECT_NE(err().find("did you mean h200"), std::string::npos) << err();
}

TEST_F(Cli, UnknownReplayedJobsGetTheNearestNames) {
  EXPECT_EQ(run({"monitor", "--gpu", "replay:" + sweep_ + "#Demo GPU/resnet5"}), 2);
  EXPECT_NE(err().find("did you mean Demo GPU/resnet50"), std::string::npos) << err();
  EXPECT_EQ(run({"monitor", "--gpu", "replay:/nonexistent.csv#a/b"}), 1);
  EXPECT_EQ(run({"monitor", "--gpu", "banana"}), 2);
}

TEST_F(Cli, LeasesSaysThatNoDaemonServes) {
  EXPECT_EQ(run({"leases"}), 1);
  EXPECT_EQ(err(),
            "hypermile: no daemon serves /nonexistent/hypermiled.sock; see 'hypermile doctor'\n");
}

TEST_F(Cli, ResetWantsToBeToldWhat) {
  EXPECT_EQ(run({"reset"}), 2);
  EXPECT_NE(err().find("--gpu G or --all"), std::string::npos) << err();
  EXPECT_EQ(run({"reset", "--all", "--gpu", "0"}), 2);
  EXPECT_EQ(run({"reset", "--all", "--reopen"}), 2);
  EXPECT_EQ(run({"reset", "--reopen"}), 1) << "there is no daemon to open";
}

TEST_F(Cli, DoctorSaysHowTheDaemonIs) {
  EXPECT_EQ(run({"doctor", "--json", "--gpu", "sim:h200"}), 0) << err();

  const auto checks = nlohmann::json::parse(out())["checks"];
  const auto daemon =
      std::ranges::find_if(checks, [](const auto& check) { return check["name"] == "daemon"; });
  ASSERT_NE(daemon, checks.end());
  EXPECT_NE((*daemon)["detail"].get<std::string>().find("no daemon"), std::string::npos);
}

TEST_F(Cli, DoctorEndsWithOneAnswer) {
  EXPECT_EQ(run({"doctor", "--gpu", "sim:h200", "--watch", "0.1s"}), 0) << err();
  const std::size_t last = out().rfind('\n', out().size() - 2);
  EXPECT_TRUE(out().substr(last + 1).starts_with("clocks can be changed by you: ")) << out();

  EXPECT_EQ(run({"doctor"}), 1);
  EXPECT_NE(out().find("clocks can be changed by you: no, because there is no GPU"),
            std::string::npos)
      << out();
}

TEST_F(Cli, DoctorTriesNothingWithoutRightsCardOrConsent) {
  EXPECT_EQ(run({"doctor", "--try", "--yes", "--gpu", "sim:h200"}), 2);
  EXPECT_NE(err().find("no setters to try"), std::string::npos) << err();
  EXPECT_EQ(run({"doctor", "--try", "--yes"}), 1);
  EXPECT_NE(err().find("there is no GPU to try"), std::string::npos) << err();
  ::setenv("HYPERMILE_READ_ONLY", "1", 1);
  EXPECT_EQ(run({"doctor", "--try", "--yes"}), 1);
  ::unsetenv("HYPERMILE_READ_ONLY");
  EXPECT_NE(err().find("HYPERMILE_READ_ONLY is set"), std::string::npos) << err();
}

TEST_F(Cli, ReadsOptionsFromAConfigurationFile) {
  const ScratchFolder folder;
  const std::string path = folder.file("cli.toml");
  std::ofstream(path) << "[monitor]\ngpu = 'replay:" << sweep_
                      << "#Demo GPU/resnet50'\nseconds = '2s'\njson = true\n";

  EXPECT_EQ(run({"monitor", "--config", path}), 0) << err();

  EXPECT_EQ(nlohmann::json::parse(out())["intervals"].size(), 2U);
}

}  // namespace
}  // namespace hypermile
