// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_sampler.h"

#include "testing/fake_counters_library.h"

namespace hypermile {
namespace {

constexpr const char* kAddress = "00000000:3B:00.0";

// Opens the sampler and takes one turn of every group.
Result<Features> sample(FakeCounters& fake) {
  VirtualClock clock;
  ASSIGN_OR_RETURN(const auto sampler, CounterSampler::open(fake.library, clock, kAddress));
  for (std::size_t i = 0; i < sampler->groups(); ++i) {
    RETURN_IF_ERROR(sampler->take_turn(Seconds(0.3), {}));
  }
  return sampler->features();
}

TEST(CounterSampler, AveragesEveryGroupToFeaturesInTheirUnits) {
  FakeCounters fake;

  const auto features = sample(fake);

  ASSERT_TRUE(features.ok());
  // The fake answers a percentage equal to the length of the metric's name, and 2 GB/s each way.
  EXPECT_NEAR(
      *features->get(Feature::kSmActive),
      0.01 * static_cast<double>(
                 std::string_view("sm__cycles_active.avg.pct_of_peak_sustained_elapsed").size()),
      1e-9);
  EXPECT_NEAR(*features->get(Feature::kPcieRate), 4, 1e-9);
  EXPECT_NEAR(*features->get(Feature::kNvlinkRate), 4, 1e-9);
  EXPECT_EQ(fake.open_objects(), 0);
}

TEST(CounterSampler, LeavesAFeatureUnknownWhereItsValueIsNotANumber) {
  FakeCounters fake;

  const auto features = sample(fake);

  ASSERT_TRUE(features.ok());
  EXPECT_FALSE(features->get(Feature::kSmOccupancy).has_value());
}

TEST(CounterSampler, DropsTheFirstSampleOfATurn) {
  FakeCounters fake;
  VirtualClock clock;
  const auto sampler = CounterSampler::open(fake.library, clock, kAddress);
  ASSERT_TRUE(sampler.ok());

  ASSERT_TRUE((*sampler)->take_turn(Seconds(0.3), {}).ok());

  EXPECT_EQ((*sampler)->samples(), 6U * 10 - 1);  // decoded every 50 ms, ten at a time
  EXPECT_NEAR((*sampler)->sampled().value(), 0.3, 1e-9);
}

TEST(CounterSampler, TriggersByTheClockWhereTheChipCannotByTime) {
  for (const char* chip : {"TU102", "GA100", "AD102"}) {
    FakeCounters fake;
    const TestVariable which("FAKE_COUNTERS_CHIP", chip);

    EXPECT_TRUE(sample(fake).ok()) << chip;
  }
}

TEST(CounterSampler, EndsEarlyWhenStopped) {
  FakeCounters fake;
  VirtualClock clock;
  const auto sampler = CounterSampler::open(fake.library, clock, kAddress);
  ASSERT_TRUE(sampler.ok());
  std::stop_source stop;
  stop.request_stop();

  EXPECT_TRUE((*sampler)->take_turn(Seconds(10), stop.get_token()).ok());

  EXPECT_EQ((*sampler)->samples(), 0U);
  EXPECT_EQ(clock.now(), Instant());
}

constexpr const char* kCalls[] = {"cuptiProfilerInitialize",
                                  "cuptiDeviceGetChipName",
                                  "cuptiPmSamplingGetCounterAvailability",
                                  "cuptiProfilerHostInitialize",
                                  "cuptiProfilerHostDeinitialize",
                                  "cuptiProfilerHostConfigAddMetrics",
                                  "cuptiProfilerHostGetConfigImageSize",
                                  "cuptiProfilerHostGetConfigImage",
                                  "cuptiProfilerHostGetNumOfPasses",
                                  "cuptiProfilerHostEvaluateToGpuValues",
                                  "cuptiPmSamplingEnable",
                                  "cuptiPmSamplingDisable",
                                  "cuptiPmSamplingSetConfig",
                                  "cuptiPmSamplingStart",
                                  "cuptiPmSamplingStop",
                                  "cuptiPmSamplingGetCounterDataSize",
                                  "cuptiPmSamplingCounterDataImageInitialize",
                                  "cuptiPmSamplingDecodeData",
                                  "cuptiPmSamplingGetCounterDataInfo"};

// Calls that end something run in destructors, which cannot report a failure.
bool ends_something(std::string_view call) {
  return call.ends_with("Stop") || call.ends_with("Disable") || call.ends_with("Deinitialize");
}

TEST(CounterSampler, AFailureOfAnyCallIsOneLineAndLeavesNothingOpen) {
  for (const char* call : kCalls) {
    for (const int code : {1, 7, 8, 15, 26, 27, 33, 35, 40, 43, 999}) {
      for (const char* which : {"", "#1", "#2"}) {
        FakeCounters fake;
        const std::string fault = std::string(call) + which + "=" + std::to_string(code);
        const TestVariable failing("FAKE_COUNTERS_FAIL", fault);

        const auto features = sample(fake);

        EXPECT_EQ(fake.open_objects(), 0) << fault;
        EXPECT_GT(fake.calls(call), 0) << fault;
        if (!features) {
          EXPECT_EQ(features.error().line().find('\n'), std::string::npos) << fault;
          EXPECT_FALSE(features.error().remedy.empty()) << fault;
        }
        if (*which == '\0') {
          EXPECT_EQ(features.ok(), ends_something(call)) << fault;
        }
      }
    }
  }
}

TEST(CounterSampler, KeepsWhatItHasWhereTheCardsBufferRunsFull) {
  FakeCounters fake;
  const TestVariable failing("FAKE_COUNTERS_FAIL", "cuptiPmSamplingDecodeData#2=8");

  const auto features = sample(fake);

  ASSERT_TRUE(features.ok()) << features.error().line();
  EXPECT_TRUE(features->get(Feature::kSmActive));
  EXPECT_EQ(fake.open_objects(), 0);
}

TEST(CounterSampler, DistinguishesPermissionBusyAndUnsupported) {
  const std::pair<int, ErrorCode> meant[] = {
      {35, ErrorCode::kPermission}, {40, ErrorCode::kPermission},  {26, ErrorCode::kBusy},
      {7, ErrorCode::kBusy},        {27, ErrorCode::kUnsupported}, {43, ErrorCode::kUnsupported},
      {999, ErrorCode::kInternal}};
  for (const auto& [code, expected] : meant) {
    FakeCounters fake;
    const TestVariable failing("FAKE_COUNTERS_FAIL",
                               "cuptiPmSamplingEnable=" + std::to_string(code));

    const auto features = sample(fake);

    ASSERT_FALSE(features.ok()) << code;
    EXPECT_EQ(features.error().code, expected) << code;
  }
}

TEST(CounterSampler, ReportsADriverThatDoesNotStartOrAnUnknownGpu) {
  FakeCounters fake;
  {
    const TestVariable failing("FAKE_DRIVER_INIT", "999");
    ASSERT_FALSE(sample(fake).ok());
    EXPECT_EQ(sample(fake).error().code, ErrorCode::kNoDriver);
  }
  const TestVariable failing("FAKE_DRIVER_DEVICE", "101");

  const auto features = sample(fake);

  ASSERT_FALSE(features.ok());
  EXPECT_NE(features.error().line().find(kAddress), std::string::npos);
}

}  // namespace
}  // namespace hypermile
