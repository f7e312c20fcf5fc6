// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

namespace hypermile {
namespace {

constexpr Seconds kPatience = Seconds(0.5);
constexpr std::size_t kMostText = std::size_t(1) << 20U;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Both outputs of the child go to `output`. Its signals are reset to their defaults, whatever this
// process blocks or ignores.
int spawn(pid_t& child, const std::string& path, std::vector<std::string> words,
          std::vector<std::string> variables, int output) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawn(&child, path.c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// False where the line does not have the program's format.
bool read_document(const std::string& line, PerformanceCounterReading& reading) {
  const auto document = nlohmann::json::parse(line, nullptr, false);
  if (!document.is_object() || !document.contains("features") || !document.contains("samples") ||
      !document["features"].is_object() || !document["samples"].is_number_unsigned()) {
    return false;
  }
  PerformanceCounterReading read;
  read.samples = document["samples"].get<std::size_t>();
  for (const auto& [name, value] : document["features"].items()) {
    const auto feature = feature_from(name);
    if (!feature || !value.is_number()) return false;
    read.features.set(*feature, value.get<double>());
  }
  reading = std::move(read);
  return true;
}

// Reads lines of JSON. A line in another form is the program's error message.
PerformanceCounterReading read_lines(const std::string& text) {
  PerformanceCounterReading reading;
  std::string complaint;
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("hypermile: ")) line.erase(0, std::strlen("hypermile: "));
    if (!line.empty() && !read_document(line, reading)) complaint = line;
  }
  if (reading.samples == 0) reading.problem = complaint;
  return reading;
}

}  // namespace

CounterProcess::CounterProcess(CounterProgram program, Clock& clock)
    : program_(std::move(program)), clock_(clock) {}

CounterProcess::~CounterProcess() {
  end();
  const Instant until = clock_.now() + kPatience;
  while (!reap() && clock_.now() < until) clock_.sleep_for(kPatience / 50);
  // A process inside the driver ends when the driver returns; nobody waits for that.
  if (child_ > 0) ::kill(child_, SIGKILL);
  reap();
}

void CounterProcess::begin(const GpuIdentity& gpu) {
  end();
  problem_.clear();
  text_.clear();
  if (!reap()) {
    problem_ = "the last program that read performance counters has not ended yet";
    return;
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    problem_ =
        fmt::format("cannot create a pipe to read performance counters: {}", std::strerror(errno));
    return;
  }
  std::vector<std::string> words = program_.arguments;
  words.emplace_back("--gpu");
  words.push_back(gpu.pci.text());
  // The child's end blocks, as programs expect.
  ::fcntl(ends[1], F_SETFL, 0);
  const int error = spawn(child_, program_.path, std::move(words), program_.environment, ends[1]);
  ::close(ends[1]);
  output_ = ends[0];
  if (error == 0) return;
  child_ = 0;
  close_output();
  problem_ = fmt::format("{} cannot be started to read performance counters: {}", program_.path,
                         std::strerror(error));
}

PerformanceCounterReading CounterProcess::end() {
  if (output_ < 0) {
    PerformanceCounterReading nothing;
    nothing.problem = std::exchange(problem_, {});
    return nothing;
  }
  read_output();
  close_output();
  if (child_ > 0 && !reap()) ::kill(child_, SIGTERM);
  PerformanceCounterReading reading = read_lines(text_);
  if (reading.samples == 0 && reading.problem.empty()) {
    reading.problem = "performance counters have not answered in time";
  }
  return reading;
}

void CounterProcess::read_output() {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(output_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    if (text_.size() < kMostText) text_.append(buffer, static_cast<std::size_t>(got));
  }
}

void CounterProcess::close_output() {
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

bool CounterProcess::reap() {
  if (child_ <= 0) return true;
  if (::waitpid(child_, nullptr, WNOHANG) == 0) return false;
  child_ = 0;
  return true;
}

}  // namespace hypermile
