// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gpu/nvml/nvml_open.h"
#include "testing/nvml/fake_nvml_fixture.h"

namespace hypermile {
namespace {

constexpr nvml::Return kCodes[] = {
    nvml::kUninitialized,
    nvml::kInvalidArgument,
    nvml::kNotSupported,
    nvml::kNoPermission,
    nvml::kNotFound,
    nvml::kInsufficientSize,
    nvml::kDriverNotLoaded,
    nvml::kTimeout,
    nvml::kFunctionNotFound,
    nvml::kGpuIsLost,
    nvml::kResetRequired,
    nvml::kOperatingSystem,
    nvml::kLibRmVersionMismatch,
    nvml::kMemory,
    nvml::kNoData,
    nvml::kArgumentVersionMismatch,
    nvml::kDeprecated,
    nvml::kUnknown,
    static_cast<nvml::Return>(77),
};

class OldNvmlTest : public FakeNvmlTest {
 protected:
  OldNvmlTest() : FakeNvmlTest(FAKE_NVML_OLD) {}
};
class BareNvmlTest : public FakeNvmlTest {
 protected:
  BareNvmlTest() : FakeNvmlTest(FAKE_NVML_BARE) {}
};
using ModernNvmlTest = FakeNvmlTest;

void use_everything(Gpu& gpu, VirtualClock& clock) {
  (void)gpu.read(SensorSet::all());
  (void)gpu.power_history(Instant());
  (void)gpu.activity();
  clock.advance(Seconds(0.2));
  (void)gpu.activity();
  (void)gpu.processes();
}

TEST(OpenNvml, WithoutTheLibrarySaysWhatToInstall) {
  const auto library = open_nvml("/nonexistent/libnvidia-ml.so.1");

  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::kNoDriver);
  EXPECT_NE(library.error().line().find("install the NVIDIA driver"), std::string::npos);
  EXPECT_EQ(library.error().line().find('\n'), std::string::npos);
}

TEST(OpenNvml, RefusesALibraryThatIsNotNvml) {
  const auto library = open_nvml("libm.so.6");

  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::kNoDriver);
  EXPECT_NE(library.error().message.find("is not NVIDIA's"), std::string::npos);
}

TEST(OpenNvml, TakesItsPathFromTheEnvironment) {
  const ScopedEnvironment path("HYPERMILE_NVML", FAKE_NVML_MODERN);

  EXPECT_EQ(default_nvml_path(), FAKE_NVML_MODERN);

  const ScopedEnvironment none("HYPERMILE_NVML", nullptr);
  EXPECT_EQ(default_nvml_path(), "libnvidia-ml.so.1");
}

TEST_F(ModernNvmlTest, ListsGpusWithUuidPciAddressAndDriver) {
  const auto library = open_nvml(path_).value();

  const GpuList list = list_gpus(*library).value();

  ASSERT_EQ(list.gpus.size(), 2U);
  EXPECT_EQ(list.gpus[1].uuid, GpuUuid("GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"));
  EXPECT_EQ(list.gpus[1].pci, PciAddress("00000000:AF:00.0"));
  EXPECT_EQ(list.gpus[1].index, 1);
  EXPECT_EQ(list.gpus[1].name, "NVIDIA H200");
  EXPECT_EQ(list.gpus[1].driver_version, "580.159.04");
  EXPECT_EQ(nvml_->calls["nvmlDeviceGetPciInfo_v2"], 0) << "the newest version comes first";
}

TEST_F(ModernNvmlTest, ProbesCapabilitiesWithoutCallingASetter) {
  const std::unique_ptr<Gpu> gpu = open();
  const Capabilities& can = gpu->capabilities();

  EXPECT_EQ(can.memory_clocks, (std::vector<Mhz>{Mhz(3201), Mhz(2201)}));
  EXPECT_EQ(can.sm_clocks.front(), Mhz(1980));
  EXPECT_EQ(can.sm_clocks.back(), Mhz(345));
  EXPECT_EQ(can.power_limit_range->min, Watts(200));
  EXPECT_EQ(can.default_power_limit, Watts(700));
  EXPECT_EQ(can.sm_clock_lock, Support::kYes);
  EXPECT_EQ(can.memory_clock_lock, Support::kYes);
  EXPECT_EQ(can.power_limit_set, Support::kYes);
  EXPECT_EQ(can.barrier, ControlBarrier::kNone);
  EXPECT_TRUE(can.activity_metrics);
  EXPECT_EQ(nvml_->setter_calls(), 0);
}

TEST_F(ModernNvmlTest, ReadsClockListsLongerThanItsFirstBuffer) {
  card().graphics_clocks.clear();
  for (unsigned mhz = 1; mhz <= 1000; ++mhz) card().graphics_clocks.push_back(mhz);

  EXPECT_EQ(open()->capabilities().sm_clocks.size(), 1000U);
}

TEST_F(ModernNvmlTest, KnowsThatAVoltaCannotLockItsMemoryClock) {
  card().architecture = 5;

  const Capabilities can = open()->capabilities();

  EXPECT_EQ(can.sm_clock_lock, Support::kYes);
  EXPECT_EQ(can.memory_clock_lock, Support::kNo);
}

TEST_F(ModernNvmlTest, NamesTheBarriersToControl) {
  card().mig = 1;
  EXPECT_EQ(open()->capabilities().barrier, ControlBarrier::kMigEnabled);

  card().mig = 0;
  card().virtualization = nvml::kVirtualizationVgpu;
  EXPECT_EQ(open()->capabilities().barrier, ControlBarrier::kVirtualGpu);

  card().virtualization = nvml::kVirtualizationPassthrough;
  EXPECT_EQ(open()->capabilities().barrier, ControlBarrier::kNone);

  card().mps_clients = {{42, 1}};
  EXPECT_EQ(open()->capabilities().barrier, ControlBarrier::kSharedByMps);
}

TEST_F(ModernNvmlTest, SaysWhichUuidsExistWhenOneIsUnknown) {
  const auto gpu = open_gpu(open_nvml(path_).value(), GpuUuid("GPU-11111111-2222"), clock_);

  ASSERT_FALSE(gpu.ok());
  EXPECT_EQ(gpu.error().code, ErrorCode::kNotFound);
  EXPECT_NE(gpu.error().remedy.find("GPU-11111111-2222-3333"), std::string::npos);
}

TEST_F(ModernNvmlTest, OneDeadGpuDoesNotHideTheOthers) {
  nvml_->devices[1].uuid = std::string(200, 'x');  // does not fit: NVML refuses

  const GpuList list = list_gpus(*open_nvml(path_).value()).value();

  EXPECT_EQ(list.gpus.size(), 1U);
  ASSERT_EQ(list.unreachable.size(), 1U);
  EXPECT_EQ(list.unreachable[0].message.substr(0, 6), "GPU 1:");
}

TEST_F(ModernNvmlTest, NvmlStaysInitialisedWhileAGpuIsOpen) {
  std::unique_ptr<Gpu> gpu = open();

  EXPECT_EQ(nvml_->initialised, 1);
  gpu.reset();
  EXPECT_EQ(nvml_->initialised, 0);
}

TEST_F(ModernNvmlTest, SurvivesEveryFunctionFailingWithEveryCode) {
  {
    const std::unique_ptr<Gpu> gpu = open();
    use_everything(*gpu, clock_);
  }
  const std::map<std::string, int> functions = nvml_->calls;
  ASSERT_GT(functions.size(), 25U);

  for (const auto& [function, times] : functions) {
    if (function == "nvmlShutdown" || function == "nvmlGpmSampleFree") continue;
    for (const nvml::Return code : kCodes) {
      nvml_->reset();
      nvml_->returns[function] = code;

      const Result<std::unique_ptr<Gpu>> gpu = try_open();

      if (gpu) {
        use_everything(**gpu, clock_);
      } else {
        EXPECT_FALSE(gpu.error().message.empty()) << function;
        EXPECT_EQ(gpu.error().line().find('\n'), std::string::npos) << function;
      }
      EXPECT_EQ(nvml_->setter_calls(), 0) << function;
    }
  }
}

TEST_F(ModernNvmlTest, IsListedAndOpenedUnderDeadlines) {
  const std::unique_ptr<Clock> clock = make_real_clock();

  const GpuList list = list_gpus_within(Seconds(60), path_).value();
  const auto gpu = open_gpu_with_deadlines(list.gpus[1].uuid, *clock, {}, path_);

  ASSERT_TRUE(gpu.ok()) << gpu.error().line();
  EXPECT_EQ((*gpu)->identity().uuid, list.gpus[1].uuid);
  EXPECT_EQ((*gpu)->read(SensorSet::all())->sm_clock, Mhz(1980));
}

TEST(OpenWithDeadlines, ReportsAMissingDriver) {
  const std::unique_ptr<Clock> clock = make_real_clock();

  EXPECT_EQ(list_gpus_within(Seconds(60), "/nonexistent").error().code, ErrorCode::kNoDriver);
  EXPECT_EQ(open_gpu_with_deadlines(GpuUuid("GPU-x"), *clock, {}, "/nonexistent").error().code,
            ErrorCode::kNoDriver);
}

TEST_F(OldNvmlTest, WorksWithOldFunctionNames) {
  card().processes = {{11, 1000}, {22, nvml::kNotAvailable64}};
  const std::unique_ptr<Gpu> gpu = open();

  const Sample sample = gpu->read(SensorSet::all()).value();
  const std::vector<GpuProcess> processes = gpu->processes().value();

  EXPECT_EQ(gpu->identity().pci, PciAddress("00000000:3B:00.0"));
  EXPECT_EQ(sample.power_instant, Watts(299));
  EXPECT_EQ(sample.energy, std::nullopt);
  EXPECT_EQ(sample.temperature, Celsius(61));
  EXPECT_EQ(sample.reasons->bits, 4U);
  EXPECT_EQ(sample.power_limit, Watts(700));
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[1].pid, 22);
  EXPECT_EQ(processes[1].memory_bytes, std::nullopt);
}

TEST_F(OldNvmlTest, ReportsWhatItsDriverLacks) {
  const std::unique_ptr<Gpu> gpu = open();

  EXPECT_EQ(gpu->capabilities().sm_clock_lock, Support::kNo);
  EXPECT_EQ(gpu->capabilities().barrier, ControlBarrier::kNone);
  EXPECT_EQ(gpu->activity().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(gpu->power_history(Instant()).error().code, ErrorCode::kUnsupported);
}

TEST_F(BareNvmlTest, LeavesUnknownWhatTheDriverCannotReport) {
  const std::unique_ptr<Gpu> gpu = open();

  const Sample sample = gpu->read(SensorSet::all()).value();

  EXPECT_TRUE(gpu->capabilities().sm_clocks.empty());
  EXPECT_EQ(gpu->capabilities().power_limit_range.has_value(), false);
  EXPECT_EQ(gpu->capabilities().power_limit_set, Support::kNo);
  EXPECT_EQ(sample.power_instant, std::nullopt);
  EXPECT_EQ(sample.sm_clock, std::nullopt);
  EXPECT_EQ(sample.reasons, std::nullopt);
  EXPECT_EQ(gpu->processes().error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(gpu->reset(Knob::kSmClock).error().code,
            read_only_mode() ? ErrorCode::kReadOnly : ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hypermile
