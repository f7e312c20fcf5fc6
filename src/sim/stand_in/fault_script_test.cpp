// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/fault_script.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

FaultScript script(std::string_view text) {
  auto items = parse_faults(text);
  EXPECT_TRUE(items.ok()) << items.error().line();
  return FaultScript(std::move(items).value());
}

TEST(FaultScript, AppliesToTheCallWithTheGivenNumber) {
  FaultScript faults = script("nvmlDeviceGetPowerUsage:15@3");

  EXPECT_FALSE(faults.next("nvmlDeviceGetPowerUsage", 0).code);
  EXPECT_FALSE(faults.next("nvmlDeviceGetUUID", 0).code) << "another function does not count";
  EXPECT_FALSE(faults.next("nvmlDeviceGetPowerUsage", 1).code);
  EXPECT_EQ(faults.next("nvmlDeviceGetPowerUsage", 0).code, nvml::kGpuIsLost);
  EXPECT_FALSE(faults.next("nvmlDeviceGetPowerUsage", 0).code);
}

TEST(FaultScript, ALostGpuStaysLostAndTheOthersStay) {
  FaultScript faults = script("*#1:lost@2");

  EXPECT_FALSE(faults.next("nvmlDeviceGetUUID", 1).code);
  EXPECT_EQ(faults.next("nvmlDeviceGetName", 1).code, nvml::kGpuIsLost);
  EXPECT_EQ(faults.next("nvmlDeviceGetUUID", 1).code, nvml::kGpuIsLost);
  EXPECT_FALSE(faults.next("nvmlDeviceGetUUID", 0).code);
  EXPECT_FALSE(faults.next("nvmlSystemGetDriverVersion", std::nullopt).code);
}

TEST(FaultScript, RangesOpenEndsAndSeveralItemsTogether) {
  FaultScript faults = script("nvmlA:10@2-3, nvmlA:delay=20ms@3+\nnvmlA:ignore");

  EXPECT_TRUE(faults.next("nvmlA", 0).ignore);
  EXPECT_EQ(faults.next("nvmlA", 0).code, nvml::kTimeout);
  const Fault third = faults.next("nvmlA", 0);
  const Fault fourth = faults.next("nvmlA", 0);

  EXPECT_EQ(third.code, nvml::kTimeout);
  EXPECT_EQ(third.delay, milliseconds(20));
  EXPECT_FALSE(fourth.code);
  EXPECT_EQ(fourth.delay, milliseconds(20));
}

TEST(FaultScript, EmptyTextIsNoFault) {
  EXPECT_TRUE(script("").empty());
  EXPECT_TRUE(script(" ,\n").empty());
}

TEST(FaultScript, NamesTheItemThatIsWrong) {
  for (const char* text : {"nvmlA", "power:15", "nvmlA:", "nvmlA:1000", "nvmlA:-1", "nvmlA:lots",
                           "nvmlA:15@0", "nvmlA:15@5-3", "nvmlA:15@x", "nvmlA#x:15", ":15", "@",
                           "nvmlA:delay=", "nvmlA#999:15", "nvmlA:15@-"}) {
    const auto items = parse_faults(std::string("nvmlOk:3,") + text);

    ASSERT_FALSE(items.ok()) << text;
    EXPECT_EQ(items.error().code, ErrorCode::kUsage);
    EXPECT_NE(items.error().message.find(text), std::string::npos) << items.error().line();
  }
}

}  // namespace
}  // namespace hypermile
