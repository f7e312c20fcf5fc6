// SPDX-License-Identifier: Apache-2.0
#include "record/event_words.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Decision kept(const std::string& policy) {
  return {GpuUuid("GPU-0"), policy, {.sm_clock = Mhz(1410)}, "", 0.87, {{"exploring", 0}}};
}

TEST(EventWords, SayWhatTheConfidenceIsOf) {
  EXPECT_EQ(words_of(kept("hypermile"))->text,
            "keep sm=1410MHz (87 % sure that the whole job keeps its bound)");
}

TEST(EventWords, ClaimNoConfidenceForAPolicyThatWorksOutNone) {
  EXPECT_EQ(words_of(kept("zeus"))->text, "keep sm=1410MHz");
}

}  // namespace
}  // namespace hypermile
