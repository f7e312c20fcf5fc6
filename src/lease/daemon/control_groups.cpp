// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/control_groups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "base/descriptor.h"
#include "base/whole_file.h"

namespace hypermile {
namespace {

constexpr const char* kOwnGroup = "hypermile-guardian";
constexpr int kSystemdPatienceMs = 2000;  // for systemd to answer and move the process
constexpr int kLookAgainMs = 10;

bool write_text(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string scope_name() {
  return fmt::format("{}-{}.scope", kOwnGroup, ::getpid());
}

// True where the process shares its group with nobody who could be ended together with it.
bool is_out(const Membership& membership) {
  const std::string& path = membership.path;
  return path == "/" || path == std::string("/") + kOwnGroup || path.ends_with("/" + scope_name());
}

std::vector<Membership> not_left() {
  std::vector<Membership> inside =
      parse_memberships(read_whole_file("/proc/self/cgroup").value_or(""));
  std::erase_if(inside, is_out);
  return inside;
}

// The program in /usr/bin or /bin, run to its end with no output; false if that takes too long.
bool run_quietly(const std::vector<std::string>& command) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int problem = ::posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return false;
  int status = 0;
  for (int waited = 0; waited < kSystemdPatienceMs; waited += kLookAgainMs) {
    if (::waitpid(child, &status, WNOHANG) == child) return status == 0;
    ::poll(nullptr, 0, kLookAgainMs);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return false;
}

// Asks systemd for a scope of the process's own. systemd keeps it apart from the user's session in
// every hierarchy that it manages, and shows it in `systemctl status`.
void ask_systemd() {
  if (::access("/run/systemd/system", F_OK) != 0) return;
  const std::string pid = std::to_string(::getpid());
  const bool asked = run_quietly({"/usr/bin/busctl",
                                  "call",
                                  "org.freedesktop.systemd1",
                                  "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager",
                                  "StartTransientUnit",
                                  "ssa(sv)a(sa(sv))",
                                  scope_name(),
                                  "fail",
                                  "3",
                                  "PIDs",
                                  "au",
                                  "1",
                                  pid,
                                  "Description",
                                  "s",
                                  "hypermile guardian",
                                  "Slice",
                                  "s",
                                  "system.slice",
                                  "0"});
  if (!asked) return;
  const auto moved = [] {
    const auto all = parse_memberships(read_whole_file("/proc/self/cgroup").value_or(""));
    return std::ranges::any_of(
        all, [](const Membership& group) { return group.path.ends_with("/" + scope_name()); });
  };
  for (int waited = 0; waited < kSystemdPatienceMs && !moved(); waited += kLookAgainMs) {
    ::poll(nullptr, 0, kLookAgainMs);
  }
}

// In v2 a group of its own keeps the process visible to people; in v1 the top is nobody's.
void leave(const Membership& membership, const std::vector<Hierarchy>& mounted) {
  for (const Hierarchy& hierarchy : mounted) {
    if (hierarchy.controllers != membership.controllers) continue;
    const std::string pid = std::to_string(::getpid());
    if (membership.controllers.empty()) {
      const std::string own = hierarchy.folder + "/" + kOwnGroup;
      if ((::mkdir(own.c_str(), 0755) == 0 || errno == EEXIST) &&
          write_text(own + "/cgroup.procs", pid)) {
        return;
      }
    }
    if (write_text(hierarchy.folder + "/cgroup.procs", pid)) return;
  }
}

// The options of a v1 mount name its controllers among others, such as "rw,cpu,cpuacct,xattr".
std::string controllers_of(const std::string& options, const std::vector<std::string>& known) {
  for (const std::string& controllers : known) {
    if (("," + options + ",").find("," + controllers + ",") != std::string::npos)
      return controllers;
  }
  return options;
}

}  // namespace

std::vector<Membership> parse_memberships(std::string_view proc_cgroup) {
  std::vector<Membership> all;
  std::istringstream lines{std::string(proc_cgroup)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    all.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return all;
}

std::vector<Hierarchy> parse_hierarchies(std::string_view mountinfo) {
  std::vector<Hierarchy> all;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == line.npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string id, parent, device, root, folder, type, source, options;
    before >> id >> parent >> device >> root >> folder;
    after >> type >> source >> options;
    if (root != "/" || (type != "cgroup" && type != "cgroup2")) continue;
    all.push_back({folder, type == "cgroup2" ? "" : options});
  }
  return all;
}

Result<void> leave_control_groups() {
  if (not_left().empty()) return {};
  ask_systemd();
  std::vector<std::string> known;
  for (const Membership& group : not_left()) {
    if (!group.controllers.empty()) known.push_back(group.controllers);
  }
  std::vector<Hierarchy> mounted =
      parse_hierarchies(read_whole_file("/proc/self/mountinfo").value_or(""));
  for (Hierarchy& hierarchy : mounted) {
    if (!hierarchy.controllers.empty()) {
      hierarchy.controllers = controllers_of(hierarchy.controllers, known);
    }
  }
  for (const Membership& group : not_left()) leave(group, mounted);
  const std::vector<Membership> inside = not_left();
  if (inside.empty()) return {};
  std::string names;
  for (const Membership& group : inside) {
    names += fmt::format("{}{}:{}", names.empty() ? "" : ", ",
                         group.controllers.empty() ? "cgroup2" : group.controllers, group.path);
  }
  return Error{ErrorCode::kPermission,
               "a guardian is not safe here: whoever ends the control group " + names +
                   " also ends the guardian, and the GPU would stay changed",
               "run the daemon (systemctl enable --now hypermiled), or use --observe"};
}

}  // namespace hypermile
