// SPDX-License-Identifier: Apache-2.0
//
// Tests the stand-in through hypermile's own NVML client: readings, settings, permissions, and what
// other processes see.
#include <gtest/gtest.h>

#include <csignal>

#include "sim/workload.h"
#include "testing/stand_in_fixture.h"

namespace hypermile {
namespace {

constexpr uid_t kNobody = 65534;

TEST_F(StandInTest, NamesTheGpusOfTheEnvironment) {
  const auto list = list_gpus(*library());

  ASSERT_TRUE(list.ok()) << list.error().line();
  ASSERT_EQ(list->gpus.size(), 2U);
  EXPECT_NE(list->gpus[0].name.find("3080 Ti"), std::string::npos) << list->gpus[0].name;
  EXPECT_NE(list->gpus[1].name.find("H200"), std::string::npos) << list->gpus[1].name;
  EXPECT_NE(list->gpus[0].uuid, list->gpus[1].uuid);
  EXPECT_NE(list->gpus[0].pci, list->gpus[1].pci);
}

TEST_F(StandInTest, HasTheKnobsAndSensorsOfACard) {
  const auto gpu = open();
  const Capabilities& can = gpu->capabilities();

  const Sample sample = gpu->read(SensorSet::all()).value();

  EXPECT_EQ(can.sm_clock_lock, Support::kYes);
  EXPECT_EQ(can.power_limit_set, Support::kYes);
  EXPECT_EQ(can.barrier, ControlBarrier::kNone);
  EXPECT_GT(can.sm_clocks.size(), 50U);
  EXPECT_TRUE(sample.power_instant && sample.energy && sample.sm_clock && sample.memory_clock &&
              sample.gpu_utilization && sample.temperature && sample.reasons && sample.power_limit);
  EXPECT_FALSE(gpu->power_history(Instant()).value().empty());
}

TEST_F(StandInTest, ActivityIsThereOnAHopperOnly) {
  EXPECT_FALSE(open(0)->capabilities().activity_metrics);
  const auto hopper = open(1);
  ASSERT_TRUE(hopper->capabilities().activity_metrics);
  const auto job = machine();
  ASSERT_TRUE(job->start_job(1, {load_workload("resnet50")->load, 0}).ok());
  EXPECT_EQ(hopper->activity().error().code, ErrorCode::kNotReady);
  clock_->sleep_for(milliseconds(150));

  const auto activity = hopper->activity();

  ASSERT_TRUE(activity.ok()) << activity.error().line();
  EXPECT_GT(activity->sm.value_or(activity->graphics.value_or(0)), 0.1);
}

TEST_F(StandInTest, EnergyCountsWhatThePowerDraws) {
  const auto gpu = open();
  const Sample first = gpu->read(SensorSet::all()).value();
  clock_->sleep_for(milliseconds(300));  // six simulated seconds

  const Sample last = gpu->read(SensorSet::all()).value();

  const double seconds = (last.time - first.time).value() * 20;
  const double mean = (*last.energy - *first.energy).value() / seconds;
  EXPECT_NEAR(mean, last.power_instant->value(), 0.3 * last.power_instant->value());
}

TEST_F(StandInTest, ALockIsSeenByEveryProcessAndOutlivesASetterThatIsKilled) {
  const int status = in_child([&] {
    const auto gpu = open();
    const Setting lock{.sm_clock = Mhz(1200), .power_limit = Watts(250)};
    if (!all_applied(gpu->apply(lock))) return 1;
    return ::raise(SIGKILL);
  });

  const GpuRecord record = machine()->look(0)->record;
  const Sample sample = open()->read(SensorSet::all()).value();

  EXPECT_EQ(status, 128 + SIGKILL);
  EXPECT_EQ(record.sm_lock.high, 1200U);
  EXPECT_EQ(record.memory_lock.high, 0U);
  EXPECT_EQ(record.sim.requested.power_limit, Watts(250));
  EXPECT_LE(sample.sm_clock->value(), 1200);
  EXPECT_EQ(machine()->look(1)->record.sm_lock.high, 0U) << "the other GPU";
}

TEST_F(StandInTest, OnlyAResetClearsALock) {
  const auto gpu = open();
  const Mhz memory = gpu->capabilities().memory_clocks.back();
  const Setting lock{.sm_clock = Mhz(1200), .memory_clock = memory, .power_limit = Watts(250)};
  ASSERT_TRUE(all_applied(gpu->apply(lock)).ok());
  EXPECT_EQ(machine()->look(0)->record.memory_lock.high, memory.value());

  for (const Knob knob : kAllKnobs) EXPECT_TRUE(gpu->reset(knob).ok());

  const GpuRecord record = machine()->look(0)->record;
  EXPECT_EQ(record.sm_lock.high, 0U);
  EXPECT_EQ(record.memory_lock.high, 0U);
  EXPECT_FALSE(record.sim.requested.power_limit);
}

TEST_F(StandInTest, AJobRunsAtTheLockedClockAndDrawsLess) {
  const auto gpu = open();
  const auto job = machine();
  ASSERT_TRUE(job->start_job(0, {load_workload("resnet50")->load, 1 << 30}).ok());
  const Sample fast =
      read_until(*gpu, [](const Sample& s) { return s.gpu_utilization.value_or(0) > 0.5; });
  EXPECT_GT(fast.sm_clock->value(), 1200);
  EXPECT_EQ(gpu->processes().value().size(), 1U);
  EXPECT_EQ(gpu->processes().value()[0].pid, ::getpid());

  ASSERT_TRUE(all_applied(gpu->apply({.sm_clock = Mhz(1005)})).ok());
  const Sample slow = read_until(*gpu, [&](const Sample& s) {
    return s.sm_clock->value() <= 1005 && *s.power_instant < *fast.power_instant * 0.9;
  });

  EXPECT_LE(slow.sm_clock->value(), 1005);
  EXPECT_LT(slow.power_instant->value(), fast.power_instant->value());
}

TEST_F(StandInTest, AKilledJobLeavesTheGpu) {
  const pid_t child = start_child([&] {
    const auto job = machine();
    if (!job->start_job(0, {load_workload("resnet50")->load, 0})) return 1;
    while (true) {
      if (!job->beat(0)) return 2;
      ::usleep(5000);
    }
  });
  const auto gpu = open();
  const auto busy = [](const Sample& s) { return s.gpu_utilization.value_or(0) > 0.5; };
  EXPECT_TRUE(busy(read_until(*gpu, busy)));

  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);

  const auto idle = [&](const Sample& s) { return !busy(s); };
  EXPECT_TRUE(idle(read_until(*gpu, idle)));
  EXPECT_TRUE(gpu->processes().value().empty());
}

TEST_F(StandInTest, TheGpuRefusesASecondJobAndNamesTheFirst) {
  const pid_t child = start_child([&] {
    const auto job = machine();
    if (!job->start_job(0, {load_workload("resnet50")->load, 0})) return 1;
    return ::pause();
  });
  while (!machine()->look(0)->record.job.present) ::usleep(1000);

  const auto second = machine()->start_job(0, {load_workload("resnet50")->load, 0});
  ::kill(child, SIGKILL);
  wait_for(child);

  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_NE(second.error().message.find(std::to_string(child)), std::string::npos);
}

TEST_F(StandInTest, AnIdleCardThatNobodyLooksAtSleepsAndItsEnergyGoesOn) {
  ::setenv("HYPERMILE_SIM_SPEED", "1000", 1);
  const auto card = machine();
  const GpuView before = card->look(0).value();
  clock_->sleep_for(milliseconds(800));  // more than the ten simulated minutes before it sleeps

  const GpuView after = card->look(0).value();

  const auto energy = [](const GpuView& v) {
    return v.record.sim.sensors.shown_energy_j + v.record.slept_j;
  };
  const double mean = (energy(after) - energy(before)) / (after.time_s - before.time_s);
  EXPECT_GT(after.record.slept_s, 0);
  EXPECT_NEAR(mean, after.now.power.value(), 0.05 * after.now.power.value());
}

class UnprivilegedTest : public StandInTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    open();  // the state file belongs to root
  }
  // Error code of locking the clock as user nobody; -1 for success.
  int lock_as_nobody() {
    return in_child([&] {
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return 100;
      const auto gpu = open();
      if (gpu == nullptr || !gpu->read(SensorSet::all()).ok()) return 101;
      const auto done = all_applied(gpu->apply({.sm_clock = Mhz(1200)}));
      const bool said = gpu->capabilities().may_set;
      if (done.ok() != said) return 102;
      return done.ok() ? 50 : static_cast<int>(done.error().code);
    });
  }
};

TEST_F(UnprivilegedTest, MayReadAndMayNotSet) {
  EXPECT_EQ(lock_as_nobody(), static_cast<int>(ErrorCode::kPermission));
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 0U);
}

TEST_F(UnprivilegedTest, MaySetWhenThePermissionFileNamesThem) {
  write(".permissions", "65534\n");

  EXPECT_EQ(lock_as_nobody(), 50);
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 1200U);
}

TEST_F(StandInTest, AnotherListOfGpusIsAnotherMachine) {
  ASSERT_TRUE(all_applied(open()->apply({.sm_clock = Mhz(1200)})).ok());
  ::setenv("HYPERMILE_SIM_GPUS", "h200", 1);

  const auto list = list_gpus(*library());

  ASSERT_EQ(list->gpus.size(), 1U);
  EXPECT_EQ(machine()->look(0)->record.sm_lock.high, 0U);
}

TEST_F(StandInTest, WithoutAListTheMachineThatIsThereIsUsed) {
  ASSERT_TRUE(all_applied(open(1)->apply({.sm_clock = Mhz(1200)})).ok());
  ::unsetenv("HYPERMILE_SIM_GPUS");
  ::unsetenv("HYPERMILE_SIM_SPEED");

  EXPECT_EQ(machine()->gpu_count(), 2U);
  EXPECT_EQ(machine()->look(1)->record.sm_lock.high, 1200U);
}

TEST_F(StandInTest, WrongVariablesAreOneClearLine) {
  ::setenv("HYPERMILE_SIM_SPEED", "fast", 1);
  EXPECT_NE(machine_options_from_environment().error().line().find("HYPERMILE_SIM_SPEED"),
            std::string::npos);
  ::setenv("HYPERMILE_SIM_SPEED", "1", 1);
  ::setenv("HYPERMILE_SIM_GPUS", ",,", 1);
  EXPECT_NE(machine_options_from_environment().error().line().find("HYPERMILE_SIM_GPUS"),
            std::string::npos);
  ::setenv("HYPERMILE_SIM_GPUS", "rtx3080", 1);

  const auto opened = Machine::open(machine_options_from_environment().value());
  const auto nvml = open_nvml(NVML_STAND_IN);

  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().line().find("rtx3080ti"), std::string::npos) << opened.error().line();
  EXPECT_FALSE(nvml.ok());
}

}  // namespace
}  // namespace hypermile
