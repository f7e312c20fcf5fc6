// SPDX-License-Identifier: Apache-2.0
#include "measure/host_energy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class HostEnergyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("powercap_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void zone(const std::string& key, const std::string& name, std::uint64_t energy_uj) {
    fs::create_directories(folder_ / key);
    std::ofstream(folder_ / key / "name") << name << "\n";
    std::ofstream(folder_ / key / "max_energy_range_uj") << 262143328850ULL << "\n";
    std::ofstream(folder_ / key / "energy_uj") << energy_uj << "\n";
  }

  fs::path folder_;
};

TEST_F(HostEnergyTest, CountsPackagesAndMemoryOnceEach) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:0:0", "core", 700'000);
  zone("intel-rapl:0:1", "dram", 100'000);
  zone("intel-rapl:1", "psys", 9'000'000);
  zone("intel-rapl-mmio:0", "package-0", 1'000'000);
  HostEnergy host(folder_.string());

  zone("intel-rapl:0", "package-0", 3'000'000);
  zone("intel-rapl:0:0", "core", 2'500'000);
  zone("intel-rapl:0:1", "dram", 600'000);
  zone("intel-rapl:1", "psys", 19'000'000);
  zone("intel-rapl-mmio:0", "package-0", 3'000'000);
  host.poll();

  EXPECT_NEAR(host.used()->value(), 2.5, 1e-9);
  EXPECT_EQ(host.zones(), "package-0, dram-0");
}

TEST_F(HostEnergyTest, ACounterThatWrapsGoesOn) {
  zone("intel-rapl:0", "package-0", 262143000000ULL);
  HostEnergy host(folder_.string());
  zone("intel-rapl:0", "package-0", 671150);
  host.poll();
  EXPECT_NEAR(host.used()->value(), 1.0, 1e-6);
}

TEST_F(HostEnergyTest, WhatCannotBeReadIsUnknownNotZero) {
  EXPECT_FALSE(HostEnergy(folder_.string()).used());

  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-1", 1'000'000);
  HostEnergy host(folder_.string());
  EXPECT_TRUE(host.used());
  fs::remove(folder_ / "intel-rapl:1" / "energy_uj");
  host.poll();
  EXPECT_FALSE(host.used()) << "half of the host is not the host";

  EXPECT_FALSE(HostEnergy(folder_.string()).used()) << "nor is it from the start";
}

}  // namespace
}  // namespace hypermile
