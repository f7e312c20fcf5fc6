// SPDX-License-Identifier: Apache-2.0
#include "control/direct_port.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "testing/fake_gpu.h"
#include "testing/faulty_gpu.h"

namespace hypermile {
namespace {

TEST(DirectPort, TellsTheNewestRequestAndResetsWhatItDoesNotName) {
  VirtualClock clock;
  FakeGpu card(clock);
  DirectPort port({&card});
  port.claim({card.identity().uuid});
  port.ask(card.identity().uuid, {.sm_clock = Mhz(1410), .power_limit = Watts(300)});
  ASSERT_EQ(port.take_answers().size(), 1U);

  port.ask(card.identity().uuid, {.sm_clock = Mhz(345)});
  port.ask(card.identity().uuid, {.sm_clock = Mhz(1980)});
  const auto answers = port.take_answers();

  ASSERT_EQ(answers.size(), 1U);
  ASSERT_TRUE(answers[0].told.ok());
  EXPECT_EQ(card.held, (Setting{.sm_clock = Mhz(1980)}));
}

TEST(DirectPort, GivesTheCardBackWhenItGoes) {
  VirtualClock clock;
  FakeGpu card(clock);
  {
    DirectPort port({&card});
    port.claim({card.identity().uuid});
    port.ask(card.identity().uuid, {.sm_clock = Mhz(1410)});
    port.take_answers();
    ASSERT_FALSE(card.held.empty());
  }

  EXPECT_TRUE(card.held.empty());
}

TEST(DirectPort, RefusesACardThatItDoesNotHave) {
  VirtualClock clock;
  FakeGpu card(clock);
  DirectPort port({&card});

  port.claim({GpuUuid("GPU-another")});

  EXPECT_EQ(port.state(), PortState::kRefused);
  EXPECT_TRUE(port.problem().has_value());
}

TEST(DirectPort, PassesOnWhatTheCardSaysAgainstARequest) {
  VirtualClock clock;
  FakeGpu card(clock);
  DirectPort port({&card});
  port.claim({card.identity().uuid});

  port.ask(card.identity().uuid, {.sm_clock = Mhz(1234)});
  const auto answers = port.take_answers();

  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].told.ok());
}

}  // namespace
}  // namespace hypermile
