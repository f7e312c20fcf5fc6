// SPDX-License-Identifier: Apache-2.0
//
// Reads values out of a TOML table with errors that name file and line: a missing key, a value of
// the wrong kind or out of range, and every key that nobody asked for. Used by the loaders of GPU
// sheets, workloads and the daemon's configuration. The first problem is kept; later reads give
// defaults, so that a loader reads everything and looks once.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

// The file's table, or kParse with file, line and what the parser says.
Result<toml::table> parse_toml(std::string_view text, const std::string& file);

class TomlReader {
 public:
  // `where` is for messages: "[power]", or "" for the whole file. `problem` is shared by all
  // readers of a file and outlives them.
  TomlReader(const toml::table& table, const std::string& file, std::string where,
             std::optional<Error>& problem)
      : table_(table), file_(file), where_(std::move(where)), problem_(problem) {}

  // Required where no default is given; must lie in [low, high].
  double number(std::string_view key, double low, double high,
                std::optional<double> otherwise = std::nullopt);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::optional<std::string> otherwise = std::nullopt);
  std::vector<std::string> texts(std::string_view key);
  std::vector<double> numbers(std::string_view key, std::size_t most);
  bool has(std::string_view key) const { return table_.contains(key); }
  // An empty table where it is missing; required unless told otherwise.
  TomlReader table(std::string_view key, bool required);
  std::vector<TomlReader> tables(std::string_view key, std::size_t least, std::size_t most);
  // Every remaining key is a problem. Call last.
  void done();
  void complain(const std::string& what, std::string_view key = {});

 private:
  const toml::node* find(std::string_view key, bool required);

  const toml::table& table_;
  const std::string& file_;
  std::string where_;
  std::optional<Error>& problem_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace hypermile
