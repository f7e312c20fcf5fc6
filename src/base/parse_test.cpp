// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(*parse_duration("1.5s"), Seconds(1.5));
  EXPECT_EQ(*parse_duration("20ms"), Seconds(0.02));
  EXPECT_EQ(*parse_duration("2min"), Seconds(120));
  EXPECT_EQ(*parse_duration("1h"), Seconds(3600));
  EXPECT_EQ(*parse_duration("100"), Seconds(100));
}

TEST(ParseDuration, RefusesTextThatIsNotADuration) {
  for (const char* text : {"", "s", "-1s", "5 s", "nan", "infs", "1.5x", "1s2"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
}

TEST(ParseSlowdown, TakesPercentFractionAndFactor) {
  EXPECT_DOUBLE_EQ(*parse_slowdown("5%"), 0.05);
  EXPECT_DOUBLE_EQ(*parse_slowdown("0.05"), 0.05);
  EXPECT_NEAR(*parse_slowdown("1.05"), 0.05, 1e-12);
  EXPECT_DOUBLE_EQ(*parse_slowdown("0"), 0);
  EXPECT_DOUBLE_EQ(*parse_slowdown("100%"), 1);
  EXPECT_DOUBLE_EQ(*parse_slowdown("1%"), 0.01);
}

// It would allow the job to take twice its time; two percent were meant.
TEST(Parse, RefusesASlowdownThatCouldMeanTwoThings) {
  for (const char* text : {"1", "1.0", "2", "1.51", "5", "20"})
    EXPECT_FALSE(parse_slowdown(text).ok()) << text;
  EXPECT_EQ(parse_slowdown("2").error().line(),
            "'2' is no clear slowdown; write 2% for 2 percent, or a factor such as 1.02");
  EXPECT_NEAR(*parse_slowdown("1.5"), 0.5, 1e-12);
}

TEST(Parse, RefusesDurationsBeyondEveryClock) {
  EXPECT_FALSE(parse_duration("1e300h").ok());
  EXPECT_FALSE(parse_duration("1e10s").ok());
  EXPECT_TRUE(parse_duration("1000h").ok());
}

TEST(ParseSlowdown, RefusesImpossibleSlowdowns) {
  for (const char* text : {"-1%", "101%", "5", "abc", "%", "nan"}) {
    EXPECT_FALSE(parse_slowdown(text).ok()) << text;
  }
}

TEST(ParseNumber, RefusesTrailingTextAndNonFinite) {
  EXPECT_DOUBLE_EQ(*parse_number("1e3"), 1000);
  EXPECT_FALSE(parse_number("1e3x").ok());
  EXPECT_FALSE(parse_number("inf").ok());
  EXPECT_FALSE(parse_integer("1.5").ok());
  EXPECT_EQ(*parse_integer("-3"), -3);
}

}  // namespace
}  // namespace hypermile
