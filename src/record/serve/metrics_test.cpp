// SPDX-License-Identifier: Apache-2.0
#include "record/serve/metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hypermile {
namespace {

TEST(Metrics, TellLittleWhereNothingIsKnown) {
  const std::string text = Metrics({}, {}, {}, 0).text();

  EXPECT_NE(text.find("hypermile_build_info{version="), std::string::npos);
  EXPECT_NE(text.find("hypermile_daemon_up 0\n"), std::string::npos);
  EXPECT_EQ(text.find("hypermile_gpu_power_watts"), std::string::npos);
}

TEST(Metrics, AreReadWithoutChangingThem) {
  RunDigest run(8, 8);
  Sample sample;
  sample.energy = Joules(100);
  run.add({Instant(), SampleEvent{GpuUuid("GPU-1"), sample}});
  sample.energy = Joules(350);
  run.add({Instant(), SampleEvent{GpuUuid("GPU-1"), sample}});
  const RunDigest* const runs[] = {&run};
  const Metrics metrics(runs, runs, {}, 0);

  const std::string first = metrics.text();

  EXPECT_EQ(metrics.text(), first);
  EXPECT_NE(first.find("hypermile_gpu_energy_joules_total{gpu=\"GPU-1\",index=\"\",run=\"\"} 250"),
            std::string::npos)
      << first;
}

TEST(Metrics, HaveAHistogramOfTheDriversCallsOfEachKind) {
  RunDigest run(8, 8);
  const GpuUuid gpu("GPU-1");
  run.add({Instant(), DriverCalls{gpu, {{"read", {{0.001, 0.1}, {1, 0, 0}, 0.0005}}}}});
  run.add({Instant(), DriverCalls{gpu, {{"read", {{0.001, 0.1}, {7, 2, 1}, 0.25}}}}});
  const RunDigest* const runs[] = {&run};

  const std::string text = Metrics(runs, runs, {}, 0).text();

  const std::string name = "hypermile_nvml_call_duration_seconds";
  const std::string labels = "{call=\"read\",gpu=\"GPU-1\",index=\"\",run=\"\"";
  for (const std::string& line :
       {name + "_count" + labels + "} 10\n", name + "_sum" + labels + "} 0.25\n",
        name + "_bucket" + labels + ",le=\"0.001\"} 7\n",
        name + "_bucket" + labels + ",le=\"+Inf\"} 10\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

TEST(Metrics, LeaveOutAHistogramThatIsNone) {
  RunDigest run(8, 8);
  const GpuUuid gpu("GPU-1");
  run.add({Instant(), DriverCalls{gpu,
                                  {{"short", {{0.001, 0.1}, {7}, 0.25}},
                                   {"unsorted", {{0.1, 0.001}, {7, 2, 1}, 0.25}},
                                   {"none", {{}, {}, 0}}}}});
  const RunDigest* const runs[] = {&run};

  EXPECT_EQ(Metrics(runs, runs, {}, 0).text().find("nvml_call"), std::string::npos);
}

TEST(Metrics, ReferencePageIsInStep) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  std::ifstream file(std::string(source) + "/docs/reference/metrics.md");
  std::ostringstream page;
  page << file.rdbuf();

  EXPECT_EQ(page.str(), metrics_reference())
      << "run: build/bin/hypermile --metrics-markdown > docs/reference/metrics.md";
}

TEST(Metrics, SumsRunsByUserAndHost) {
  const auto run_of = [](const char* user, const char* host, double joules) {
    RunDigest run(8, 8);
    RunStart start;
    start.environment = {{"user", user}, {"host", host}};
    run.add({Instant(), start});
    run.add({Instant() + Seconds(1), RunEnd{0, "", {{"joules", joules}, {"seconds", 1}}, {}}});
    return run;
  };
  const RunDigest a = run_of("ann", "node1", 100), b = run_of("ann", "node1", 50),
                  c = run_of("bob", "node2", 7);
  const std::vector<const RunDigest*> all = {&a, &b, &c};
  const std::string text = Metrics({}, all, {}, 0).text();
  EXPECT_NE(text.find("hypermile_user_joules{host=\"node1\",user=\"ann\"} 150"), std::string::npos)
      << text;
  EXPECT_NE(text.find("hypermile_user_runs{host=\"node2\",user=\"bob\"} 1"), std::string::npos);
}

TEST(Metrics, CountACopyOfALogOnce) {
  const auto run_of = [](const char* id, double seconds) {
    RunDigest run(8, 8);
    RunStart start;
    start.run = RunId(id);
    start.environment = {{"user", "ann"}, {"host", "node1"}};
    run.add({Instant(), start});
    run.add({Instant() + Seconds(seconds),
             RunEnd{0, "", {{"joules", 100 * seconds}, {"seconds", seconds}}, {}}});
    return run;
  };
  const RunDigest cut = run_of("1", 1), whole = run_of("1", 2), other = run_of("2", 3);
  const std::vector<const RunDigest*> all = {&cut, &whole, &other};
  const std::string text = Metrics(all, all, {}, 0).text();
  EXPECT_NE(text.find("hypermile_user_joules{host=\"node1\",user=\"ann\"} 500"), std::string::npos)
      << text;
  EXPECT_NE(text.find("hypermile_user_runs{host=\"node1\",user=\"ann\"} 2"), std::string::npos);
  EXPECT_NE(text.find("user=\"ann\"} 1\n"), std::string::npos) << "of hypermile_run_info";
}

TEST(Metrics, TellMoneyAndCarbonWhereTheyAreKnown) {
  RunDigest run(8, 8);
  RunStart start;
  start.run = RunId("1");
  start.environment = {{"price_per_kwh", "0.3"}, {"currency", "EUR"}, {"carbon_g_per_kwh", "400"}};
  run.add({Instant(), start});
  run.add({Instant() + Seconds(1),
           RunEnd{0, "", {{"joules", 3.6e6}, {"seconds", 1}, {"host_joules", 1.8e6}}, {}}});
  const std::vector<const RunDigest*> runs = {&run};
  const std::string text = Metrics(runs, {}, {}, 0).text();
  EXPECT_NE(text.find("hypermile_job_cost{currency=\"EUR\",run=\"1\"} 0.45"), std::string::npos)
      << text;
  EXPECT_NE(text.find("hypermile_job_co2e_grams{run=\"1\"} 600"), std::string::npos);
  EXPECT_NE(text.find("hypermile_job_host_joules{run=\"1\"} 1800000"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
