// SPDX-License-Identifier: Apache-2.0
//
// Gives each test of the NVML stand-in its own machine, used through NvmlGpu like any card. The
// tests run in real time because other processes take part; the stand-in's speed shortens what
// takes long on a card.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gpu/nvml/nvml_library.h"
#include "sim/stand_in/machine.h"
#include "testing/child_process.h"
#include "testing/scratch_folder.h"

namespace hypermile {

class StandInTest : public ::testing::Test {
 protected:
  StandInTest() {
    // Processes of other users take part too.
    std::filesystem::permissions(folder_,
                                 std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
    state_ = (folder_ / "state").string();
    ::setenv("HYPERMILE_SIM_STATE", state_.c_str(), 1);
    ::setenv("HYPERMILE_SIM_GPUS", "rtx3080ti,h200", 1);
    ::setenv("HYPERMILE_SIM_SPEED", "20", 1);
    ::unsetenv("HYPERMILE_SIM_FAULTS");
    // A simulated card may always be set; these tests never open a real one.
    ::unsetenv("HYPERMILE_READ_ONLY");
  }

  static std::shared_ptr<NvmlLibrary> library() {
    auto opened = open_nvml(NVML_STAND_IN);
    EXPECT_TRUE(opened.ok()) << opened.error().line();
    return opened ? *opened : nullptr;
  }

  std::unique_ptr<Gpu> open(unsigned index = 0) {
    const auto nvml = library();
    const auto list = list_gpus(*nvml);
    if (!list || list->gpus.size() <= index) return nullptr;
    auto gpu = open_gpu(nvml, list->gpus[index].uuid, *clock_);
    return gpu ? std::move(gpu).value() : nullptr;
  }

  static std::unique_ptr<Machine> machine() {
    return Machine::open(machine_options_from_environment().value()).value();
  }

  // Reads until `done` returns true, for at most ten simulated seconds.
  template <class Done>
  Sample read_until(Gpu& gpu, Done done) {
    Sample sample;
    for (int i = 0; i < 100; ++i) {
      sample = gpu.read(SensorSet::all()).value();
      if (done(sample)) break;
      clock_->sleep_for(milliseconds(5));
    }
    return sample;
  }

  void write(const char* suffix, const std::string& text) {
    std::ofstream(state_ + suffix) << text;
  }

  ScratchFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
  std::string state_;
  std::unique_ptr<Clock> clock_ = make_real_clock();
};

}  // namespace hypermile
