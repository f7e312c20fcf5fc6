// SPDX-License-Identifier: Apache-2.0
//
// Reads options from a TOML file: read_config() of options.h.
#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <sstream>

#include "base/nearest.h"
#include "base/toml_reader.h"
#include "cli/options.h"

namespace hypermile {
namespace {

class ConfigReader {
 public:
  ConfigReader(std::string path, std::string_view command, OptionValues& values)
      : path_(std::move(path)), command_(command), values_(values) {
    for (const OptionSpec& spec : option_table()) known_.emplace_back(spec.name);
    // Names of commands, so that a command's table is not taken for a misspelt option.
    std::string commands;
    for (const OptionSpec& spec : option_table()) commands += fmt::format("{} ", spec.commands);
    std::istringstream words(commands);
    for (std::string word; words >> word;) commands_.push_back(word);
  }

  Result<void> read(const toml::table& top) {
    for (const auto& [key, node] : top) {
      if (const toml::table* table = node.as_table()) {
        RETURN_IF_ERROR(check_command(key.str(), node));
        for (const auto& [inner_key, inner] : *table) {
          RETURN_IF_ERROR(take(inner_key.str(), inner, key.str()));
        }
      }
    }
    for (const auto& [key, node] : top) {
      if (!node.is_table()) RETURN_IF_ERROR(take(key.str(), node, command_));
    }
    return {};
  }

 private:
  Error error(const toml::node& node, const std::string& message, std::string remedy = "") const {
    return Error{ErrorCode::kParse,
                 fmt::format("{}:{}: {}", path_, node.source().begin.line, message),
                 std::move(remedy)};
  }

  Result<void> check_command(std::string_view name, const toml::node& node) const {
    if (std::ranges::find(commands_, name) != commands_.end()) return {};
    return error(node, fmt::format("unknown command [{}]", name), suggestion(name, commands_));
  }

  // `command` is the table that holds the key; keys of other commands are checked but not taken.
  Result<void> take(std::string_view key, const toml::node& node, std::string_view command) {
    const auto spec = std::ranges::find(option_table(), key, &OptionSpec::name);
    if (spec == option_table().end()) {
      return error(node, fmt::format("unknown option '{}'", key), suggestion(key, known_));
    }
    ASSIGN_OR_RETURN(const std::string text, text_of(node));
    if (const Result<void> valid = validate_option(*spec, text); !valid) {
      return error(node, valid.error().message, valid.error().remedy);
    }
    const std::vector<OptionSpec> mine = options_of(command_);
    const bool have = std::ranges::find(mine, key, &OptionSpec::name) != mine.end();
    if (command == command_ && have && !values_.given(key)) values_.set(key, text);
    return {};
  }

  Result<std::string> text_of(const toml::node& node) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    return error(node, "expected text, a number, true or false");
  }

  std::string path_;
  std::string_view command_;
  OptionValues& values_;
  std::vector<std::string> known_;
  std::vector<std::string> commands_;
};

}  // namespace

Result<void> read_config(const std::string& path, std::string_view command, OptionValues& values) {
  ASSIGN_OR_RETURN(const toml::table top, read_toml(path));
  return ConfigReader(path, command, values).read(top);
}

}  // namespace hypermile
