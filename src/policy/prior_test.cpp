// SPDX-License-Identifier: Apache-2.0
#include "policy/prior.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(Prior, GpuNamesTellTheirFamily) {
  EXPECT_EQ(gpu_family("V100-SXM2 300W"), "Volta");
  EXPECT_EQ(gpu_family("NVIDIA A100-PCIE-40GB"), "Ampere");
  EXPECT_EQ(gpu_family("RTX laptop 6GB (Ada)"), "Ada");
  EXPECT_EQ(gpu_family("Quadro RTX 6000"), "Turing");
  EXPECT_EQ(gpu_family("RTX PRO 6000 Blackwell"), "Blackwell");
  EXPECT_EQ(gpu_family("GTX Titan X (Maxwell)"), "Maxwell");
  EXPECT_EQ(gpu_family("test GPU"), "");
}

TEST(Prior, EveryParticleIsPhysical) {
  for (const Physics& physics : prior_particles(1024, "")) {
    EXPECT_NEAR(physics.time_ratio(1), 1, 1e-9);
    EXPECT_GE(physics.time_ratio(0.5), 1 - 1e-9);
    EXPECT_LT(physics.time_ratio(0.5), 5);
    EXPECT_GT(physics.power_ratio(0.5), 0);
    EXPECT_LE(physics.power_ratio(0.5), 1 + 1e-9);
  }
}

TEST(Prior, IsTheSameEachTimeAndAnotherWithoutAFamily) {
  const auto sum = [](const std::vector<Physics>& particles) {
    double total = 0;
    for (const Physics& p : particles) total += p.core_share + p.static_share;
    return total;
  };

  EXPECT_EQ(sum(prior_particles(256, "")), sum(prior_particles(256, "")));
  EXPECT_NE(sum(prior_particles(256, "")), sum(prior_particles(256, "V100")));
  EXPECT_EQ(prior_particles(256, "V100").size(), 256U);
}

}  // namespace
}  // namespace hypermile
