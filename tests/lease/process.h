// SPDX-License-Identifier: Apache-2.0
//
// For end-to-end tests: a program that runs as some user and talks line by line.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "testing/child_process.h"

namespace hypermile {

struct RunAs {
  uid_t uid = 0;
  // The first is the primary group; if empty, the group with the user's number.
  std::vector<gid_t> groups = {};
};

// The process is killed and waited for when this object is destroyed.
class Process {
 public:
  Process() = default;
  // Runs as this user if `as` is not given; leads its own process group.
  explicit Process(const std::vector<std::string>& command, std::optional<RunAs> as = {}) {
    int to[2];
    int from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) std::abort();
    pid_ = fork_child();
    if (pid_ == 0) exec(command, as, to[0], from[1]);
    ::close(to[0]);
    ::close(from[1]);
    in_.reset(to[1]);
    out_.reset(from[0]);
  }
  ~Process() {
    signal(SIGKILL);
    wait();
  }
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        in_(std::move(other.in_)),
        out_(std::move(other.out_)),
        read_(std::move(other.read_)) {}
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }
  void signal_group(int number) const {
    if (pid_ > 0) ::kill(-pid_, number);
  }
  void close_input() { in_.reset(); }

  // The exit status, or 128 plus the signal; -1 if it was waited for already.
  int wait() {
    if (pid_ <= 0) return -1;
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // Sends a line and returns the line that comes back; "" if none comes within `seconds`.
  std::string ask(const std::string& line, double seconds = 20) {
    const std::string text = line + "\n";
    if (::write(in_.get(), text.data(), text.size()) < 0) return "";
    return read_line(seconds);
  }
  std::string read_line(double seconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
      const std::size_t end = read_.find('\n');
      if (end != read_.npos) {
        std::string line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return line;
      }
      const std::chrono::duration<double, std::milli> left =
          until - std::chrono::steady_clock::now();
      pollfd watched{out_.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count()) + 1) <= 0) {
        return "";
      }
      char buffer[512];
      const ssize_t got = ::read(out_.get(), buffer, sizeof(buffer));
      if (got <= 0) return "";
      read_.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  [[noreturn]] static void exec(const std::vector<std::string>& command,
                                const std::optional<RunAs>& as, int in, int out) {
    ::setpgid(0, 0);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    if (as) {
      const std::vector<gid_t> groups =
          as->groups.empty() ? std::vector<gid_t>{as->uid} : as->groups;
      if (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(groups.front()) != 0 ||
          ::setuid(as->uid) != 0) {
        ::_exit(126);
      }
    }
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  pid_t pid_ = -1;
  Descriptor in_;
  Descriptor out_;
  std::string read_;
};

}  // namespace hypermile
