// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hypermile {
namespace {

TEST(Metrics, TellLittleWhereNothingIsKnown) {
  const std::string text = Metrics({}, {}, 0).text();

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
  const Metrics metrics(runs, {}, 0);

  const std::string first = metrics.text();

  EXPECT_EQ(metrics.text(), first);
  EXPECT_NE(first.find("hypermile_gpu_energy_joules_total{gpu=\"GPU-1\",index=\"\",run=\"\"} 250"),
            std::string::npos)
      << first;
}

TEST(Metrics, ReferencePageIsInStep) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  std::ifstream file(std::string(source) + "/docs/metrics.md");
  std::ostringstream page;
  page << file.rdbuf();

  EXPECT_EQ(page.str(), metrics_reference())
      << "run: build/bin/hypermile --metrics-markdown > docs/metrics.md";
}

}  // namespace
}  // namespace hypermile
