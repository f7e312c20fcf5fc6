// SPDX-License-Identifier: Apache-2.0
//
// Dark stretches inside a training process that runs on the fake driver and the fake CUPTI.
#include <algorithm>

#include "testing/training_fixture.h"

namespace hypermile {
namespace {

class DarkStretchesTest : public TrainingTest {
 protected:
  // Runs the job to its "await", asks for a dark stretch and lets the job finish.
  ReadRing dark_for(double seconds, const std::string& words) {
    start(words);
    ReadRing ring = wait_for_launches(0);
    EXPECT_TRUE(ring.reader->want_dark(now() + Seconds(seconds)).ok());
    go_on();
    finish();
    take(ring);
    return ring;
  }
  void take(ReadRing& ring) {
    EXPECT_TRUE(ring.reader->drain(now(), ring.batch).ok());
    auto info = ring.reader->info();
    ASSERT_TRUE(info.ok());
    ring.info = *info;
  }
  // Waits until the ring holds `count` kWatch notices, for at most 30 s on a loaded machine.
  void wait_for_notes(ReadRing& ring, std::size_t count) {
    const Instant patient_until = now() + Seconds(30);
    while (ring.notices(RecordKind::kWatch).size() < count) {
      ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());
      ASSERT_LT(now(), patient_until);
    }
  }
  static std::size_t launches_between(const ReadRing& ring, const RingNotice& from,
                                      const RingNotice& to) {
    return static_cast<std::size_t>(
        std::ranges::count_if(ring.batch.launches, [&](const NumberedLaunch& each) {
          return each.number > from.number && each.number < to.number;
        }));
  }
};

TEST_F(DarkStretchesTest, LaunchesAreNotWatchedUntilTheRequestedTime) {
  start("init loop 1 1 0 await loop 200 3 2000 await loop 20 3 0");
  ReadRing ring = wait_for_launches(0);
  const Instant wish = now() + Seconds(0.8);
  ASSERT_TRUE(ring.reader->want_dark(wish).ok());
  go_on();
  wait_for_notes(ring, 2);
  go_on();
  finish();
  take(ring);

  const auto said = ring.notices(RecordKind::kWatch);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].value, 0U);
  EXPECT_EQ(said[1].value, 1U);
  EXPECT_GE(said[1].time, wish);
  EXPECT_NEAR(ring.info.dark.value(), (said[1].time - said[0].time).value(), 1e-3);
  // Some launches are seen while the callbacks are being switched.
  EXPECT_LT(launches_between(ring, said[0], said[1]), 600U);
  EXPECT_GE(ring.batch.launches.back().number, said[1].number + 60) << "every later launch is seen";
}

TEST_F(DarkStretchesTest, TheControllerMayEndADarkStretchEarly) {
  start("init loop 1 1 0 await loop 20 3 2000 await loop 1 3 0");
  ReadRing ring = wait_for_launches(0);
  ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(50)).ok());
  go_on();
  wait_for_notes(ring, 1);

  ASSERT_TRUE(ring.reader->want_dark(std::nullopt).ok());

  wait_for_notes(ring, 2);
  go_on();
  finish();
}

TEST_F(DarkStretchesTest, SeveralDarkStretchesMayFollowEachOther) {
  start("init loop 1 1 0 await loop 10 3 2000 await loop 10 3 2000 await loop 1 1 0");
  ReadRing ring = wait_for_launches(0);
  for (const std::size_t stretches : {1U, 2U}) {
    ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(0.5)).ok());
    go_on();
    wait_for_notes(ring, 2 * stretches);
  }
  go_on();
  finish();

  EXPECT_EQ(ring.notices(RecordKind::kWatch).size(), 4U);
}

TEST_F(DarkStretchesTest, CapturesAndProfilersAreNoticedInADarkStretch) {
  start("init loop 1 1 0 await loop 1 1 0 await capture 5 3 profiler-loaded loop 3 1 0 violations");
  ReadRing ring = wait_for_launches(0);
  ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(50)).ok());
  go_on();
  wait_for_notes(ring, 1);
  go_on();
  finish();
  take(ring);

  EXPECT_NE(output_.find("violations 0"), std::string::npos);
  EXPECT_EQ(ring.counts().count("captured"), 0U);
  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
  EXPECT_EQ(ring.info.status, RingStatus::kHandedOver);
}

TEST_F(DarkStretchesTest, TheJobMayEndInADarkStretch) {
  const ReadRing ring = dark_for(50, "init loop 1 1 0 await loop 20 1 2000 say done");

  EXPECT_EQ(output_, "done\n");
  EXPECT_EQ(ring.info.status, RingStatus::kEnded);
}

TEST_F(DarkStretchesTest, ARequestForAPastTimeIsIgnored) {
  const ReadRing ring = dark_for(-1, "init loop 1 1 0 await loop 20 1 1000");

  EXPECT_TRUE(ring.notices(RecordKind::kWatch).empty());
  EXPECT_EQ(ring.batch.launches.size(), 21U);
}

}  // namespace
}  // namespace hypermile
