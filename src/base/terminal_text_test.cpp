// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(Harmless, ReplacesTerminalControlCharacters) {
  EXPECT_EQ(harmless("train \x1b[2J\n", 100), "train ?[2J?");
  EXPECT_EQ(harmless("größe 模型", 100), "größe 模型");
  EXPECT_EQ(harmless("\xC2\x9B", 100), "??") << "a control character in two bytes";
  EXPECT_EQ(harmless("a\xE2\x80\xAE b", 100), "a??? b") << "right-to-left override";
  EXPECT_EQ(harmless("\xED\xA0\x80\xC0\xAF\xF5", 100), "??????");
  EXPECT_EQ(harmless("größe", 3), "gr") << "no half characters";
  EXPECT_EQ(harmless("abcdef", 3), "abc");
}

TEST(Wrapped, BreaksAtBlanksAndIndents) {
  const std::string long_text =
      std::string(30, 'a') + " " + std::string(30, 'b') + " " + std::string(30, 'c');

  EXPECT_EQ(wrapped("short text", 4, 10), "short text");
  EXPECT_EQ(wrapped(long_text, 2, 0),
            std::string(30, 'a') + " " + std::string(30, 'b') + "\n  " + std::string(30, 'c'));
  EXPECT_EQ(wrapped(long_text, 20, 20), std::string(30, 'a') + "\n" + std::string(20, ' ') +
                                            std::string(30, 'b') + "\n" + std::string(20, ' ') +
                                            std::string(30, 'c'));
  EXPECT_EQ(wrapped("one\ntwo", 2, 0), "one\n  two");
  EXPECT_EQ(wrapped(std::string(100, 'x') + " y", 2, 0), std::string(100, 'x') + "\n  y");
}

TEST(Wrapped, CountsCharactersAndNotBytes) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += i > 0 ? " é" : "é";  // 79 columns, 119 bytes

  EXPECT_EQ(wrapped(text, 0, 0), text);
}

}  // namespace
}  // namespace hypermile
