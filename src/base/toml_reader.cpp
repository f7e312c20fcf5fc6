// SPDX-License-Identifier: Apache-2.0
#include "base/toml_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "base/nearest.h"

namespace hypermile {
namespace {

const toml::table kEmpty;
// Each part of a dotted key is a table in a table, and the parser as well as the destructor of what
// it makes recurse once for each. The parser itself allows 256 nested brackets; with 64 dots in
// each of their lines that makes 16,000 tables, which fit on a stack of 8 MiB. Our files have at
// most five dots in a line and 100 kB.
constexpr std::size_t kMostTomlDots = 64;
constexpr std::size_t kMostTomlBytes = std::size_t{4} << 20U;

}  // namespace

// Counts the dots in strings and comments too, so that nobody can hide dots of keys behind quotes.
Result<void> check_toml_shape(std::string_view text, const std::string& file) {
  if (text.size() > kMostTomlBytes) {
    return Error{ErrorCode::kParse,
                 fmt::format("{}: has more than {} bytes", file, kMostTomlBytes)};
  }
  std::size_t line = 1;
  std::size_t dots = 0;
  for (const char c : text) {
    if (c == '.') ++dots;
    if (dots > kMostTomlDots) {
      return Error{ErrorCode::kParse,
                   fmt::format("{}:{}: has more than {} dots", file, line, kMostTomlDots)};
    }
    if (c != '\n') continue;
    ++line;
    dots = 0;
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  RETURN_IF_ERROR(check_toml_shape(text, file));
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return Error{ErrorCode::kParse,
                 fmt::format("{}:{}: {}", file, error.source().begin.line, error.description())};
  }
}

Result<toml::table> read_toml(const std::string& path) {
  std::ifstream file(path);
  std::string text(kMostTomlBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder can be opened but not read.
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kNotFound, path + ": cannot be read",
                 "check the path of the configuration file"};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_toml(text, path);
}

void TomlReader::complain(const std::string& what, std::string_view key) {
  if (problem_) return;
  const toml::node* node = key.empty() ? nullptr : table_.get(key);
  const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
  problem_ = Error{ErrorCode::kParse, fmt::format("{}:{}: {}{}{}", file_, line, where_,
                                                  where_.empty() ? "" : " ", what)};
}

const toml::node* TomlReader::find(std::string_view key, bool required) {
  asked_.emplace(key);
  const toml::node* node = table_.get(key);
  if (node == nullptr && required) complain(fmt::format("has no {}", key));
  return node;
}

double TomlReader::number(std::string_view key, double low, double high,
                          std::optional<double> otherwise) {
  const toml::node* node = find(key, !otherwise);
  if (node == nullptr) return otherwise.value_or(low);
  const std::optional<double> value = node->value<double>();
  if (!node->is_number() || !value || !std::isfinite(*value)) {
    complain(fmt::format("{} must be a number", key), key);
    return low;
  }
  if (*value < low || *value > high) {
    complain(fmt::format("{} is {}, must be from {} to {}", key, *value, low, high), key);
    return low;
  }
  return *value;
}

bool TomlReader::flag(std::string_view key, bool otherwise) {
  const toml::node* node = find(key, false);
  if (node == nullptr) return otherwise;
  if (!node->is_boolean()) complain(fmt::format("{} must be true or false", key), key);
  return node->value_or(otherwise);
}

std::string TomlReader::text(std::string_view key, std::optional<std::string> otherwise) {
  const toml::node* node = find(key, !otherwise);
  if (node == nullptr) return otherwise.value_or("");
  if (!node->is_string()) complain(fmt::format("{} must be text in quotes", key), key);
  return node->value_or(std::string());
}

std::vector<std::string> TomlReader::texts(std::string_view key) {
  std::vector<std::string> values;
  const toml::node* node = find(key, false);
  if (node == nullptr) return values;
  const toml::array* array = node->as_array();
  if (array == nullptr || (!array->empty() && !array->is_homogeneous<std::string>())) {
    complain(fmt::format("{} must be a list of texts", key), key);
    return values;
  }
  for (const toml::node& item : *array) values.push_back(item.value_or(std::string()));
  return values;
}

std::vector<double> TomlReader::numbers(std::string_view key, std::size_t most) {
  std::vector<double> values;
  const toml::node* node = find(key, true);
  if (node == nullptr) return values;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty() || array->size() > most) {
    complain(fmt::format("{} must be a list of 1 to {} numbers", key, most), key);
    return values;
  }
  for (const toml::node& item : *array) {
    const std::optional<double> value = item.value<double>();
    if (!item.is_number() || !value || !(*value > 0) || !std::isfinite(*value)) {
      complain(fmt::format("{} must hold numbers above 0", key), key);
      return {};
    }
    values.push_back(*value);
  }
  return values;
}

TomlReader TomlReader::table(std::string_view key, bool required) {
  const toml::node* node = find(key, required);
  const toml::table* table = node != nullptr ? node->as_table() : nullptr;
  if (node != nullptr && table == nullptr) complain(fmt::format("{} must be a table", key), key);
  return TomlReader(table != nullptr ? *table : kEmpty, file_, fmt::format("{}[{}]", where_, key),
                    problem_);
}

std::vector<TomlReader> TomlReader::tables(std::string_view key, std::size_t least,
                                           std::size_t most) {
  std::vector<TomlReader> readers;
  const toml::node* node = find(key, least > 0);
  if (node == nullptr) return readers;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() < least || array->size() > most) {
    complain(fmt::format("must have {} to {} tables [[{}]]", least, most, key), key);
    return readers;
  }
  for (const toml::node& item : *array) {
    const toml::table* table = item.as_table();
    if (table == nullptr) {
      complain(fmt::format("{} must be tables", key), key);
      return {};
    }
    readers.emplace_back(*table, file_, fmt::format("{}[{} {}]", where_, key, readers.size() + 1),
                         problem_);
  }
  return readers;
}

void TomlReader::done() {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, node] : table_) {
    const std::string_view name = key.str();
    if (asked_.find(name) != asked_.end()) continue;
    complain(fmt::format("has an unknown key {}; {}", name, suggestion(name, known)), name);
  }
}

}  // namespace hypermile
