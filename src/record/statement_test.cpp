// SPDX-License-Identifier: Apache-2.0
#include "record/statement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "record/event.h"

namespace hypermile {
namespace {

struct LoggedRun {
  std::string id = "1";
  std::string host = "node1";
  std::string gpu = "GPU-1";
  double begin = 1000;
  double seconds = 100;
  double joules = 3.6e6;
  bool ended = true;
  std::map<std::string, std::string> more = {};
};

LogTail log_of(const std::vector<LoggedRun>& runs) {
  LogTail log("run.jsonl");
  for (const LoggedRun& run : runs) {
    RunStart start;
    start.run = RunId(run.id);
    start.unix_time = run.begin;
    start.command = {"hypermile", "run", "--", "python", "train.py"};
    start.environment = run.more;
    start.environment["host"] = run.host;
    GpuIdentity card;
    card.uuid = GpuUuid(run.gpu);
    card.name = "NVIDIA H200";
    card.driver_version = "580.95.05";
    start.gpus = {card};
    const auto add = [&](double t, EventBody body) {
      log.add(to_json_line({Instant() + Seconds(t), std::move(body)}) + "\n");
    };
    add(0, start);
    Sample sample;
    sample.time = Instant();
    sample.energy = Joules(500);
    add(0, SampleEvent{card.uuid, sample});
    sample.energy = Joules(500 + run.joules);
    add(run.seconds, SampleEvent{card.uuid, sample});
    if (!run.ended) continue;
    add(run.seconds,
        RunEnd{0, "the job ended", {{"joules", run.joules}, {"seconds", run.seconds}}, {}});
  }
  return log;
}

std::vector<LogTail> logs(std::vector<LoggedRun> first, std::vector<LoggedRun> second = {}) {
  std::vector<LogTail> all;
  all.push_back(log_of(first));
  if (!second.empty()) all.push_back(log_of(second));
  return all;
}

TEST(Statement, RestartsAndNodesAddUp) {
  const auto statement = make_statement(logs({{.id = "1"}, {.id = "2", .begin = 1200}},
                                             {{.id = "1", .host = "node2", .gpu = "GPU-2"}}),
                                        {});
  EXPECT_NEAR(statement.kwh(), 3, 1e-9);
  EXPECT_EQ(statement.runs, 3U);
  EXPECT_EQ(statement.hosts.size(), 2U);
  EXPECT_EQ(statement.gpus.estimated_j, 0);
  ASSERT_EQ(statement.hardware.size(), 1U);
  EXPECT_EQ(statement.hardware.front().gpus, 2U);
  EXPECT_NEAR(statement.gpu_seconds, 300, 1e-9);
}

TEST(Statement, TheRanksOfOneGpuCountOnce) {
  const auto statement = make_statement(
      logs({{.id = "1", .begin = 1000}}, {{.id = "2", .begin = 1000.3, .seconds = 99}}), {});
  EXPECT_NEAR(statement.kwh(), 1, 1e-9);
  EXPECT_EQ(statement.gpus.twice, 1U);
  EXPECT_EQ(statement.gpus.estimated_j, 0);
}

TEST(Statement, ACopyOfALogCountsOnce) {
  const auto statement = make_statement(logs({{.id = "1"}}, {{.id = "1"}}), {});
  EXPECT_NEAR(statement.kwh(), 1, 1e-9);
  EXPECT_EQ(statement.copies, 1U);
}

// Two logs of one run each claim its saving.
TEST(Statement, ASavingCountsAsOftenAsItsEnergy) {
  const MeteredInterval run{0, 100, 1000, false, Estimate{-200, 20}};
  MeteredInterval half = run;
  half.begin = 50;
  half.end = 150;

  EXPECT_EQ(sum_once({run, run}).saved_j->value, -200);
  EXPECT_EQ(sum_once({run, run}).saved_j->half_width95, 20);
  EXPECT_EQ(sum_once({run, half}).saved_j->value, -300);
  EXPECT_FALSE(sum_once({{0, 100, 1000, false}}).saved_j);
}

TEST(Statement, HalfAnOverlapCountsByItsShareAndIsAnEstimate) {
  const auto statement = make_statement(logs({{.id = "1"}}, {{.id = "2", .begin = 1050}}), {});
  EXPECT_NEAR(statement.kwh(), 1.5, 1e-9);
  EXPECT_NEAR(statement.gpus.estimated_j, 0.5 * 3.6e6, 1);
}

TEST(Statement, ALogThatWasCutOffHasAGap) {
  const auto statement = make_statement(logs({{.ended = false}}), {});
  EXPECT_NEAR(statement.kwh(), 1, 1e-9);
  EXPECT_EQ(statement.cut_off, 1U);
  EXPECT_NE(to_markdown(statement).find("1 run without an end"), std::string::npos);
}

TEST(Statement, TheTariffOfTheCommandLineWins) {
  const std::map<std::string, std::string> logged = {{"carbon_g_per_kwh", "56"},
                                                     {"carbon_source", "France in 2023"}};
  EXPECT_EQ(to_json(make_statement(logs({{.more = logged}}), {}))["co2e_kg"], 0.056);
  const Tariff given{Price{0.3, "EUR"}, CarbonIntensity{400, "as given"}};
  const auto j = to_json(make_statement(logs({{.more = logged}}), given));
  EXPECT_EQ(j["co2e_kg"], 0.4);
  EXPECT_EQ(j["cost"], 0.3);
  EXPECT_FALSE(j.contains("host_kwh")) << "what was not measured is not there";
}

TEST(Statement, OfSeveralTariffsTheNewestIsUsedAndThatIsSaid) {
  const auto priced = [](const char* price) {
    return std::map<std::string, std::string>{{"price_per_kwh", price}, {"currency", "EUR"}};
  };
  const auto all = logs({{.id = "2", .begin = 2000, .more = priced("0.2")},
                         {.id = "1", .begin = 1000, .more = priced("0.4")}});

  const EnergyStatement statement = make_statement(all, {});
  EXPECT_NEAR(to_json(statement)["cost"].get<double>(), 0.4, 1e-12);
  EXPECT_NE(to_markdown(statement).find("those of the newest are used"), std::string::npos);

  const auto told = to_markdown(make_statement(all, {Price{0.3, "EUR"}, std::nullopt}));
  EXPECT_NE(told.find("0.6000 EUR, at 0.3 EUR/kWh"), std::string::npos) << told;
  EXPECT_EQ(told.find("newest"), std::string::npos);
}

TEST(Statement, SaysWhetherASavingIsAnInterval) {
  EnergyStatement statement;
  statement.gpus.saved_j = Estimate{3.6e6};
  EXPECT_NE(to_markdown(statement).find("| saved against default clocks | 1.000 kWh, which"),
            std::string::npos);
  statement.gpus.saved_j = Estimate{-3.6e6, 3.6e5};
  EXPECT_NE(to_markdown(statement).find(
                "| used more than at default clocks | 1.000 ± 0.1000 kWh (95 % interval), which"),
            std::string::npos);
}

TEST(Statement, SimulatedRunsAreNoMeasurement) {
  const auto text = to_markdown(make_statement(logs({{.more = {{"simulated", "true"}}}}), {}));
  EXPECT_NE(text.find("1 of 1 run simulated: this is no measurement"), std::string::npos);
}

TEST(Statement, PrintsNoTextOfALogThatSteersATerminalOrLeavesItsCell) {
  const std::map<std::string, std::string> hostile = {{"carbon_g_per_kwh", "56"},
                                                      {"carbon_source", "a\x1b[2J | b\n# c"}};
  const auto text = to_markdown(make_statement(logs({{.more = hostile}}), {}));
  EXPECT_NE(text.find("(a?[2J \\| b?# c) |\n"), std::string::npos) << text;
}

TEST(Statement, WritesSmallAmountsInFull) {
  const auto text = to_markdown(make_statement(logs({{.joules = 36}}), {}));
  EXPECT_NE(text.find("**0.00001000 kWh**"), std::string::npos) << text;
}

}  // namespace
}  // namespace hypermile
