// SPDX-License-Identifier: Apache-2.0
#include "policy/moved_default.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

// Probes of a job that is bound by its clock to 40 %, in a slow minute or not.
class MovedDefaultTest : public testing::Test {
 protected:
  void probe(double mhz, double slow_minute = 1) {
    std::size_t setting = 0;
    while (mhz < 1410 && job_.context.settings[setting].sm_clock != Mhz(mhz)) ++setting;
    at_ += 30;
    seen_.add(setting, at_, 1, std::log(job_.time[setting] * slow_minute), std::log(200));
  }
  bool moved() const { return default_has_moved(slice_, seen_, Noise{0.003, 0.003}); }

  SyntheticJob job_ = clock_job(0.4);
  Slice slice_ = make_slice(job_.context.settings, std::nullopt, {Mhz(1410), {}, Watts(300)});
  Observations seen_;
  double at_ = 0;
};

TEST_F(MovedDefaultTest, BelievesProbesThatAJobCanShow) {
  for (const double mhz : {1410.0, 1395.0, 900.0, 1200.0, 1320.0, 1365.0}) {
    probe(mhz);
    EXPECT_FALSE(moved()) << mhz;
  }
}

TEST_F(MovedDefaultTest, DoubtsALineThatPassesAboveTheDefault) {
  probe(1410);
  probe(900, 1.05);
  EXPECT_FALSE(moved()) << "one probe alone may be as slow as it looks";

  probe(1200, 1.05);

  EXPECT_TRUE(moved());
}

TEST_F(MovedDefaultTest, DoubtsASlowdownBeyondThatOfTheClock) {
  probe(1410);
  probe(1365);
  EXPECT_FALSE(moved());

  probe(1350, 1.05);

  EXPECT_TRUE(moved());
}

TEST_F(MovedDefaultTest, DoubtsALowerClockThatIsFaster) {
  probe(1410, 1.05);
  probe(1200, 1.05);
  EXPECT_FALSE(moved());

  probe(1185);

  EXPECT_TRUE(moved()) << "the default was measured in a slow minute that is over";
}

TEST_F(MovedDefaultTest, AsksNoMoreOnceTheDefaultWasMeasuredInTheSlowMinute) {
  probe(1410);
  probe(900, 1.05);
  probe(1200, 1.05);

  probe(1410, 1.05);
  EXPECT_FALSE(moved());
  probe(1215, 1.05);

  EXPECT_FALSE(moved());
}

TEST_F(MovedDefaultTest, SaysNothingWhereAnotherMemoryClockHasALevelOfItsOwn) {
  slice_.own_level = true;
  probe(1410);
  probe(900, 1.2);

  probe(1200, 1.2);

  EXPECT_FALSE(moved());
}

}  // namespace
}  // namespace hypermile
