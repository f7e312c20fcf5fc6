// SPDX-License-Identifier: Apache-2.0
#include "lease/machine_epoch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

// A folder of its own stands for the machine's root.
class MachineEpochTest : public ::testing::Test {
 protected:
  MachineEpochTest() {
    std::string name = (std::filesystem::temp_directory_path() / "hypermile-epoch-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MachineEpochTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  void write(const char* name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }

  std::string folder_;
};

TEST_F(MachineEpochTest, ReadsBootAndDriver) {
  write("proc/sys/kernel/random/boot_id", "b0\n");
  write("sys/module/nvidia/version", "580.1\n");
  write("sys/module/nvidia/sections/.text", "0xffffffffc0de0000\n");

  EXPECT_EQ(read_machine_epoch(folder_), (MachineEpoch{"b0", "580.1@0xffffffffc0de0000"}));
}

TEST_F(MachineEpochTest, DoesNotKnowTheDriverWhoseAddressItMayNotSee) {
  write("sys/module/nvidia/version", "580.1\n");
  write("sys/module/nvidia/sections/.text", "0x0000000000000000\n");

  EXPECT_EQ(read_machine_epoch(folder_), MachineEpoch{});
}

TEST_F(MachineEpochTest, IsOverOnlyWhenThatIsCertain) {
  const MachineEpoch now{"b1", "d1"};

  EXPECT_FALSE(surely_over(now, now));
  EXPECT_FALSE(surely_over({"", ""}, now));
  EXPECT_FALSE(surely_over({"b1", ""}, now));
  EXPECT_TRUE(surely_over({"b0", ""}, now));
  EXPECT_TRUE(surely_over({"b1", "d0"}, now));
}

TEST_F(MachineEpochTest, OfThisMachineHasABootId) {
  EXPECT_EQ(read_machine_epoch().boot.size(), 36U);
}

}  // namespace
}  // namespace hypermile
