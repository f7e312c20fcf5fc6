// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

// Length in bytes of the whole, shortest-form UTF-8 character at the start of `text`; 0 if there is
// none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  // U+0080 to U+009F are control characters, and U+200B to U+206F include those that reverse the
  // direction of text, with which one name can look like another.
  if (first == 0xC2 && second < 0xA0) return 0;
  if (first == 0xE2 && (second == 0x81 || (second == 0x80 && byte(2) >= 0x8B && byte(2) != 0xA6 &&
                                           !(byte(2) >= 0x90 && byte(2) <= 0x9F)))) {
    return 0;
  }
  return length;
}

}  // namespace

std::string harmless(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const bool ascii = first >= 0x20 && first < 0x7F;
    const std::size_t length = ascii ? 1 : character(text);
    if (out.size() + std::max<std::size_t>(length, 1) > most) break;
    if (length == 0) {
      out += '?';
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t column) {
  std::string out;
  const auto new_line = [&] {
    out += '\n' + std::string(indent, ' ');
    column = indent;
  };
  bool begun = false;  // a word stands before the next one in its line
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!word.empty()) {
      if (column + (begun ? 1 : 0) + columns(word) > kTerminalColumns && column > indent) {
        new_line();
        begun = false;
      }
      if (begun) out += ' ';
      out += word;
      column += (begun ? 1 : 0) + columns(word);
      begun = true;
    }
    if (end < text.size() && text[end] == '\n') {
      new_line();
      begun = false;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

}  // namespace hypermile
