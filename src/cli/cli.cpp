// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "base/environment_variable.h"
#include "base/nearest.h"
#include "base/terminal_text.h"
#include "base/version.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "record/serve/metrics.h"
#include "run/stop_signals.h"

namespace hypermile {
namespace {

const Command* const kCommands[] = {
    &kDoctorCommand,  &kMonitorCommand, &kCountersCommand,  &kRunCommand,      &kAttachCommand,
    &kSweepCommand,   &kDetectCommand,  &kEvaluateCommand,  &kSimulateCommand, &kLearnCommand,
    &kPredictCommand, &kPlanCommand,    &kDemoCommand,      &kReportCommand,   &kServeCommand,
    &kHistoryCommand, &kCompareCommand, &kStatementCommand, &kLeasesCommand,   &kResetCommand,
    &kListCommand};

constexpr std::size_t kMessageIndent = 4;  // of the further lines of a message on a terminal

int report(const Error& error, CommandContext& context) {
  // It may quote a file, a log or another process.
  const std::string full = "hypermile: " + error.line();
  const std::string line = harmless(full, full.size());
  context.err << (context.terminal ? wrapped(line, kMessageIndent, 0) : line) << std::endl;
  return error.code == ErrorCode::kUsage ? 2 : 1;
}

std::string overview() {
  std::string out =
      "hypermile: more training per joule\n\n"
      "usage: hypermile COMMAND [OPTIONS]\n\ncommands:\n";
  constexpr std::size_t kSummaries = 13;
  for (const Command* command : kCommands) {
    out += fmt::format("  {:<10} {}\n", command->name,
                       wrapped(command->summary, kSummaries, kSummaries));
  }
  out +=
      "\n'hypermile COMMAND --help' shows a command's options and examples.\n"
      "'hypermile --version' prints the version.\n";
  return out;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command* command : kCommands) names.emplace_back(command->name);
  return names;
}

Error unknown(const std::string& name) {
  return Error{ErrorCode::kUsage, fmt::format("unknown command '{}'", name),
               suggestion(name, command_names())};
}

// The manual page of a command; of hypermile itself where `name` is empty.
Result<std::string> manual(const std::string& name) {
  if (name.empty()) return man_page(kCommands);
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  if (found == std::end(kCommands)) return unknown(name);
  return man_page(**found);
}

int print(const Result<std::string>& text, CommandContext& context) {
  if (!text) return report(text.error(), context);
  context.out << *text;
  return 0;
}

// "  --log F.jsonl        append …", in lines that fit a terminal.
std::string option_help(const std::string& name, const std::string& text) {
  constexpr std::size_t kTexts = 24;
  std::string out = "  " + name;
  const bool beside = columns(out) < kTexts;
  out += beside ? std::string(kTexts - columns(out), ' ') : "\n" + std::string(kTexts, ' ');
  return out + wrapped(text, kTexts, kTexts) + "\n";
}

// A line that is too long has its remark below it, and a command that is too long goes on in the
// next line as shells let it.
std::string example_help(std::string line) {
  constexpr std::string_view kMargin = "      ";
  std::string remark;
  if (const std::size_t gap = line.find("  ", 2);
      columns(line) > kTerminalColumns && gap != line.npos) {
    remark = fmt::format("{}{}\n", kMargin, line.substr(line.find_first_not_of(' ', gap)));
    line.resize(gap);
  }
  if (columns(line) > kTerminalColumns) {
    const std::size_t blank = line.rfind(' ', kTerminalColumns - 2);
    line = fmt::format("{} \\\n{}{}", line.substr(0, blank), kMargin, line.substr(blank + 1));
  }
  return line + "\n" + remark;
}

// A CLI11 parser of one command, made from the table of options.
class CommandParser {
 public:
  explicit CommandParser(const Command& command)
      : command_(command),
        app_(std::string(command.summary), "hypermile " + std::string(command.name)),
        specs_(options_of(command.name)),
        texts_(specs_.size()),
        flags_(specs_.size()) {
    for (std::size_t i = 0; i < specs_.size(); ++i) add(i);
    app_.add_option("--config", config_, kConfigHelp);
    if (!command.positional.empty()) {
      app_.add_option(std::string(command.positional), positional_, "");
    }
    // check_extras() reports unknown options itself, with the nearest names.
    app_.allow_extras();
  }

  std::string help() const {
    std::string out = fmt::format("{}\n\nusage: hypermile {} [OPTIONS]{}{}\n\noptions:\n",
                                  wrapped(command_.summary, 0, 0), command_.name,
                                  command_.positional.empty() ? "" : " ", command_.positional);
    if (command_.runs_command) out.insert(out.rfind("\n\n"), " -- COMMAND [ARGUMENTS]");
    for (const OptionSpec& spec : specs_) {
      out +=
          option_help(fmt::format("--{}{}{}", spec.name, spec.value.empty() ? "" : " ", spec.value),
                      described(spec));
    }
    out += option_help("--config F.toml", kConfigHelp) + option_help("-h, --help", "print this");
    out += "\nexamples:\n";
    std::istringstream lines{std::string(command_.examples)};
    for (std::string line; std::getline(lines, line);) out += example_help(line);
    return out;
  }

  // nullopt where --help was given.
  Result<std::optional<CommandArguments>> parse(std::vector<std::string> arguments) {
    if (command_.runs_command) take_command(arguments);
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    // CLI11 throws; the rest of the program returns Errors.
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return std::optional<CommandArguments>();
    } catch (const CLI::ParseError& problem) {
      return usage(problem.what());
    }
    RETURN_IF_ERROR(check_extras());
    CommandArguments result{OptionValues(command_.name), positional_};
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const CLI::Option* option = app_.get_option("--" + std::string(specs_[i].name));
      if (option->count() == 0) continue;
      std::string text = specs_[i].kind == OptionKind::kFlag ? "true" : texts_[i];
      if (specs_[i].kind == OptionKind::kAddress && text.empty()) text = kUsualAddress;
      RETURN_IF_ERROR(validate_option(specs_[i], text));
      result.options.set(specs_[i].name, text);
    }
    RETURN_IF_ERROR(read_environment(command_.name, result.options));
    const std::string config = config_.empty() ? default_config() : config_;
    if (!config.empty()) RETURN_IF_ERROR(read_config(config, command_.name, result.options));
    return std::optional(std::move(result));
  }

 private:
  void add(std::size_t i) {
    const OptionSpec& spec = specs_[i];
    const std::string name = "--" + std::string(spec.name);
    if (spec.kind == OptionKind::kFlag) {
      bool& flag = flags_[i].value;
      app_.add_flag(name, flag, std::string(spec.help));
      return;
    }
    CLI::Option* option = app_.add_option(name, texts_[i], std::string(spec.help));
    if (spec.kind == OptionKind::kAddress) option->expected(0, 1);
  }

  static std::string described(const OptionSpec& spec) {
    const bool told = spec.kind != OptionKind::kFlag && !spec.fallback.empty();
    return fmt::format("{}{}", spec.help, told ? fmt::format(" (default {})", spec.fallback) : "");
  }

  Error usage(const std::string& message) const {
    return Error{ErrorCode::kUsage, message,
                 fmt::format("see 'hypermile {} --help'", command_.name)};
  }

  // Everything after -- belongs to the job, even options that look like ours.
  void take_command(std::vector<std::string>& arguments) {
    const auto dashes = std::ranges::find(arguments, "--");
    if (dashes == arguments.end()) return;
    positional_.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }

  Result<void> check_extras() const {
    const std::vector<std::string> extras = app_.remaining();
    if (extras.empty()) return {};
    if (!extras.front().starts_with("-")) {
      if (command_.runs_command) {
        return Error{ErrorCode::kUsage, fmt::format("unexpected argument '{}'", extras.front()),
                     fmt::format("put -- before the command: hypermile {} … -- {}", command_.name,
                                 extras.front())};
      }
      return usage(fmt::format("unexpected argument '{}'", extras.front()));
    }
    std::vector<std::string> known = {"--help", "--config"};
    for (const OptionSpec& spec : specs_) known.push_back("--" + std::string(spec.name));
    const std::string typed = extras.front().substr(0, extras.front().find('='));
    return Error{ErrorCode::kUsage, fmt::format("unknown option '{}'", typed),
                 suggestion(typed, known)};
  }

  static std::string default_config() {
    const auto base = environment_variable("XDG_CONFIG_HOME");
    const auto home = environment_variable("HOME");
    if (!base && !home) return "";
    const std::filesystem::path folder =
        base ? std::filesystem::path(*base) : std::filesystem::path(*home) / ".config";
    const std::filesystem::path path = folder / "hypermile" / "config.toml";
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? path.string() : "";
  }

  struct Flag {
    bool value = false;  // not vector<bool>: CLI11 needs a reference
  };

  static constexpr const char* kConfigHelp = "take options from this TOML file";

  const Command& command_;
  CLI::App app_;
  std::vector<OptionSpec> specs_;
  std::vector<std::string> texts_;
  std::vector<Flag> flags_;
  std::string config_;
  std::vector<std::string> positional_;
};

}  // namespace

std::span<const Command* const> all_commands() {
  return kCommands;
}

int run_cli(const std::vector<std::string>& arguments, CommandContext& context) {
  if (arguments.empty()) {
    context.err << overview();
    return 2;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || (first == "help" && arguments.size() == 1)) {
    context.out << overview();
    return 0;
  }
  if (first == "help") return run_cli({arguments[1], "--help"}, context);
  if (first == "--version") {
    context.out << "hypermile " << kVersion << "\n";
    return 0;
  }
  if (first == "--options-markdown") {
    context.out << options_markdown();
    return 0;
  }
  const std::string second = arguments.size() > 1 ? arguments[1] : "";
  if (first == "--completion") return print(completion(second, kCommands), context);
  if (first == "--man") return print(manual(second), context);
  if (first == "--metrics-markdown") {
    context.out << metrics_reference();
    return 0;
  }
  const auto found = std::ranges::find(kCommands, first, &Command::name);
  if (found == std::end(kCommands)) {
    return report(unknown(first), context);
  }
  CommandParser parser(**found);
  const auto parsed = parser.parse({arguments.begin() + 1, arguments.end()});
  if (!parsed) return report(parsed.error(), context);
  if (!*parsed) {
    context.out << parser.help();
    return 0;
  }
  if ((*found)->holds_nothing && context.signals != nullptr) {
    context.signals->hand_over().restore();
    if (context.stop.stop_requested()) return kInterrupted;
  }
  const Result<void> done = (*found)->run(**parsed, context);
  const int code = done ? 0 : report(done.error(), context);
  return context.job_end ? context.job_end->exit_code() : code;
}

}  // namespace hypermile
