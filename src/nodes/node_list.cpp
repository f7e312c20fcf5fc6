// SPDX-License-Identifier: Apache-2.0
#include "nodes/node_list.h"

#include <fmt/format.h>

#include <charconv>

namespace hypermile {
namespace {

Error broken(std::string_view text) {
  return Error{ErrorCode::kParse, fmt::format("'{}' is no list of nodes", text)};
}

// Parts between commas that are not inside brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

bool number_of(std::string_view digits, unsigned long& value) {
  const char* end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, value);
  return !digits.empty() && problem == std::errc() && stop == end;
}

// Adds the numbers of a range such as "0-3", or a single one such as "7". Each is written with as
// many digits as the first number of the range.
bool add_range(std::string_view range, std::vector<std::string>& values) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == range.npos ? first : range.substr(dash + 1);
  unsigned long low = 0, high = 0;
  if (!number_of(first, low) || !number_of(last, high) || high < low) return false;
  if (high - low >= kMostNodes || values.size() + (high - low) >= kMostNodes) return false;
  for (unsigned long i = low; i <= high; ++i) {
    values.push_back(fmt::format("{:0{}}", i, first.size()));
  }
  return true;
}

// Adds all names that `part` stands for. Each bracket multiplies the names before it.
bool expand(std::string_view part, std::vector<std::string>& names) {
  std::vector<std::string> grown = {""};
  while (!part.empty()) {
    const std::size_t open = part.find('[');
    for (std::string& name : grown) name += part.substr(0, open);
    if (open == part.npos) break;
    const std::size_t close = part.find(']', open);
    if (close == part.npos) return false;
    std::vector<std::string> values;
    for (const std::string_view range : parts_of(part.substr(open + 1, close - open - 1))) {
      if (!add_range(range, values)) return false;
    }
    if (grown.size() * values.size() > kMostNodes) return false;
    std::vector<std::string> next;
    for (const std::string& name : grown) {
      for (const std::string& value : values) next.push_back(name + value);
    }
    grown = std::move(next);
    part = part.substr(close + 1);
  }
  names.insert(names.end(), grown.begin(), grown.end());
  return names.size() <= kMostNodes;
}

}  // namespace

Result<std::vector<std::string>> expand_node_list(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : parts_of(text)) {
    if (part.empty() || part.find_first_of(" \t\n/") != part.npos || !expand(part, names)) {
      return broken(text);
    }
  }
  return names;
}

}  // namespace hypermile
