// SPDX-License-Identifier: Apache-2.0
#include "base/toml_reader.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

std::string nested(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

TEST(ParseToml, RefusesAKeyThatWouldOverflowTheStack) {
  // Half a million tables in one another end the process in their destructor.
  const auto parsed = parse_toml("x = 1\n" + nested(500'000) + " = 1\n", "hostile.toml");

  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, ErrorCode::kParse);
  EXPECT_EQ(parsed.error().message, "hostile.toml:2: has more than 64 dots");
}

TEST(ParseToml, QuotesAndHeadersHideNoDots) {
  std::string quoted = "\"=\"";
  for (int i = 0; i < 100'000; ++i) quoted += ".\"=\"";

  EXPECT_FALSE(parse_toml(quoted + " = 1\n", "f").ok());
  EXPECT_FALSE(parse_toml("[" + nested(100'000) + "]\n", "f").ok());
  EXPECT_FALSE(parse_toml("x = \"\"\"\n\"\n" + nested(100'000) + " = 1\n", "f").ok());
}

TEST(ParseToml, TakesTheDeepestTextThatItAllows) {
  std::string text = "[" + nested(64) + "]\n";
  for (int i = 0; i < 120; ++i) text += nested(64) + " = [\n{ ";
  text += "b = 1";
  for (int i = 0; i < 120; ++i) text += "}\n]";

  EXPECT_TRUE(parse_toml(text + "\n", "f").ok());
}

TEST(ParseToml, RefusesAnEndlessFile) {
  EXPECT_FALSE(read_toml("/dev/zero").ok());
  EXPECT_EQ(read_toml("/").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_toml("/nowhere.toml").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(read_toml("/dev/null").ok()) << "an empty file is an empty table";
}

}  // namespace
}  // namespace hypermile
