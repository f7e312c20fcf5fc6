// SPDX-License-Identifier: Apache-2.0
//
// Text as a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hypermile {

inline constexpr std::size_t kTerminalColumns = 80;

// `text` cut to `most` bytes, with '?' for everything that is not printable ASCII or a whole UTF-8
// character, since people see it on their terminals.
std::string harmless(std::string_view text, std::size_t most);

// `text` in lines of kTerminalColumns, broken at blanks. The first line begins at `column`, the
// others are indented. A word that is longer than a line is not broken.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t column);

// "1 GPU", "2 GPUs".
std::string counted(std::size_t count, std::string_view what);

// How many columns valid UTF-8 takes, where no character is wider than one.
std::size_t columns(std::string_view text);

}  // namespace hypermile
