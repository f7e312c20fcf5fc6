// SPDX-License-Identifier: Apache-2.0
//
// The one table of options. Command line, configuration file, validation and
// docs/reference/options.md are all made from it: an option that is not here does not exist.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

enum class OptionKind {
  kFlag,
  kText,
  kInteger,
  kNumber,
  kFraction,
  kSlowdown,
  kDuration,
  kList,
  kAddress,  // may be given without its value: then it is kUsualAddress
};

inline constexpr std::string_view kUsualAddress = "127.0.0.1:9487";

struct OptionSpec {
  std::string_view name;  // without dashes; also the key in a configuration file
  OptionKind kind = OptionKind::kText;
  std::string_view value;     // how the value is called in help: "S", "F.jsonl"
  std::string_view fallback;  // what holds when it is not given; "" where nothing does
  std::string_view commands;  // separated by blanks
  std::string_view help;
  // Also taken from $HYPERMILE_NAME. Not where that variable means something else, nor where an
  // option that was forgotten in an environment would do harm.
  bool in_environment = true;
};

std::span<const OptionSpec> option_table();
// Those of one command, in the table's order.
std::vector<OptionSpec> options_of(std::string_view command);

// nullopt-like success for valid text, else one line that names the option and what was expected.
Result<void> validate_option(const OptionSpec& spec, std::string_view text);

// What holds for one call of one command: given on the command line, else in the environment, else
// in the configuration file, else the table's fallback. Values are validated before they get here;
// asking for an option that the command does not have is a programming error.
class OptionValues {
 public:
  explicit OptionValues(std::string_view command);

  void set(std::string_view name, std::string text);

  bool given(std::string_view name) const { return given_.contains(std::string(name)); }
  bool flag(std::string_view name) const { return text(name) == "true"; }
  std::string text(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;  // split at commas
  long long integer(std::string_view name) const;
  double number(std::string_view name) const;  // also fractions and slowdowns
  Seconds duration(std::string_view name) const;

 private:
  const OptionSpec& spec(std::string_view name) const;

  std::vector<OptionSpec> specs_;
  std::map<std::string, std::string> given_;
};

// "HYPERMILE_MAX_SLOWDOWN" for "max-slowdown".
std::string variable_of(const OptionSpec& spec);

// Takes the options of `command` from the environment; an empty variable is none. A broken value is
// an error that names the variable. Options already given stay.
Result<void> read_environment(std::string_view command, OptionValues& values);

// Takes the options of `command` from a TOML file: keys at its top hold for every command, those in
// a table [command] for that one and win. Unknown keys and broken values are errors with file and
// line. Options already given stay.
Result<void> read_config(const std::string& path, std::string_view command, OptionValues& values);

// docs/reference/options.md.
std::string options_markdown();

}  // namespace hypermile
