// SPDX-License-Identifier: Apache-2.0
#include "cli/run_nodes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "run/stop_signals.h"

namespace hypermile {
namespace {

constexpr std::string_view kAgent = "hypermile-agent";
constexpr std::string_view kPassedOn[] = {"nodes-from", "secret-file", "max-slowdown", "policy",
                                          "log",        "summary",     "observe",      "quiet"};

// Beside this program, or wherever the PATH has it.
std::string agent_program() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path beside = self.parent_path() / kAgent;
  return std::filesystem::exists(beside, ignored) ? beside.string() : std::string(kAgent);
}

}  // namespace

Result<std::vector<std::string>> agent_words(const CommandArguments& arguments) {
  const OptionValues& options = arguments.options;
  std::vector<std::string> words = {std::string(kAgent)};
  for (const OptionSpec& spec : options_of("run")) {
    if (!options.given(spec.name)) continue;
    // An agent remembers nothing as it is.
    if (spec.name == "cache" && options.text("cache") == "no") continue;
    if (std::ranges::find(kPassedOn, spec.name) == std::end(kPassedOn)) {
      return Error{ErrorCode::kUsage,
                   fmt::format("--{} cannot be used together with --nodes-from", spec.name),
                   "leave one of them away"};
    }
    if (spec.kind == OptionKind::kFlag && !options.flag(spec.name)) continue;
    words.push_back(fmt::format("--{}", spec.name));
    if (spec.kind != OptionKind::kFlag) words.push_back(options.text(spec.name));
  }
  words.emplace_back("--");
  words.insert(words.end(), arguments.positional.begin(), arguments.positional.end());
  return words;
}

Result<void> become_agent(const CommandArguments& arguments, CommandContext& context) {
  ASSIGN_OR_RETURN(std::vector<std::string> words, agent_words(arguments));
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // The agent takes the signals over, from the state that we inherited.
  if (context.signals != nullptr) context.signals->hand_over().restore();
  const std::string program = agent_program();
  ::execvp(program.c_str(), pointers.data());
  return Error{ErrorCode::kNotFound, fmt::format("{} is not installed", kAgent),
               "it is built where gRPC and MUNGE are installed: scripts/install-packages slurm"};
}

}  // namespace hypermile
