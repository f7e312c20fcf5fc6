// SPDX-License-Identifier: Apache-2.0
//
// For tests: loads the fake CUPTI and driver (testing/counters) into this process. Faults last as
// long as their TestVariable lives.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "predict/counters/counter_library.h"

namespace hypermile {

// Sets an environment variable for as long as it lives.
class TestVariable {
 public:
  TestVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~TestVariable() { ::unsetenv(name_); }
  TestVariable(const TestVariable&) = delete;
  TestVariable& operator=(const TestVariable&) = delete;

 private:
  const char* name_;
};

class FakeCounters {
 public:
  FakeCounters() {
    function<void()>("fake_counters_reset")();
    auto loaded = CounterLibrary::load_cupti({"libnotthere.so", FAKE_CUPTI});
    EXPECT_TRUE(loaded.ok());
    if (loaded) library = *loaded;
    const auto driver = std::filesystem::path(FAKE_CUPTI).parent_path() / "libcuda.so.1";
    EXPECT_TRUE(library.load_driver(driver.string()).ok());
  }

  int open_objects() const { return function<int()>("fake_counters_open")(); }
  int calls(const char* name) const {
    return function<int(const char*)>("fake_counters_calls")(name);
  }

  CounterLibrary library;

 private:
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

  void* handle_ = ::dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
};

}  // namespace hypermile
