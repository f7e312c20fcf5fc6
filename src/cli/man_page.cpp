// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"

namespace hypermile {
namespace {

// Escapes text for roff, so that hyphens can be copied and no line is taken for a request.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string heading(const std::string& name, int section, std::string_view summary) {
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(".TH {} {} \"\" \"hypermile {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(title), section, kVersion, roff(name), roff(summary));
}

std::string option_text(const OptionSpec& spec) {
  std::string out = fmt::format(".TP\n.B \\-\\-{}", roff(spec.name));
  if (!spec.value.empty()) {
    out = fmt::format(".TP\n.BI \\-\\-{} \" {}\"", roff(spec.name), roff(spec.value));
  }
  out += "\n" + roff(spec.help);
  if (spec.kind != OptionKind::kFlag && !spec.fallback.empty()) {
    out += fmt::format(" (default {})", roff(spec.fallback));
  }
  out += spec.in_environment ? fmt::format(" [{}]\n", roff(variable_of(spec))) : "\n";
  return out;
}

constexpr std::string_view kEnd =
    ".SH EXIT STATUS\n"
    "0 on success, 2 on bad usage, 1 on any other failure, with one line that says what is wrong "
    "and what to do. A command that ran a job returns the exit status of the job.\n";

}  // namespace

std::string man_page(const Command& command) {
  const std::string name = "hypermile-" + std::string(command.name);
  std::string out = heading(name, 1, command.summary);
  out += fmt::format(".SH SYNOPSIS\n.B hypermile {}\n[\\fIOPTIONS\\fR]{}{}\n", roff(command.name),
                     command.positional.empty() ? "" : " " + roff(command.positional),
                     command.runs_command ? " \\-\\- \\fICOMMAND\\fR ..." : "");
  out += ".SH OPTIONS\n";
  for (const OptionSpec& spec : options_of(command.name)) out += option_text(spec);
  out +=
      ".TP\n.BI \\-\\-config \" F.toml\"\ntake options from this TOML file\n"
      ".TP\n.B \\-\\-help\nshow the options and examples\n"
      ".PP\nNames in brackets are environment variables. The command line wins over the "
      "environment, and the environment over the configuration file.\n";
  out += fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n", roff(command.examples));
  out += kEnd;
  return out + ".SH SEE ALSO\n.BR hypermile (1),\n.BR hypermiled (8)\n";
}

std::string man_page(std::span<const Command* const> commands) {
  std::string out = heading("hypermile", 1, "more training per joule");
  out +=
      ".SH SYNOPSIS\n.B hypermile\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n"
      ".B hypermile run\n[\\fIOPTIONS\\fR] \\-\\- \\fICOMMAND\\fR ...\n"
      ".SH DESCRIPTION\n"
      "hypermile runs beside an unmodified GPU training job, measures the time and energy of an "
      "iteration, and sets the SM clock, memory clock or power limit of the GPU to what spends "
      "least energy while the job stays within a slowdown that you choose. Every GPU is given back "
      "when hypermile ends, even if it is killed.\n.SH COMMANDS\n";
  for (const Command* command : commands) {
    out += fmt::format(".TP\n.BR hypermile\\-{} (1)\n{}\n", roff(command->name),
                       roff(command->summary));
  }
  out +=
      ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/hypermile/config.toml\n"
      "options; keys at its top are for every command, keys in a table [\\fICOMMAND\\fR] for "
      "that command\n"
      ".SH ENVIRONMENT\n.TP\n.B HYPERMILE_READ_ONLY\n1 forbids every change of a GPU\n"
      ".TP\n.B HYPERMILE_NVML\nthe NVML library to load in place of the driver's, such as the "
      "stand\\-in\n"
      ".TP\n.B HYPERMILE_DATA\nthe folder that holds the folders gpus and workloads\n"
      ".TP\n.B NO_COLOR\nno colours on terminals\n";
  out += kEnd;
  out += ".SH SEE ALSO\n";
  for (const Command* command : commands) {
    out += fmt::format(".BR hypermile\\-{} (1),\n", roff(command->name));
  }
  return out + ".BR hypermiled (8)\n";
}

}  // namespace hypermile
