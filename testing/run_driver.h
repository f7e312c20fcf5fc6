// SPDX-License-Identifier: Apache-2.0
//
// For tests: runs job_driver as a separate program and observes it as a shell would.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <functional>
#include <string>
#include <vector>

#include "testing/child_process.h"

namespace hypermile {

struct DriverResult {
  int status = 0;  // as waitpid reports it
  std::string out;
  std::string err;

  int exit_code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
  int signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
};

// A running driver. Its stdin is a pipe; its output is collected at the end.
class RunningDriver {
 public:
  // `prepare` runs in the new process before the driver is started.
  explicit RunningDriver(std::vector<std::string> command, std::function<void()> prepare = {}) {
    int in[2], out[2], err[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
      return;
    pid_ = fork_child();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      ::setpgid(0, 0);
      if (prepare) prepare();
      command.insert(command.begin(), JOB_DRIVER);
      std::vector<char*> argv;
      for (std::string& word : command) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(99);
    }
    ::setpgid(pid_, pid_);
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
  }
  RunningDriver(const RunningDriver&) = delete;
  RunningDriver& operator=(const RunningDriver&) = delete;
  ~RunningDriver() {
    if (!waited_) finish();
  }

  pid_t pid() const { return pid_; }
  void type(const std::string& text) const {
    [[maybe_unused]] const ssize_t n = ::write(in_, text.data(), text.size());
  }
  // The next line of stdout, with which a job says that it is ready.
  std::string line() const {
    std::string text;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }

  DriverResult finish() {
    DriverResult result;
    ::close(in_);
    result.out = rest_of(out_);
    result.err = rest_of(err_);
    ::waitpid(pid_, &result.status, 0);
    waited_ = true;
    return result;
  }

 private:
  static std::string rest_of(int from) {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(from, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(from);
    return text;
  }

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool waited_ = false;
};

inline DriverResult run_driver(std::vector<std::string> command, const std::string& input = "",
                               std::function<void()> prepare = {}) {
  RunningDriver driver(std::move(command), std::move(prepare));
  driver.type(input);
  return driver.finish();
}

}  // namespace hypermile
