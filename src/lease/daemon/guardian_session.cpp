// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/guardian_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "lease/daemon/control_groups.h"

namespace hypermile {
namespace {

// Closes all other inherited descriptors: a pipe held open here would keep its reader waiting.
void close_inherited() {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0U) == 0) return;
#endif
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) ::close(fd);
}

bool is_socket(int fd) {
  struct stat facts = {};
  return ::fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

Error failed(const char* what) {
  return Error{ErrorCode::kIo, fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

void tell_parent(int pipe, std::string_view words) {
  [[maybe_unused]] const auto written = ::write(pipe, words.data(), words.size());
}

// What start_guardian_session() returns in the parent: false once the child runs on its own, or why
// it could not.
Result<bool> await_child(int pipe) {
  std::string words;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(pipe, buffer, sizeof buffer)) != 0;) {
    if (got > 0) words.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  if (words == "ok") return false;
  return Error{ErrorCode::kPermission, words.empty() ? "the guardian died at its start" : words};
}

}  // namespace

Result<bool> start_guardian_session() {
  if (!is_socket(STDIN_FILENO)) {
    return Error{ErrorCode::kUsage, "a guardian needs a socket as its standard input",
                 "hypermile starts guardians itself; do not run one by hand"};
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("make a pipe");
  const Descriptor heard(ends[0]);
  Descriptor said(ends[1]);
  // A process that leads a group cannot begin a session, so the child does.
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child > 0) {
    said.reset();
    return await_child(heard.get());
  }
  ::setsid();
  const Result<void> left = leave_control_groups();
  tell_parent(said.get(), left ? "ok" : left.error().line());
  if (!left) ::_exit(1);
  close_inherited();
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO) ::close(nowhere);
  }
  return true;
}

}  // namespace hypermile
