// SPDX-License-Identifier: Apache-2.0
#include "run/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hypermile {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The new process reports through a pipe why it could not become the job.
struct Failure {
  enum class Step { kUser, kExec } step = Step::kExec;
  int problem = 0;
};

// Runs between fork and exec, so only async-signal-safe calls are made. Groups are set before the
// user, who could not change them any more.
int become_user(const JobUser& user) {
  if (::setgroups(user.groups.size(), user.groups.data()) != 0) return errno;
  if (::setresgid(user.gid, user.gid, user.gid) != 0) return errno;
  if (::setresuid(user.uid, user.uid, user.uid) != 0) return errno;
  return 0;
}

[[noreturn]] void become_job(const JobCommand& command, char* const* arguments,
                             char* const* environment, int report) {
  Failure failure;
  if (command.user) {
    failure.problem = become_user(*command.user);
    failure.step = Failure::Step::kUser;
  }
  if (failure.problem == 0) {
    command.signals.restore();
    ::execvpe(arguments[0], arguments, environment);
    failure = {Failure::Step::kExec, errno};
  }
  [[maybe_unused]] const ssize_t told = ::write(report, &failure, sizeof(failure));
  ::_exit(kCommandNotFound);
}

Error not_started(const JobCommand& command, const Failure& failure) {
  const std::string why = std::strerror(failure.problem);
  if (failure.step == Failure::Step::kUser) {
    return Error{ErrorCode::kPermission,
                 fmt::format("cannot become user {}: {}", command.user->name, why),
                 "run hypermile without sudo"};
  }
  const std::string& name = command.arguments.front();
  if (failure.problem == ENOENT) {
    return Error{ErrorCode::kNotFound, fmt::format("cannot run '{}': {}", name, why),
                 "check the command after --, and PATH"};
  }
  return Error{ErrorCode::kPermission, fmt::format("cannot run '{}': {}", name, why),
               "check that the file is a program and that you may execute it"};
}

Error no_process() {
  return Error{ErrorCode::kIo, fmt::format("cannot start a process: {}", std::strerror(errno)),
               "check 'ulimit -u' and free memory"};
}

// Reads what the child reports; end of file means that the exec succeeded and closed the pipe.
bool reported(int from, Failure& failure) {
  ssize_t count = 0;
  do {
    count = ::read(from, &failure, sizeof(failure));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(failure);
}

}  // namespace

Result<pid_t> start_job(const JobCommand& command) {
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> variables = command.environment.strings();
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> environment = pointers_to(variables);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return no_process();
  const pid_t pid = ::fork();
  if (pid == 0) become_job(command, argv.data(), environment.data(), pipe[1]);
  ::close(pipe[1]);
  Failure failure;
  const bool failed = pid > 0 && reported(pipe[0], failure);
  ::close(pipe[0]);
  if (pid < 0) return no_process();
  if (failed) {
    ::waitpid(pid, nullptr, 0);
    return not_started(command, failure);
  }
  return pid;
}

int exit_code_of(const Error& not_started) {
  return not_started.code == ErrorCode::kNotFound ? kCommandNotFound : kCommandNotRunnable;
}

}  // namespace hypermile
