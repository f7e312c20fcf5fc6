// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_error.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(NvmlError, EveryDriverProblemHasACodeAndARemedy) {
  const std::pair<nvml::Return, ErrorCode> expected[] = {
      {nvml::kDriverNotLoaded, ErrorCode::kNoDriver},
      {nvml::kLibRmVersionMismatch, ErrorCode::kNoDriver},
      {nvml::kNoPermission, ErrorCode::kPermission},
      {nvml::kGpuIsLost, ErrorCode::kGpuLost},
      {nvml::kResetRequired, ErrorCode::kGpuLost},
      {nvml::kTimeout, ErrorCode::kTimeout},
  };

  for (const auto& [nvml, code] : expected) {
    const Error error = nvml_error(nvml, "start NVML");
    EXPECT_EQ(error.code, code) << nvml;
    EXPECT_FALSE(error.remedy.empty()) << nvml;
    EXPECT_TRUE(error.message.starts_with("cannot start NVML: ")) << nvml;
  }
}

TEST(NvmlError, AnUnknownCodeIsReportedByItsNumber) {
  EXPECT_NE(nvml_error(static_cast<nvml::Return>(123), "x").message.find("123"), std::string::npos);
}

TEST(OutOfReach, DistinguishesALostGpuFromAMissingSensor) {
  EXPECT_TRUE(out_of_reach(nvml::kGpuIsLost));
  EXPECT_TRUE(out_of_reach(nvml::kUninitialized));
  EXPECT_FALSE(out_of_reach(nvml::kNotSupported));
  EXPECT_FALSE(out_of_reach(nvml::kSuccess));
  EXPECT_FALSE(out_of_reach(static_cast<nvml::Return>(123)));
}

}  // namespace
}  // namespace hypermile
