// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a signal can come, and how often the job then gets it: once. Ctrl-C, Ctrl-\ and
// Ctrl-Z on a terminal are in job_terminal_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/proc_file.h"
#include "testing/run_driver.h"

namespace hypermile {
namespace {

constexpr int kTries = 2;  // each way and signal

// Counts deliveries in the C handler, because Python itself makes one of several that come at once.
// The last signal makes it print the counts and end.
const char* const kCounter = R"(
import os, signal
last = signal.SIGRTMIN + 5
counts = {}
r, w = os.pipe()
os.set_blocking(w, False)
signal.set_wakeup_fd(w)
for s in [1, 2, 3, 10, 12, 15, 28, signal.SIGRTMIN + 3, last]: signal.signal(s, lambda *_: None)
print(os.getpid(), flush=True)
got = b''
while last not in got: got += os.read(r, 100)
# Of two signals that are pending, the handler of the second runs first.
os.set_blocking(r, False)
try: got += os.read(r, 100)
except BlockingIOError: pass
for s in got:
  if s != last: counts[s] = counts.get(s, 0) + 1
print(' '.join(f'{s}:{n}' for s, n in counts.items()), flush=True)
os._exit(7)
)";

pid_t group_of(pid_t pid) {
  return ::getpgid(pid);
}

// Everybody in a process group, one by one, with a pause behind each.
void signal_each_of(pid_t group, int signal, useconds_t pause_us = 0) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && group_of(pid) == group) {
      ::kill(pid, signal);
      ::usleep(pause_us);
    }
  }
}

struct Way {
  const char* name;
  void (*send)(const RunningDriver& driver, pid_t job, int signal);
};

const Way kWays[] = {
    {"to us", [](const RunningDriver& d, pid_t, int s) { ::kill(d.pid(), s); }},
    {"to us, queued", [](const RunningDriver& d, pid_t, int s) { ::sigqueue(d.pid(), s, {}); }},
    {"to the job", [](const RunningDriver&, pid_t job, int s) { ::kill(job, s); }},
    {"to the group", [](const RunningDriver& d, pid_t, int s) { ::killpg(d.pid(), s); }},
    {"to each of the group",
     [](const RunningDriver& d, pid_t, int s) { signal_each_of(d.pid(), s); }},
    {"to each of the group, slowly",
     [](const RunningDriver& d, pid_t, int s) { signal_each_of(d.pid(), s, 25'000); }},
};

class SignalWays : public ::testing::TestWithParam<Way> {};

TEST_P(SignalWays, ReachTheJobOnce) {
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGWINCH, SIGRTMIN + 3}) {
    for (int i = 0; i < kTries; ++i) {
      RunningDriver driver({"python3", "-S", "-c", kCounter});
      const pid_t job = std::stoi(driver.line());

      GetParam().send(driver, job, signal);
      ::kill(driver.pid(), SIGRTMIN + 5);  // to us, so that the job gets it after all others

      const DriverResult result = driver.finish();
      EXPECT_EQ(result.out, std::to_string(signal) + ":1\n") << GetParam().name;
      EXPECT_EQ(result.exit_code(), 7);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Any, SignalWays, ::testing::ValuesIn(kWays));

// The process that has taken the witness's name; 0 if none does within 10 s.
pid_t witness_of(const RunningDriver& driver) {
  for (int i = 0; i < 10'000; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0 || group_of(pid) != driver.pid()) continue;
      if (read_proc_file(pid, "comm") == "signal-witness\n") return pid;
    }
    ::usleep(1000);
  }
  return 0;
}

TEST(SignalWitness, IsNotFoundByOurName) {
  RunningDriver driver({"bash", "-c", "echo ready; read x"});
  driver.line();
  ASSERT_GT(witness_of(driver), 0);
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == driver.pid() || group_of(pid) != driver.pid()) continue;
    names += read_proc_file(pid, "comm").value_or("") + read_proc_file(pid, "cmdline").value_or("");
  }

  EXPECT_EQ(names.find("job_driver"), std::string::npos) << "pkill -f would find it";
}

TEST(SignalWitness, DiesWithUs) {
  RunningDriver driver({"bash", "-c", "echo ready; read x; echo alive"});
  driver.line();
  const pid_t witness = witness_of(driver);
  ASSERT_GT(witness, 0);

  ::kill(driver.pid(), SIGKILL);
  driver.type("x\n");
  EXPECT_EQ(driver.line(), "alive");

  // It is killed by the kernel; whoever is its parent now collects it.
  bool lives = true;
  for (int i = 0; i < 1000 && lives; ++i) {
    const std::string state = read_proc_file(witness, "stat").value_or("");
    lives = !state.empty() && state.find(") Z") == std::string::npos;
    ::usleep(1000);
  }
  EXPECT_FALSE(lives);
}

TEST(SignalWitness, AnswersThoughItWasStoppedWithTheGroup) {
  RunningDriver driver({"python3", "-S", "-c", kCounter});
  const pid_t job = std::stoi(driver.line());
  signal_each_of(driver.pid(), SIGSTOP);
  ::kill(job, SIGCONT);
  ::kill(driver.pid(), SIGCONT);  // the witness still stands

  ::killpg(driver.pid(), SIGUSR1);
  ::kill(driver.pid(), SIGRTMIN + 5);

  EXPECT_EQ(driver.finish().out, std::to_string(SIGUSR1) + ":1\n");
}

}  // namespace
}  // namespace hypermile
