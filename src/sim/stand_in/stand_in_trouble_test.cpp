// SPDX-License-Identifier: Apache-2.0
//
// The stand-in under scripted faults, wild arguments and many callers at once.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "gpu/nvml/nvml_open.h"
#include "sim/stand_in/nvml_more_abi.h"
#include "testing/stand_in_fixture.h"

namespace hypermile {
namespace {

using nvml::Device;
using nvml::Return;

TEST_F(StandInTest, AScriptedErrorReachesTheClient) {
  ::setenv("HYPERMILE_SIM_FAULTS", "nvmlDeviceGetTotalEnergyConsumption:15@2", 1);
  const auto gpu = open();

  EXPECT_TRUE(gpu->read(Sensor::kEnergy).ok());
  EXPECT_EQ(gpu->read(Sensor::kEnergy).error().code, ErrorCode::kGpuLost);
  EXPECT_TRUE(gpu->read(Sensor::kEnergy).ok());
}

TEST_F(StandInTest, AFaultFileBreaksAGpuUnderARunningClientAndMendsIt) {
  const auto gpu = open();
  EXPECT_TRUE(gpu->read(Sensor::kClocks).ok());

  write(".faults", "*#0:lost");
  EXPECT_EQ(gpu->read(Sensor::kClocks).error().code, ErrorCode::kGpuLost);
  EXPECT_EQ(list_gpus(*library())->gpus.size(), 1U) << "the other GPU works";

  std::filesystem::remove(state_ + ".faults");
  EXPECT_TRUE(gpu->read(Sensor::kClocks).ok());
}

TEST_F(StandInTest, AnIgnoredLockSucceedsAndTheClockIsNotReached) {
  ::setenv("HYPERMILE_SIM_FAULTS", "nvmlDeviceSetGpuLockedClocks:ignore", 1);

  const auto done = all_applied(open()->apply({.sm_clock = Mhz(1200)}));

  EXPECT_TRUE(done.ok());
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 0U);
}

// Runs in a child process, which ends together with its hanging thread.
TEST_F(StandInTest, AHangingCallMeetsItsDeadline) {
  ::setenv("HYPERMILE_SIM_FAULTS", "nvmlDeviceGetClockInfo:hang", 1);
  const GpuUuid uuid(machine()->facts(0).uuid);

  const int code = in_child([&] {
    DeadlineGpu::Options options;
    options.deadline = milliseconds(50);
    const auto gpu = open_gpu_with_deadlines(uuid, *clock_, options, NVML_STAND_IN);
    if (!gpu) return 100;
    const auto sample = (*gpu)->read(Sensor::kClocks);
    return sample ? 101 : static_cast<int>(sample.error().code);
  });

  EXPECT_EQ(code, static_cast<int>(ErrorCode::kTimeout));
}

TEST_F(StandInTest, InitialisationCanFailToo) {
  ::setenv("HYPERMILE_SIM_FAULTS", "nvmlInit_v2:9", 1);

  EXPECT_EQ(open_nvml(NVML_STAND_IN).error().code, ErrorCode::kNoDriver);
}

// Calls the functions by name, as a careless C program would.
class WildTest : public StandInTest {
 protected:
  void SetUp() override {
    handle_ = dlopen(NVML_STAND_IN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  template <class... Arguments>
  Return call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<Return (*)(Arguments...)>(dlsym(handle_, name));
    EXPECT_NE(function, nullptr) << name;
    return function != nullptr ? function(arguments...) : nvml::kFunctionNotFound;
  }
  Device device() {
    Device found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &found), nvml::kSuccess);
    return found;
  }
  void* handle_ = nullptr;
};

TEST_F(WildTest, EverythingIsUninitialisedBeforeInitAndAfterShutdown) {
  unsigned number = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &number), nvml::kUninitialized);
  EXPECT_EQ(call("nvmlShutdown"), nvml::kUninitialized);
  ASSERT_EQ(call("nvmlInit_v2"), nvml::kSuccess);
  ASSERT_EQ(call("nvmlInitWithFlags", 0U), nvml::kSuccess);
  EXPECT_EQ(call("nvmlShutdown"), nvml::kSuccess);
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &number), nvml::kSuccess) << "two inits, one shutdown";
  EXPECT_EQ(number, 2U);
  EXPECT_EQ(call("nvmlShutdown"), nvml::kSuccess);
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &number), nvml::kUninitialized);
}

TEST_F(WildTest, NullAndWildArgumentsAreInvalidNotFatal) {
  ASSERT_EQ(call("nvmlInit_v2"), nvml::kSuccess);
  unsigned* const null_out = nullptr;
  unsigned number = 0;
  char text[4] = {};
  for (const char* reader :
       {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetArchitecture", "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetPowerManagementDefaultLimit"}) {
    EXPECT_EQ(call(reader, device(), null_out), nvml::kInvalidArgument) << reader;
    for (const std::uintptr_t wild : {0UL, 1UL, 0x48D00011UL, 0x48D00030UL, ~0UL}) {
      EXPECT_EQ(call(reader, reinterpret_cast<Device>(wild), &number), nvml::kInvalidArgument);
    }
  }
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 2U, static_cast<Device*>(nullptr)),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", static_cast<const char*>(nullptr),
                 static_cast<Device*>(nullptr)),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetName", device(), text, 4U), nvml::kInsufficientSize);
  EXPECT_EQ(call("nvmlDeviceGetClockInfo", device(), -7, &number), nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceGetFieldValues", device(), -1, static_cast<nvml::FieldValue*>(nullptr)),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlGpmMetricsGet", static_cast<nvml::GpmMetricsGet*>(nullptr)),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlGpmSampleFree", reinterpret_cast<nvml::GpmSample>(77UL)),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlShutdown"), nvml::kSuccess);
}

TEST_F(WildTest, SettersCheckWhatTheyAreGiven) {
  ASSERT_EQ(call("nvmlInit_v2"), nvml::kSuccess);

  EXPECT_EQ(call("nvmlDeviceSetGpuLockedClocks", device(), 1500U, 1200U), nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceSetGpuLockedClocks", device(), 210U, nvml::kClockLimitTdp),
            nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", device(), 1U), nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceSetPowerManagementLimit", device(), ~0U), nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceSetPersistenceMode", device(), 7U), nvml::kInvalidArgument);
  EXPECT_EQ(call("nvmlDeviceSetGpuLockedClocks", device(), 0U, 1207U), nvml::kSuccess);
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 1200U) << "the next listed clock below";
  EXPECT_EQ(call("nvmlShutdown"), nvml::kSuccess);
}

// Two processes with three threads each read, set and reset as fast as they can.
int hammer() {
  const auto nvml = open_nvml(NVML_STAND_IN);
  if (!nvml) return 1;
  std::atomic<int> failures = 0;
  const auto work = [&](unsigned worker) {
    const auto clock = make_real_clock();
    const auto list = list_gpus(**nvml);
    const auto gpu = open_gpu(*nvml, list->gpus[worker % 2].uuid, *clock);
    for (int i = 0; i < 60 && gpu.ok(); ++i) {
      const bool read = (*gpu)->read(SensorSet::all()).ok() && (*gpu)->processes().ok();
      const bool set = (*gpu)->reset(Knob::kSmClock).ok() &&
                       all_applied((*gpu)->apply({.sm_clock = Mhz(1200)})).ok();
      if (!read || !set) ++failures;
    }
    if (!gpu.ok()) ++failures;
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  return failures;
}

TEST_F(StandInTest, ManyProcessesAndThreadsAtOnceDoNotDisturbEachOther) {
  ::setenv("HYPERMILE_SIM_SPEED", "200", 1);

  const pid_t child = start_child(hammer);
  const int here = hammer();
  const int there = wait_for(child);

  EXPECT_EQ(here, 0);
  EXPECT_EQ(there, 0);
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 1200U);
}

TEST_F(StandInTest, SettersKilledAtAnyInstantLeaveAGpuThatWorks) {
  ::setenv("HYPERMILE_SIM_SPEED", "1000", 1);
  const auto gpu = open();
  Joules before(0);
  for (int round = 0; round < 30; ++round) {
    const pid_t child = start_child([&] {
      while (true) {
        if (!all_applied(gpu->apply({.sm_clock = Mhz(round % 2 == 0 ? 1200 : 1500)}))) return 1;
      }
    });
    ::usleep(static_cast<useconds_t>(500 + 217 * round % 3000));
    ::kill(child, SIGKILL);
    wait_for(child);

    const auto sample = gpu->read(SensorSet::all());

    ASSERT_TRUE(sample.ok()) << sample.error().line();
    EXPECT_GE(sample->energy->value(), before.value()) << "time and energy never go back";
    before = *sample->energy;
  }
}

}  // namespace
}  // namespace hypermile
