// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/parse.h"
#include "sim/stand_in/machine_state.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace hypermile {
namespace {

constexpr const char* kVariable = "HYPERMILE_SIM_GROUP";
constexpr Seconds kLook = milliseconds(20);  // between two looks whether a rank has ended

Error bad_group(std::string_view text) {
  return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is no NAME:RANKS", kVariable, text),
               "write for example HYPERMILE_SIM_GROUP=job:2 for both processes of a job on 2 GPUs"};
}

struct RankProcess {
  pid_t pid = -1;
  Descriptor output = {};  // what the rank prints; only with --json
  int status = 0;
};

// The command line of one rank: that of this process, with a GPU of its own and without --ranks.
std::vector<std::string> command_of(const OptionValues& values, long long gpu) {
  std::vector<std::string> words = {"hypermile", "simulate", "--realtime", "--gpu",
                                    std::to_string(gpu)};
  for (const char* name : {"workload", "seconds", "iterations"}) {
    if (!values.given(name)) continue;
    words.push_back(fmt::format("--{}", name));
    words.push_back(values.text(name));
  }
  for (const char* flag : {"json", "ticks"}) {
    if (values.flag(flag)) words.push_back(fmt::format("--{}", flag));
  }
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

Result<RankProcess> start_rank(std::vector<std::string> words, std::vector<std::string> variables,
                               bool take_output) {
  RankProcess rank;
  int pipe_ends[2] = {-1, -1};
  if (take_output && ::pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return Error{ErrorCode::kIo, fmt::format("no pipe for a rank: {}", std::strerror(errno))};
  }
  rank.output.reset(pipe_ends[0]);
  const Descriptor input(pipe_ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (take_output) ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  const int error = ::posix_spawn(&rank.pid, "/proc/self/exe", &actions, nullptr,
                                  pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Error{ErrorCode::kIo, fmt::format("cannot start a rank: {}", std::strerror(error))};
  }
  return rank;
}

// All ranks. wait() returns when all have ended and says which one failed first; the destructor
// ends those that still run.
class RankProcesses {
 public:
  ~RankProcesses() {
    end();
    for (RankProcess& rank : ranks_) take(rank, 0);
  }

  void add(RankProcess rank) { ranks_.push_back(std::move(rank)); }

  Result<void> wait(CommandContext& context) {
    Result<void> result;
    while (running()) {
      context.clock.sleep_for(kLook, context.stop);
      if (context.stop.stop_requested()) end();
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (!take(ranks_[i], WNOHANG) || ranks_[i].status == 0 || !result) continue;
        if (!context.stop.stop_requested()) {
          result = Error{ErrorCode::kInternal, fmt::format("rank {} of the job failed", i)};
        }
        end();
      }
    }
    return result;
  }

  nlohmann::json documents() {
    nlohmann::json ranks = nlohmann::json::array();
    for (RankProcess& rank : ranks_) {
      std::string text;
      char part[4096];
      for (ssize_t n = 0; (n = ::read(rank.output.get(), part, sizeof part)) > 0;) {
        text.append(part, static_cast<std::size_t>(n));
      }
      ranks.push_back(nlohmann::json::parse(text, nullptr, false));
    }
    return {{"ranks", ranks}};
  }

 private:
  bool running() const {
    return std::ranges::any_of(ranks_, [](const RankProcess& rank) { return rank.pid > 0; });
  }

  void end() {
    for (const RankProcess& rank : ranks_) {
      if (rank.pid > 0) ::kill(rank.pid, SIGTERM);
    }
  }

  // True where the rank has ended since the last call.
  static bool take(RankProcess& rank, int flags) {
    if (rank.pid <= 0 || ::waitpid(rank.pid, &rank.status, flags) != rank.pid) return false;
    rank.pid = -1;
    return true;
  }

  std::vector<RankProcess> ranks_;
};

std::vector<std::string> environment_with(const std::string& group) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(fmt::format("{}=", kVariable))) {
      variables.emplace_back(*variable);
    }
  }
  variables.push_back(fmt::format("{}={}", kVariable, group));
  return variables;
}

}  // namespace

Result<void> run_ranks(const OptionValues& values, CommandContext& context) {
  const long long count = values.integer("ranks");
  if (count < 1 || count > kMostGpus) {
    return Error{ErrorCode::kUsage, fmt::format("--ranks: {} ranks cannot be had", count),
                 fmt::format("give 1 to {}, one for each GPU of the stand-in", kMostGpus)};
  }
  ASSIGN_OR_RETURN(const long long first,
                   parse_integer(values.given("gpu") ? values.text("gpu") : "0"));
  const std::string group =
      fmt::format("{}-{:.6f}:{}", ::getpid(), context.clock.unix_time(), count);
  RankProcesses ranks;
  for (long long i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(RankProcess rank, start_rank(command_of(values, first + i),
                                                  environment_with(group), values.flag("json")));
    ranks.add(std::move(rank));
  }
  RETURN_IF_ERROR(ranks.wait(context));
  if (values.flag("json")) context.out << ranks.documents().dump() << "\n";
  return {};
}

Result<void> join_group(RealtimeJobOptions& options) {
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return {};
  const std::string_view group(text);
  const std::size_t colon = group.rfind(':');
  if (colon == group.npos || colon == 0) return bad_group(group);
  const auto ranks = parse_integer(group.substr(colon + 1));
  if (!ranks || *ranks < 1 || *ranks > kMostGpus) return bad_group(group);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  options.group = std::max<std::uint64_t>(1, std::hash<std::string_view>{}(group));
  options.ranks = static_cast<std::uint32_t>(*ranks);
  return {};
}

}  // namespace hypermile
