// SPDX-License-Identifier: Apache-2.0
//
// Several writers, honest and hostile, and one reader at the same time.
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "testing/ring_fixture.h"

namespace hypermile {
namespace {

class RingThreadsTest : public RingTest {
 protected:
  static Instant now() {
    return Instant::from_nanoseconds(static_cast<std::int64_t>(monotonic_ns()));
  }
};

TEST_F(RingThreadsTest, EveryRecordArrivesWholeOrIsCounted) {
  constexpr unsigned kWriters = 4;
  constexpr std::uint32_t kEach = 100'000;
  std::atomic<unsigned> running = kWriters;
  std::vector<std::thread> writers;
  // A record of thread t has kernel = stream = t, and its time is a running number.
  for (std::uint32_t t = 0; t < kWriters; ++t)
    writers.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kEach; ++i) launch(i, t, t);
      --running;
    });

  RingBatch all;
  while (running != 0) ASSERT_TRUE(reader_->drain(now(), all).ok());
  for (std::thread& each : writers) each.join();
  // A writer that stood still while the others went round the ring has overwritten a newer record:
  // the reader waits for that one before it counts it as lost.
  for (unsigned i = 0; i <= 2 * kWriters; ++i) {
    ASSERT_TRUE(reader_->drain(now() + Seconds(i), all).ok());
  }

  EXPECT_EQ(all.damaged, 0U);
  EXPECT_EQ(all.launches.size() + all.lost, kWriters * kEach);
  std::int64_t last[kWriters] = {-1, -1, -1, -1};
  for (const NumberedLaunch& each : all.launches) {
    ASSERT_EQ(each.launch.kernel, each.launch.stream);
    ASSERT_GT(each.launch.time.nanoseconds(), last[each.launch.kernel]);
    last[each.launch.kernel] = each.launch.time.nanoseconds();
  }
}

TEST_F(RingThreadsTest, ThreadsAgreeOnNames) {
  constexpr unsigned kThreads = 4;
  constexpr unsigned kNames = 2000;
  std::vector<std::vector<std::uint32_t>> ids(kThreads, std::vector<std::uint32_t>(kNames));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kNames; ++i)
        ids[t][i] = writer_->intern(("kernel " + std::to_string(i)).c_str());
    });
  for (std::thread& each : threads) each.join();

  for (unsigned t = 1; t < kThreads; ++t) EXPECT_EQ(ids[t], ids[0]);
  for (unsigned i = 0; i < kNames; ++i)
    EXPECT_EQ(reader_->name(ids[0][i]), "kernel " + std::to_string(i));
}

TEST_F(RingThreadsTest, AHostileWriterCostsRecordsAndNothingElse) {
  std::atomic<bool> stop = false;
  std::thread hostile([&] {
    std::mt19937_64 random(7);
    while (!stop) {
      const std::uint64_t junk = random();
      switch (random() % 5) {
        case 0:
          overwrite_head(junk >> (random() % 64));
          break;
        case 1:
          overwrite(kNamesOffset + (junk % (kLargeRing.names * sizeof(RingName))) / 8 * 8, junk);
          break;
        case 2:
          if (random() % 16 == 0) {
            EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(junk % kLargeRing.file_size())),
                      0);
            EXPECT_EQ(::ftruncate(file_.get(), kLargeRing.file_size()), 0);
          }
          break;
        default: {
          // The seal is valid, so that the reader looks at the words behind it.
          const RingSlot slot{0, random() >> (random() % 64), random(), random()};
          RingSlot sealed = slot;
          const std::uint64_t number = junk % (2 * kLargeRing.slots);
          sealed.seal = seal_of(number, slot.a, slot.b, slot.c);
          overwrite(slot_at(number), sealed);
          overwrite_head(number + 1);
        }
      }
    }
  });

  std::uint64_t accepted = 0;
  RingBatch batch;
  // On a busy machine the other thread may start late.
  const auto untouched = [&] { return reader_->lost() + reader_->damaged() == 0; };
  for (int i = 0; i < 3000 || (i < 1'000'000 && untouched()); ++i) {
    batch.clear();
    (void)reader_->drain(now() + Seconds(i), batch);
    for (const NumberedLaunch& each : batch.launches) {
      ASSERT_LT(each.launch.kernel, kLargeRing.names);
      (void)reader_->name(each.launch.kernel);
      ++accepted;
    }
    (void)reader_->info();
    (void)reader_->name(static_cast<std::uint32_t>(i));
  }
  stop = true;
  hostile.join();

  RecordProperty("accepted", std::to_string(accepted));
  EXPECT_FALSE(untouched());
}

}  // namespace
}  // namespace hypermile
