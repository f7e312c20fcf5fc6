// SPDX-License-Identifier: Apache-2.0
//
// Reads values out of a TOML table. Errors name the file and line of a missing key, a value of the
// wrong kind or out of range, and every unknown key. The loaders of GPU sheets, workloads and the
// daemon's configuration use it. The first problem is kept and later reads return defaults, so a
// loader reads everything and checks for a problem once.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

// kParse for text that would make the parser, or the destruction of its result, overflow the stack:
// more than 4 MiB, or a line with more than 64 dots, which separate the parts of a key.
Result<void> check_toml_shape(std::string_view text, const std::string& file);

// The file's table, or kParse with the file, the line and the parser's message.
Result<toml::table> parse_toml(std::string_view text, const std::string& file);

// The same for a file of any kind, of which it reads no more than 4 MiB; kNotFound when it cannot
// be read.
Result<toml::table> read_toml(const std::string& path);

class TomlReader {
 public:
  // Messages name `where`: "[power]", or "" for the whole file. All readers of one file share
  // `problem`, which must outlive them.
  TomlReader(const toml::table& table, const std::string& file, std::string where,
             std::optional<Error>& problem)
      : table_(table), file_(file), where_(std::move(where)), problem_(problem) {}

  // Reads a number in [low, high]. The key is required when `otherwise` is not given.
  double number(std::string_view key, double low, double high,
                std::optional<double> otherwise = std::nullopt);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::optional<std::string> otherwise = std::nullopt);
  std::vector<std::string> texts(std::string_view key);
  std::vector<double> numbers(std::string_view key, std::size_t most);
  bool has(std::string_view key) { return find(key, false) != nullptr; }
  // Returns an empty table when the key is missing, which is a problem only if `required`.
  TomlReader table(std::string_view key, bool required);
  std::vector<TomlReader> tables(std::string_view key, std::size_t least, std::size_t most);
  // Reports every key that was not read. Call it last.
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
