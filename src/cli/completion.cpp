// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/list.h"

namespace hypermile {
namespace {

constexpr std::string_view kOthers = "help --help --version";

// What can follow an option: one of a few words, a file, or any text.
struct Values {
  std::string choices;  // separated by blanks; "" where any text will do
  bool file = false;
};

std::string words_of(std::string_view kind) {
  std::string words;
  for (const ListedName& each : names_of(kind)) {
    // "fixed:SETTING" stands for a family, so it completes up to the colon.
    const std::string_view name = each.name;
    const std::size_t family = name.find(":SETTING");
    words += fmt::format("{}{}", words.empty() ? "" : " ",
                         name.substr(0, family == name.npos ? family : family + 1));
  }
  return words;
}

Values values_of(const OptionSpec& spec) {
  if (spec.name == "policy") return {words_of("policies"), false};
  if (spec.name == "workload") return {words_of("workloads"), false};
  if (spec.name == "gpu") return {words_of("gpus"), false};
  if (spec.value.find('|') != std::string_view::npos) {
    std::string choices(spec.value);
    std::ranges::replace(choices, '|', ' ');
    return {choices, false};
  }
  return {"", spec.value.starts_with("F.") || spec.value == "MODEL"};
}

// The help without its details, which begin at a semicolon, a colon or a bracket.
std::string brief(std::string_view help) {
  return std::string(help.substr(0, std::min(help.find_first_of(";:("), help.size())));
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";  // ends the quotes, writes one, begins them again
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string option_words(const Command& command) {
  std::string words = "--help --config";
  for (const OptionSpec& spec : options_of(command.name)) words += fmt::format(" --{}", spec.name);
  return words;
}

std::string bash_case(const Command& command) {
  std::string out =
      fmt::format("    {})\n      options='{}'\n", command.name, option_words(command));
  std::string files = "--config", anything;
  out += "      case $prev in\n";
  for (const OptionSpec& spec : options_of(command.name)) {
    if (spec.kind == OptionKind::kFlag) continue;
    const Values values = values_of(spec);
    if (!values.choices.empty()) {
      out += fmt::format("        --{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                         spec.name, values.choices);
    } else {
      (values.file ? files : anything) += fmt::format("|--{}", spec.name);
    }
  }
  out += fmt::format("        {}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", files);
  if (!anything.empty()) out += fmt::format("        {}) return ;;\n", anything.substr(1));
  return out + "      esac ;;\n";
}

std::string bash(std::span<const Command* const> commands) {
  std::vector<std::string_view> names;
  std::string cases;
  for (const Command* command : commands) {
    names.push_back(command->name);
    cases += bash_case(*command);
  }
  return fmt::format(
      R"(# bash completion for hypermile; made by 'hypermile --completion bash'
_hypermile() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= options= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      --)
        if ((i + 1 == COMP_CWORD)); then
          COMPREPLY=($(compgen -c -- "$cur"))
        else
          COMPREPLY=($(compgen -f -- "$cur"))
        fi
        return ;;
      -*) ;;
      *) [ -n "$command" ] || command=${{COMP_WORDS[i]}} ;;
    esac
  done
  case $command in
    '') COMPREPLY=($(compgen -W '{} {}' -- "$cur")); return ;;
{}  esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}}
complete -o filenames -F _hypermile hypermile
)",
      fmt::join(names, " "), kOthers, cases);
}

std::string zsh_option(const OptionSpec& spec) {
  const std::string help = escaped(brief(spec.help), "[]:\\");
  if (spec.kind == OptionKind::kFlag)
    return fmt::format(" \\\n        '--{}[{}]'", spec.name, help);
  const Values values = values_of(spec);
  const std::string action = !values.choices.empty() ? fmt::format("({})", values.choices)
                             : values.file           ? "_files"
                                                     : " ";
  return fmt::format(" \\\n        '--{}=[{}]:{}:{}'", spec.name, help,
                     escaped(spec.value, "[]:\\"), action);
}

std::string zsh(std::span<const Command* const> commands) {
  std::string list, cases;
  for (const Command* command : commands) {
    list += fmt::format("    '{}:{}'\n", command->name, escaped(command->summary, ":\\"));
    cases += fmt::format(
        "    {})\n      _arguments -S '--help[options and examples]' \\\n"
        "        '--config=[take options from this file]:F.toml:_files'",
        command->name);
    for (const OptionSpec& spec : options_of(command->name)) cases += zsh_option(spec);
    cases += fmt::format(" \\\n        '{}' ;;\n",
                         command->runs_command ? "*::job:_normal" : "*:file:_files");
  }
  return fmt::format(
      R"(#compdef hypermile
# zsh completion for hypermile; made by 'hypermile --completion zsh'
_hypermile() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "$funcstack[1]" = _hypermile ]; then
  _hypermile "$@"
else
  compdef _hypermile hypermile
fi
)",
      list, cases);
}

std::string fish(std::span<const Command* const> commands) {
  std::string out =
      "# fish completion for hypermile; made by 'hypermile --completion fish'\n"
      "complete -c hypermile -n __fish_use_subcommand -f\n";
  for (const Command* command : commands) {
    out += fmt::format("complete -c hypermile -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       command->name, escaped(command->summary, "\\"));
    const std::string option =
        fmt::format("complete -c hypermile -n '__fish_seen_subcommand_from {}'", command->name);
    out += option + " -l help -f -d 'options and examples'\n";
    out += option + " -l config -r -F -d 'take options from this file'\n";
    for (const OptionSpec& spec : options_of(command->name)) {
      const Values values = values_of(spec);
      out += fmt::format("{} -l {}", option, spec.name);
      if (spec.kind != OptionKind::kFlag) out += values.file ? " -r -F" : " -x";
      if (!values.choices.empty()) out += fmt::format(" -a '{}'", values.choices);
      out += fmt::format(" -d '{}'\n", escaped(brief(spec.help), "\\"));
    }
    if (command->runs_command) {
      out += option + " -x -a '(__fish_complete_subcommand)'\n";
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion(std::string_view shell, std::span<const Command* const> commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return Error{ErrorCode::kUsage, fmt::format("no completion for '{}'", shell),
               "there is one for bash, zsh and fish"};
}

}  // namespace hypermile
