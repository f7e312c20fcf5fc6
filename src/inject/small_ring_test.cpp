// SPDX-License-Identifier: Apache-2.0
//
// Rings where memory is scarce. tests/run/test_container.py plays the same with real file systems.
#include "testing/ring_fixture.h"

namespace hypermile {
namespace {

class SmallRing : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    ASSERT_TRUE(small_->open(RingSource::kTicks, kSmallRing));
    const auto found = folder_->discover();
    ASSERT_EQ(found.size(), 1U);
    reader_ = found.front();
  }

  std::unique_ptr<RingWriter> small_ = std::make_unique<RingWriter>();
};

TEST_F(SmallRing, KeepsTheNewestRecordsAndCountsTheRest) {
  for (std::uint64_t i = 0; i < kSmallRing.slots + 500; ++i)
    small_->put(i, pack_b(RecordKind::kLaunch, 0, 3), 1);

  const RingBatch batch = drain();

  EXPECT_EQ(batch.lost, 500U);
  ASSERT_EQ(batch.launches.size(), kSmallRing.slots);
  EXPECT_EQ(batch.launches.front().number, 500U);
  EXPECT_EQ(batch.damaged, 0U);
}

TEST_F(SmallRing, GivesNamesWithoutRoomTheLastOne) {
  for (std::uint32_t i = 0; i < kSmallRing.names + 50; ++i)
    small_->intern(("kernel_" + std::to_string(i)).c_str());

  EXPECT_EQ(small_->intern("one_more"), kSmallRing.other_names());
  EXPECT_EQ(reader_->name(kSmallRing.other_names()), "(other names)");
  EXPECT_EQ(reader_->name(7), "kernel_7");
  EXPECT_EQ(reader_->name(kSmallRing.names), std::nullopt);
}

TEST(RingExtent, LeavesTheJobNearlyEverythingThatIsFree) {
  constexpr std::uint64_t kMb = 1'000'000;

  EXPECT_EQ(extent_for(10'000 * kMb), &kLargeRing);
  EXPECT_EQ(extent_for(64 * kMb), &kSmallRing);
  EXPECT_EQ(extent_for(30 * kMb), nullptr);
  EXPECT_EQ(extent_for(0), nullptr);
  std::uint64_t free = 64 * kMb;  // shared memory of a container
  for (int process = 0; process < 1000; ++process)
    if (const RingExtent* extent = extent_for(free)) free -= extent->file_size();
  EXPECT_GT(free, 32 * kMb) << "however many processes there are";
}

}  // namespace
}  // namespace hypermile
