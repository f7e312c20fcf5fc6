// SPDX-License-Identifier: Apache-2.0
//
// The one table of options. Command line, configuration file, validation and
// docs/reference/options.md are all made from it: an option that is not here does not exist.
#pragma once

#include <limits>
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
  kPrice,    // of a kilowatt-hour
  kCarbon,   // emitted by a kilowatt-hour
  kAddress,  // may be given without a value, which then is kUsualAddress
};

inline constexpr std::string_view kUsualAddress = "127.0.0.1:9487";

struct OptionSpec {
  std::string_view name;  // without dashes; also the key in a configuration file
  OptionKind kind = OptionKind::kText;
  std::string_view value;     // name of the value in help: "S", "F.jsonl"
  std::string_view fallback;  // value where the option is not given; "" for no value
  std::string_view commands;  // separated by blanks
  std::string_view help;
  // Also taken from $HYPERMILE_NAME. False where that variable means something else, or where a
  // variable that somebody forgot in the environment would do harm.
  bool in_environment = true;
  long long most = std::numeric_limits<long long>::max();  // of a whole number
};

std::span<const OptionSpec> option_table();
// The options of one command, in the table's order.
std::vector<OptionSpec> options_of(std::string_view command);

// kUsage where the text is no value of the option; names the option and what was expected.
Result<void> validate_option(const OptionSpec& spec, std::string_view text);

// The values for one call of one command: from the command line, else the environment, else the
// configuration file, else the table's fallback. Values are validated before they get here; asking
// for an option that the command does not have is a programming error.
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

// Takes the options of `command` from the environment; an empty variable counts as not set. A value
// that makes no sense is an error that names the variable. Options already given stay.
Result<void> read_environment(std::string_view command, OptionValues& values);

// Takes the options of `command` from a TOML file. Keys at the top of the file are for every
// command; keys in a table [command] are for that command and win. Unknown keys and values that
// make no sense are errors with file and line. Options already given stay.
Result<void> read_config(const std::string& path, std::string_view command, OptionValues& values);

// The text of docs/reference/options.md.
std::string options_markdown();

}  // namespace hypermile
