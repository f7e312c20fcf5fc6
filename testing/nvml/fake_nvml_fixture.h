// SPDX-License-Identifier: Apache-2.0
//
// Loads one of the tests' NVMLs, and checks at the end that everything opened was closed.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "base/clock.h"
#include "gpu/nvml/nvml_library.h"
#include "gpu/nvml/real_driver.h"
#include "testing/nvml/fake_nvml.h"

namespace hypermile {

class FakeNvmlTest : public ::testing::Test {
 protected:
  explicit FakeNvmlTest(const char* path = FAKE_NVML_MODERN) : path_(path) {
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto state = reinterpret_cast<FakeNvml* (*)()>(dlsym(handle_, "fake_nvml"));
    nvml_ = state();
    nvml_->reset();
  }
  ~FakeNvmlTest() override { dlclose(handle_); }

  void TearDown() override {
    EXPECT_EQ(nvml_->initialised, 0);
    EXPECT_EQ(nvml_->gpm_samples, 0);
  }

  FakeDevice& card() { return nvml_->devices[0]; }
  Result<std::unique_ptr<Gpu>> try_open() {
    ASSIGN_OR_RETURN(auto library, open_nvml(path_));
    return open_gpu(std::move(library), GpuUuid(card().uuid), clock_);
  }
  std::unique_ptr<Gpu> open() { return try_open().value(); }

  const char* path_;
  FakeNvml* nvml_ = nullptr;
  VirtualClock clock_{1'700'000'000};

 private:
  void* handle_ = nullptr;
};

class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    assign(value);
  }
  ~ScopedEnvironment() { assign(before_ ? before_->c_str() : nullptr); }

 private:
  void assign(const char* value) { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace hypermile
