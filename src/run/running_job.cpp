// SPDX-License-Identifier: Apache-2.0
#include "run/running_job.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/parse.h"
#include "base/proc_file.h"
#include "inject/ring.h"

namespace hypermile {
namespace {

// The children of every process, from /proc/N/stat: "N (NAME) S PARENT …". NAME may hold any
// character, so the last ") " ends it.
std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return children;
  while (const dirent* entry = ::readdir(folder)) {
    const auto pid = parse_integer(entry->d_name);
    if (!pid) continue;
    const auto status = read_proc_file(static_cast<pid_t>(*pid), "stat");
    const std::size_t name_end = status ? status->rfind(") ") : std::string::npos;
    if (name_end == std::string::npos || name_end + 4 >= status->size()) continue;
    const std::string rest = status->substr(name_end + 4);
    const auto parent = parse_integer(rest.substr(0, rest.find(' ')));
    if (parent) children.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(*pid));
  }
  ::closedir(folder);
  return children;
}

Error no_process(pid_t pid) {
  return Error{ErrorCode::kNotFound, fmt::format("there is no process {}", pid),
               "see 'nvidia-smi' or 'ps' for the job's process number"};
}

// Waits until the process has ended or the eventfd is written to.
void await_end(const Descriptor& process, int wake, const std::stop_source& ended) {
  pollfd watched[] = {{process.get(), POLLIN, 0}, {wake, POLLIN, 0}};
  while (::poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
  if (watched[0].revents != 0) ended.request_stop();
}

}  // namespace

std::optional<Environment> environment_of(pid_t pid) {
  const std::optional<std::string> text = read_proc_file(pid, "environ");
  if (!text) return std::nullopt;
  std::vector<const char*> variables;
  for (std::size_t at = 0; at < text->size();) {
    variables.push_back(text->c_str() + at);
    at = std::min(text->find('\0', at), text->size() - 1) + 1;
  }
  variables.push_back(nullptr);
  return Environment::from(variables.data());
}

Result<RunningJob> find_running_job(pid_t pid) {
  const auto name = read_proc_file(pid, "comm");
  if (pid <= 0 || !name) return no_process(pid);
  RunningJob job;
  job.pid = pid;
  job.name = name->substr(0, name->find('\n'));
  const auto environment = environment_of(pid);
  if (!environment) {
    return Error{ErrorCode::kPermission,
                 fmt::format("process {} ({}) belongs to another user", pid, job.name),
                 "attach as the user who runs it, or as root"};
  }
  job.environment = *environment;
  for (const pid_t member : with_descendants(pid)) {
    const auto its = environment_of(member);
    job.ring_folder = its ? its->get(kRingDirVariable) : std::nullopt;
    if (job.ring_folder) break;
  }
  return job;
}

std::vector<pid_t> with_descendants(pid_t pid) {
  const std::multimap<pid_t, pid_t> children = children_of_all();
  std::vector<pid_t> members = {pid};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [first, last] = children.equal_range(members[i]);
    for (auto child = first; child != last; ++child) {
      // A number that was reused while we read could make a process its own descendant.
      if (std::ranges::count(members, child->second) == 0) members.push_back(child->second);
    }
  }
  return members;
}

Result<ProcessEnd> ProcessEnd::watch(pid_t pid, std::stop_source ended) {
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) {
    if (errno == ESRCH) return no_process(pid);
    return Error{ErrorCode::kIo,
                 fmt::format("cannot watch process {}: {}", pid, std::strerror(errno))};
  }
  Descriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return Error{ErrorCode::kIo, std::strerror(errno)};
  std::thread thread([process = std::move(process), wake = wake.get(), ended = std::move(ended)] {
    await_end(process, wake, ended);
  });
  return ProcessEnd(std::move(wake), std::move(thread));
}

ProcessEnd::ProcessEnd(Descriptor wake, std::thread thread)
    : wake_(std::move(wake)), thread_(std::move(thread)) {}

ProcessEnd::~ProcessEnd() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  if (::write(wake_.get(), &one, sizeof(one)) == sizeof(one)) thread_.join();
}

}  // namespace hypermile
