// SPDX-License-Identifier: Apache-2.0
//
// Keeps tests from changing a real GPU. A test program that could reach NVML includes this header
// in one source file. If a real NVIDIA driver is loaded, the program then refuses to start unless
// HYPERMILE_READ_ONLY=1 forbids every setter.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "gpu/nvml/nvml_setters.h"

namespace hypermile {

inline bool real_driver_present() {
  return access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/nvidiactl", F_OK) == 0;
}

class RealDriverGuard final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (!real_driver_present() || read_only_mode()) return;
    std::fputs("this machine has an NVIDIA driver; run these tests with HYPERMILE_READ_ONLY=1\n",
               stderr);
    std::_Exit(EXIT_FAILURE);
  }
};

inline ::testing::Environment* const real_driver_guard =
    ::testing::AddGlobalTestEnvironment(new RealDriverGuard);

}  // namespace hypermile
