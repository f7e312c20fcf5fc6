// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_reader.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "testing/ring_fixture.h"

namespace hypermile {
namespace {

using RingReaderTest = RingTest;

Instant at_ms(std::int64_t ms) {
  return Instant::from_nanoseconds(ms * 1'000'000);
}

TEST_F(RingReaderTest, GivesLaunchesInOrderWithTheirNumbers) {
  launch(100, 7, 3);
  launch(200, 8, 4);

  const RingBatch batch = drain();

  ASSERT_EQ(batch.launches.size(), 2U);
  EXPECT_EQ(batch.launches[0].number, 0U);
  EXPECT_EQ(batch.launches[1].number, 1U);
  EXPECT_EQ(batch.launches[0].launch.time.nanoseconds(), 100);
  EXPECT_EQ(batch.launches[1].launch.kernel, 8U);
  EXPECT_EQ(batch.launches[1].launch.stream, 4U);
  EXPECT_EQ(batch.launches[1].launch.blocks, 1U);
  EXPECT_EQ(batch.lost + batch.damaged, 0U);
}

TEST_F(RingReaderTest, GivesEveryRecordOnce) {
  launch(100, 1);
  drain();
  launch(200, 2);

  const RingBatch batch = drain();

  ASSERT_EQ(batch.launches.size(), 1U);
  EXPECT_EQ(batch.launches[0].launch.kernel, 2U);
}

TEST_F(RingReaderTest, CountsWhatWasOverwrittenBeforeItWasRead) {
  for (std::uint32_t i = 0; i < kLargeRing.slots + 1000; ++i) launch(i, i % 100);

  const RingBatch batch = drain();

  EXPECT_EQ(batch.lost, 1000U);
  ASSERT_EQ(batch.launches.size(), kLargeRing.slots);
  EXPECT_EQ(batch.launches.front().number, 1000U);
}

TEST_F(RingReaderTest, DistinguishesEveryKindOfRecord) {
  const std::uint64_t number = launch(10, 1);
  writer_->put(number, pack_b(RecordKind::kGpuTime, 2, 1), std::bit_cast<std::uint64_t>(0.25));
  writer_->put(20, pack_b(RecordKind::kTick, 0, kNoName), 0);
  writer_->put(30, pack_b(RecordKind::kStep, 0, 5), 0);
  writer_->put(40, pack_b(RecordKind::kFork, 0, 4242), 0);

  const RingBatch batch = drain();

  ASSERT_EQ(batch.gpu_times.size(), 1U);
  EXPECT_EQ(batch.gpu_times[0].launch, number);
  EXPECT_DOUBLE_EQ(batch.gpu_times[0].time.value(), 0.25);
  EXPECT_EQ(batch.gpu_times[0].axis, 2U);
  EXPECT_EQ(batch.gpu_times[0].device, 1U);
  ASSERT_EQ(batch.ticks.size(), 2U);
  EXPECT_EQ(batch.ticks[0].name, std::nullopt);
  EXPECT_EQ(batch.ticks[1].name, 5U);
  EXPECT_TRUE(batch.ticks[1].nvtx);
  ASSERT_EQ(batch.notices.size(), 1U);
  EXPECT_EQ(batch.notices[0].value, 4242U);
}

TEST_F(RingReaderTest, WaitsForAnUnfinishedRecord) {
  launch(10, 1);
  launch(20, 2);
  RingSlot whole{};
  ASSERT_EQ(::pread(file_.get(), &whole, sizeof whole, static_cast<off_t>(slot_at(0))), 32);
  overwrite(slot_at(0), std::uint64_t{0});

  EXPECT_TRUE(drain(at_ms(1)).launches.empty());
  overwrite(slot_at(0), whole);

  EXPECT_EQ(drain(at_ms(2)).launches.size(), 2U);
}

TEST_F(RingReaderTest, GivesUpOnAWriterThatNeverFinishes) {
  launch(10, 1);
  launch(20, 2);
  overwrite(slot_at(0), std::uint64_t{0});

  drain(at_ms(1));
  const RingBatch batch = drain(at_ms(102));

  EXPECT_EQ(batch.lost, 1U);
  ASSERT_EQ(batch.launches.size(), 1U);
  EXPECT_EQ(batch.launches[0].launch.kernel, 2U);
}

TEST_F(RingReaderTest, NeverTakesAMixtureOfTwoRecords) {
  launch(10, 1);
  overwrite(slot_at(0) + offsetof(RingSlot, a), std::uint64_t{11});

  EXPECT_TRUE(drain(at_ms(1)).launches.empty());
  const RingBatch batch = drain(at_ms(200));

  EXPECT_TRUE(batch.launches.empty());
  EXPECT_EQ(batch.lost, 1U);
}

TEST_F(RingReaderTest, RefusesImpossibleRecords) {
  constexpr std::uint64_t kFuture = 10'000'000'000;
  launch(kFuture, 1);                                       // in the future
  launch(std::numeric_limits<std::uint64_t>::max(), 1);     // beyond any clock
  launch(1, kLargeRing.names);                              // no such kernel
  launch(1, 1, 0x00ff'ffff);                                // no such stream
  writer_->put(1, 0x63, 0);                                 // no such kind
  writer_->put(99, pack_b(RecordKind::kGpuTime, 0, 0), 0);  // of a launch that was not made yet
  writer_->put(0, pack_b(RecordKind::kGpuTime, 0, 0), ~std::uint64_t{0});  // not a number
  writer_->put(1, pack_b(RecordKind::kTick, 0, kLargeRing.names), 0);      // no such phase

  const RingBatch batch = drain();

  EXPECT_EQ(batch.damaged, 8U);
  EXPECT_TRUE(batch.launches.empty() && batch.gpu_times.empty() && batch.ticks.empty());
}

TEST_F(RingReaderTest, SurvivesACountThatRunsBackwards) {
  for (int i = 0; i < 10; ++i) launch(10, 1);
  drain();
  overwrite_head(4);

  const RingBatch batch = drain();

  EXPECT_EQ(batch.damaged, 1U);
  launch(10, 3);
  EXPECT_EQ(drain().launches.size(), 1U);
}

TEST_F(RingReaderTest, GivesUpARingWhoseCountIsImpossible) {
  overwrite_head(std::numeric_limits<std::uint64_t>::max());
  RingBatch batch;

  const auto outcome = reader_->drain(at_ms(1), batch);

  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().line().find("record count"), std::string::npos);
}

TEST_F(RingReaderTest, CountsALeapOfTheHeadAsLostRecords) {
  overwrite_head(std::uint64_t{1} << 40);

  const RingBatch batch = drain(at_ms(1));

  EXPECT_GE(batch.lost, (std::uint64_t{1} << 40) - kLargeRing.slots);
  EXPECT_TRUE(batch.launches.empty());
}

TEST_F(RingReaderTest, FindsAShrunkenFileWithoutASignal) {
  launch(10, 1);
  ASSERT_EQ(::ftruncate(file_.get(), 4096), 0);
  RingBatch batch;

  const auto outcome = reader_->drain(at_ms(1), batch);

  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(batch.launches.empty());
  EXPECT_EQ(reader_->name(3), std::nullopt);
  ASSERT_EQ(::ftruncate(file_.get(), kLargeRing.file_size()), 0);
}

TEST_F(RingReaderTest, NamesKernelsInPrintableText) {
  const std::uint32_t plain = writer_->intern("ampere_sgemm_128x64");
  const std::uint32_t odd = writer_->intern("evil\x1b[2Jname\xff");

  EXPECT_EQ(reader_->name(plain), "ampere_sgemm_128x64");
  EXPECT_EQ(reader_->name(odd), "evil?[2Jname?");
  EXPECT_EQ(reader_->name(odd + 1), std::nullopt);
  EXPECT_EQ(reader_->name(kNoName), std::nullopt);
}

TEST_F(RingReaderTest, CutsLongNamesButTellsThemApart) {
  const std::string common(400, 'x');

  const std::uint32_t one = writer_->intern((common + "1").c_str());
  const std::uint32_t two = writer_->intern((common + "2").c_str());

  EXPECT_NE(one, two);
  EXPECT_EQ(writer_->intern((common + "1").c_str()), one);
  EXPECT_EQ(reader_->name(one), std::string(kNameLength, 'x'));
}

TEST_F(RingReaderTest, IgnoresANameOfImpossibleLength) {
  const std::uint32_t id = writer_->intern("short");
  overwrite(kNamesOffset + id * sizeof(RingName), std::uint32_t{100'000});

  EXPECT_EQ(reader_->name(id), std::nullopt);
}

TEST_F(RingReaderTest, ReportsTheWriterAndItsStatus) {
  writer_->set_status(RingStatus::kHandedOver, "a profiler started");

  const auto info = reader_->info();

  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->pid, ::getpid());
  EXPECT_EQ(info->status, RingStatus::kHandedOver);
  EXPECT_EQ(info->reason, "a profiler started");
  EXPECT_EQ(info->process, program_invocation_short_name);
}

TEST_F(RingReaderTest, UnterminatedTextStopsAtItsField) {
  char full[sizeof(RingHeader::reason)];
  std::fill(std::begin(full), std::end(full), 'r');
  ASSERT_EQ(::pwrite(file_.get(), full, sizeof full, offsetof(RingHeader, reason)), 128);

  const auto info = reader_->info();

  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->reason, std::string(128, 'r'));
}

TEST_F(RingReaderTest, WritesWhatTheControllerWants) {
  ASSERT_TRUE(reader_->want_events(WantedEvents{17, 16, milliseconds(80)}).ok());

  const RingControl& control = writer_->control();

  EXPECT_EQ(control.revision, 2U);
  EXPECT_EQ(control.events_wanted, 1U);
  EXPECT_EQ(control.kernel, 17U);
  EXPECT_EQ(control.previous, 16U);
  EXPECT_EQ(control.spacing_ns, 80'000'000U);
}

TEST_F(RingReaderTest, NeverRequestsEventsTooOften) {
  ASSERT_TRUE(reader_->want_events(WantedEvents{17, std::nullopt, milliseconds(1)}).ok());

  EXPECT_EQ(writer_->control().spacing_ns, kLeastSpacingNs);
  EXPECT_EQ(writer_->control().previous, kNoName);

  ASSERT_TRUE(reader_->want_events(std::nullopt).ok());

  EXPECT_EQ(writer_->control().events_wanted, 0U);
  EXPECT_EQ(writer_->control().revision, 4U);
}

}  // namespace
}  // namespace hypermile
