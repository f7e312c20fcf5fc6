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

#include "base/descriptor.h"

namespace hypermile {
namespace {

bool write_text(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A batch system ends a job by killing its control group. Where cgroup v2 is mounted, the guardian
// leaves that group. Elsewhere owner and guardian are killed together, and the next daemon or
// guardian to start restores the GPU.
void leave_control_group() {
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string own = std::string(root) + "/hypermile-guardian";
    if (::access((std::string(root) + "/cgroup.procs").c_str(), F_OK) != 0) continue;
    if (::mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) continue;
    if (write_text(own + "/cgroup.procs", std::to_string(::getpid()))) return;
  }
}

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

}  // namespace

Result<bool> start_guardian_session() {
  if (!is_socket(STDIN_FILENO)) {
    return Error{ErrorCode::kUsage, "a guardian needs a socket as its standard input",
                 "hypermile starts guardians itself; do not run one by hand"};
  }
  // A process that leads a group cannot begin a session, so the child does.
  const pid_t child = ::fork();
  if (child < 0) return Error{ErrorCode::kIo, fmt::format("cannot fork: {}", std::strerror(errno))};
  if (child > 0) return false;
  ::setsid();
  if (::chdir("/") != 0) return Error{ErrorCode::kIo, "cannot change to the folder /"};
  close_inherited();
  leave_control_group();
  const int nowhere = ::open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    if (nowhere > STDERR_FILENO) ::close(nowhere);
  }
  return true;
}

}  // namespace hypermile
