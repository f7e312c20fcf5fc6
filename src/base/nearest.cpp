// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace hypermile {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// A part of a name counts as near: people type "v100" for "V100-SXM2 300W".
std::size_t name_distance(std::string_view typed, std::string_view name) {
  const bool part = typed.size() >= 2 && name.find(typed) != std::string_view::npos;
  return part ? 1 : edit_distance(typed, name);
}

std::string join(std::span<const std::string> names, std::string_view last_separator) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? last_separator : std::string_view(", ");
    out += names[i];
  }
  return out;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view typed, std::span<const std::string> known,
                                       std::size_t limit) {
  const std::string wanted = lower(typed);
  const std::size_t worst = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : known) {
    const std::size_t distance = name_distance(wanted, lower(name));
    if (distance <= worst) found.emplace_back(distance, name);
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [distance, name] : found) {
    if (names.size() == limit) break;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string suggestion(std::string_view typed, std::span<const std::string> known) {
  if (known.empty()) return "";
  const std::vector<std::string> near = nearest_names(typed, known);
  if (!near.empty()) return "did you mean " + join(near, " or ") + "?";
  constexpr std::size_t kShown = 8;
  const bool all = known.size() <= kShown;
  return "known: " + join(known.first(std::min(known.size(), kShown)), ", ") + (all ? "" : ", …");
}

}  // namespace hypermile
