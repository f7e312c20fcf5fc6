// SPDX-License-Identifier: Apache-2.0
//
// Stretches without watching, inside a training process over the fake driver and the fake CUPTI.
#include <algorithm>

#include "inject/training_for_test.h"

namespace hypermile {
namespace {

class DarkStretchesTest : public TrainingTest {
 protected:
  // Starts the job up to its "await", asks for darkness and lets it go on to its end.
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
  // Until launches are not watched any more, or are again.
  void wait_for(ReadRing& ring, std::uint32_t watching) {
    std::vector<RingNotice> said;
    while (said.empty() || said.back().value != watching) {
      EXPECT_TRUE(ring.reader->drain(now(), ring.batch).ok());
      said = ring.notices(RecordKind::kWatch);
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

TEST_F(DarkStretchesTest, LaunchesAreNotWatchedUntilTheTimeHasCome) {
  const ReadRing ring = dark_for(0.4, "init loop 1 1 0 await loop 400 3 2000");

  const auto said = ring.notices(RecordKind::kWatch);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].value, 0U);
  EXPECT_EQ(said[1].value, 1U);
  const double lasted = (said[1].time - said[0].time).value();
  EXPECT_LE(lasted, 0.4 + 0.1);
  EXPECT_NEAR(ring.info.dark.value(), lasted, 1e-3);
  // Some are seen while the switches are being turned.
  EXPECT_LE(launches_between(ring, said[0], said[1]), 60U);
  EXPECT_LT(ring.batch.launches.size(), 1201U - 150U);
  EXPECT_GT(ring.batch.launches.back().number, said[1].number) << "watched again";
}

TEST_F(DarkStretchesTest, AControllerMaySeeAgainBeforeThat) {
  start("init loop 1 1 0 await loop 300 3 2000 await loop 1 3 0");
  ReadRing ring = wait_for_launches(0);
  ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(50)).ok());
  go_on();
  wait_for(ring, 0);

  ASSERT_TRUE(ring.reader->want_dark(std::nullopt).ok());

  wait_for(ring, 1);
  go_on();
  finish();
  EXPECT_LT(
      ring.notices(RecordKind::kWatch).back().time - ring.notices(RecordKind::kWatch).front().time,
      Seconds(5));
}

TEST_F(DarkStretchesTest, WishesMayFollowOneAnother) {
  start("init loop 1 1 0 await loop 600 3 2000");
  ReadRing ring = wait_for_launches(0);
  go_on();
  for (int i = 0; i < 3; ++i) {
    const std::size_t seen = ring.notices(RecordKind::kWatch).size();
    ASSERT_TRUE(ring.reader->want_dark(now() + Seconds(0.1)).ok());
    while (ring.notices(RecordKind::kWatch).size() < seen + 2)
      ASSERT_TRUE(ring.reader->drain(now(), ring.batch).ok());
  }
  finish();

  EXPECT_EQ(ring.notices(RecordKind::kWatch).size(), 6U);
}

TEST_F(DarkStretchesTest, CapturesAreCountedInTheDark) {
  const ReadRing ring =
      dark_for(0.2, "init loop 1 1 0 await loop 20 1 2000 capture 5 3 loop 200 1 2000 violations");

  EXPECT_NE(output_.find("violations 0"), std::string::npos);
  EXPECT_EQ(ring.counts().count("captured"), 0U);
  EXPECT_EQ(ring.counts().count("kernel_0"), 1U);
}

TEST_F(DarkStretchesTest, AProfilerThatComesInTheDarkGetsThePlace) {
  const ReadRing ring =
      dark_for(0.2, "init loop 1 1 0 await loop 20 1 2000 profiler-loaded loop 150 1 2000");

  EXPECT_NE(output_.find("profiler 0 saw 2"), std::string::npos);
  EXPECT_EQ(ring.info.status, RingStatus::kHandedOver);
  EXPECT_LT(ring.batch.launches.size(), 22U);
}

TEST_F(DarkStretchesTest, TheJobMayEndInTheDark) {
  const ReadRing ring = dark_for(50, "init loop 1 1 0 await loop 20 1 2000 say done");

  EXPECT_EQ(output_, "done\n");
  EXPECT_EQ(ring.info.status, RingStatus::kEnded);
}

TEST_F(DarkStretchesTest, AWishOfThePastIsNone) {
  const ReadRing ring = dark_for(-1, "init loop 1 1 0 await loop 20 1 1000");

  EXPECT_TRUE(ring.notices(RecordKind::kWatch).empty());
  EXPECT_EQ(ring.batch.launches.size(), 21U);
}

}  // namespace
}  // namespace hypermile
