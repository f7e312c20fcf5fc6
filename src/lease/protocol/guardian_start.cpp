// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/guardian_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

namespace hypermile {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostWords = 1000;  // bytes kept of what a failing program writes
// Deadline of a program that asks for no password. A guardian starts in hundredths of a second;
// sudo may look up users in a network first. The job waits meanwhile.
constexpr auto kStart = std::chrono::milliseconds(1200);

struct Ended {
  bool in_time = true;
  int status = 0;     // as waitpid gives it
  std::string words;  // its standard error, where that was captured
};

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void give(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_ = {};
};

// Until the other end is closed, or until then.
std::string read_words(int pipe, steady_clock::time_point until) {
  std::string words;
  char buffer[256];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd ready{pipe, POLLIN, 0};
    const int can = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (can < 0 && errno == EINTR) continue;
    if (can <= 0) break;
    const ssize_t got = ::read(pipe, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (words.size() < kMostWords) words.append(buffer, static_cast<std::size_t>(got));
  }
  words.resize(std::min(words.size(), kMostWords));
  while (!words.empty() && words.back() == '\n') words.pop_back();
  const std::size_t last = words.rfind('\n');
  return last == words.npos ? words : words.substr(last + 1);
}

// The user must be able to interrupt a password prompt, even if this process blocks signals.
class PlainSignals {
 public:
  PlainSignals() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &pipe);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~PlainSignals() { ::posix_spawnattr_destroy(&attributes_); }
  PlainSignals(const PlainSignals&) = delete;
  PlainSignals& operator=(const PlainSignals&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_ = {};
};

// False where the process still runs then. One that is root's cannot be killed; it ends when it
// finds its socket closed.
bool ended_by(pid_t pid, steady_clock::time_point until, int& status) {
  constexpr useconds_t kLookAgainUs = 2000;
  for (;;) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    if (steady_clock::now() >= until) break;
    ::usleep(kLookAgainUs);
  }
  ::kill(pid, SIGKILL);
  return false;
}

// Runs a program to its end with `socket` as its standard input. With `listen` we read what it
// writes and end it after kStart; otherwise it may ask a person, who takes as long as they like.
// Uses posix_spawn, not fork, because the caller has threads.
Result<Ended> run(const std::vector<std::string>& command, int socket, bool listen) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::kIo, std::strerror(errno)};
  const Descriptor heard(ends[0]);
  Descriptor said(ends[1]);
  SpawnActions actions;
  actions.give(socket, STDIN_FILENO);
  if (listen) {
    actions.give(said.get(), STDOUT_FILENO);
    actions.give(said.get(), STDERR_FILENO);
  }
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const PlainSignals signals;
  pid_t pid = 0;
  const int problem =
      ::posix_spawnp(&pid, arguments[0], actions.get(), signals.get(), arguments.data(), environ);
  if (problem != 0) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("cannot run {}: {}", command.front(), std::strerror(problem)),
                 "install hypermiled, and sudo where you are not root"};
  }
  said.reset();
  Ended ended;
  if (listen) {
    const auto until = steady_clock::now() + kStart;
    ended.words = read_words(heard.get(), until);
    ended.in_time = ended_by(pid, until, ended.status);
    return ended;
  }
  while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

Error no_guardian(const Ended& ended) {
  return Error{ErrorCode::kPermission,
               fmt::format("the guardian could not be started{}{}", ended.words.empty() ? "" : ": ",
                           ended.words),
               "run the daemon (systemctl enable --now hypermiled), allow 'hypermiled --guardian' "
               "in sudoers, or use --observe"};
}

}  // namespace

std::string default_guardian_program() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const std::filesystem::path& folder :
       {self.parent_path(), std::filesystem::path("/usr/local/bin"),
        std::filesystem::path("/usr/bin")}) {
    const std::filesystem::path program = folder / "hypermiled";
    if (::access(program.c_str(), X_OK) == 0) return program.string();
  }
  return "";
}

Result<Descriptor> start_guardian(const GuardianOptions& options) {
  if (options.program.empty()) {
    return Error{ErrorCode::kNotFound, "hypermiled is not installed", "run 'make install'"};
  }
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::kIo, std::strerror(errno)};
  }
  Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const std::vector<std::string> guardian = {options.program, "--guardian"};
  const auto through_sudo = [&](std::vector<std::string> command) {
    command.insert(command.end(), guardian.begin(), guardian.end());
    return command;
  };
  const bool root = ::geteuid() == 0;
  ASSIGN_OR_RETURN(Ended ended, run(root ? guardian : through_sudo({options.sudo, "-n", "--"}),
                                    theirs.get(), true));
  if (!ended.in_time) {
    return Error{ErrorCode::kTimeout,
                 fmt::format("{} did not start a guardian in time", root ? "hypermiled" : "sudo"),
                 "run the daemon (systemctl enable --now hypermiled), or use --observe"};
  }
  if (ended.status != 0 && !root && options.may_ask) {
    // sudo asks on the terminal itself, independent of standard input.
    ASSIGN_OR_RETURN(ended, run(through_sudo({options.sudo, "--"}), theirs.get(), false));
  }
  if (ended.status != 0) return no_guardian(ended);
  return ours;
}

SudoManner sudo_manner(const GuardianOptions& options) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Result<Ended> listed =
      run({options.sudo, "-n", "-l", "--", options.program, "--guardian"}, nothing.get(), true);
  if (!listed) return SudoManner::kAbsent;
  return listed->in_time && listed->status == 0 ? SudoManner::kFree : SudoManner::kAsks;
}

}  // namespace hypermile
