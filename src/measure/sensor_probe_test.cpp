// SPDX-License-Identifier: Apache-2.0
#include "measure/sensor_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sim/replay_gpu.h"

namespace hypermile {
namespace {

ReplayGpu make_gpu(VirtualClock& clock) {
  std::istringstream in(
      "gpu,workload,sm_mhz,time_s,power_w,is_default\n"
      "card,net,1000,0.05,200,1\n"
      "card,net,800,0.055,150,0\n");
  return ReplayGpu(make_curves(*read_sweep(in, "s.csv"), {}).curves.at(0), clock, {});
}

const SensorReport& named(const std::vector<SensorReport>& reports, const std::string& name) {
  return *std::ranges::find(reports, name, &SensorReport::name);
}

TEST(ProbeSensors, FindsHowOftenEachValueChanges) {
  VirtualClock clock;
  ReplayGpu gpu = make_gpu(clock);

  const auto reports = probe_sensors(gpu, clock, Seconds(2));

  EXPECT_NEAR(named(reports, "energy").refresh->value(), 0.1, 0.005);
  EXPECT_NEAR(named(reports, "power_instant").refresh->value(), 0.1, 0.005);
  EXPECT_NEAR(named(reports, "power_history").refresh->value(), 0.02, 1e-6);
}

TEST(ProbeSensors, TellsAbsentSensorsFromConstantOnes) {
  VirtualClock clock;
  ReplayGpu gpu = make_gpu(clock);

  const auto reports = probe_sensors(gpu, clock, Seconds(1));

  EXPECT_FALSE(named(reports, "temperature").present);
  EXPECT_EQ(named(reports, "temperature").note, "not reported by this card or driver");
  EXPECT_TRUE(named(reports, "sm_clock").present);
  EXPECT_EQ(named(reports, "sm_clock").note, "no change in 1 s");
  EXPECT_FALSE(named(reports, "activity").present);
}

}  // namespace
}  // namespace hypermile
