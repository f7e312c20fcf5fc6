// SPDX-License-Identifier: Apache-2.0
#include "run/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "testing/run_driver.h"

namespace hypermile {
namespace {

TEST(Job, PassesTheExitCodeThrough) {
  for (const int code : {0, 1, 2, 42, 126, 127, 255}) {
    const DriverResult result = run_driver({"bash", "-c", "exit " + std::to_string(code)});

    EXPECT_EQ(result.exit_code(), code);
  }
}

TEST(Job, DiesOfTheSignalThatKilledTheJob) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGPIPE, SIGUSR1}) {
    const DriverResult result =
        run_driver({"bash", "-c", "ulimit -c 0; kill -" + std::to_string(signal) + " $$"});

    EXPECT_EQ(result.signal(), signal);
  }
}

TEST(Job, SaysAsAShellWouldThatACommandIsNotThere) {
  const DriverResult result = run_driver({"no-such-command-anywhere"});

  EXPECT_EQ(result.exit_code(), 127);
  EXPECT_EQ(result.err,
            "cannot run 'no-such-command-anywhere': No such file or directory; check the command "
            "after --, and PATH\n");
}

TEST(Job, SaysAsAShellWouldThatAFileCannotBeExecuted) {
  EXPECT_EQ(run_driver({"/etc/passwd"}).exit_code(), 126);
  EXPECT_EQ(run_driver({"/tmp"}).exit_code(), 126);
}

TEST(Job, LeavesStdinStdoutAndStderrToTheJob) {
  const DriverResult result =
      run_driver({"bash", "-c", "read a; cat; echo \"<$a>\" >&2"}, "first\nsecond\nthird\n");

  EXPECT_EQ(result.out, "second\nthird\n");
  EXPECT_EQ(result.err, "<first>\n");
}

TEST(Job, PassesArgumentsUntouched) {
  const DriverResult result =
      run_driver({"printf", "[%s]", "", "two words", "--json", "--", "$HOME", "*"});

  EXPECT_EQ(result.out, "[][two words][--json][--][$HOME][*]");
}

TEST(Job, InheritsNoDescriptorOfOurs) {
  const DriverResult result = run_driver({"bash", "-c", "ls /proc/self/fd | sort -n | xargs"}, "",
                                         [] { ::close_range(3, ~0U, 0); });

  EXPECT_EQ(result.out, "0 1 2 3\n");  // 3 is the folder that ls reads
}

// A line of /proc/self/status that holds signals as a hexadecimal mask. Signals 32 and 33 are the C
// library's own: posix_spawn sets them to ignored, a first thread takes them up, and no program
// sees them, so that they say nothing about what was inherited.
std::uint64_t mask(const std::string& status, const std::string& line) {
  constexpr std::uint64_t kOfTheLibrary = 0x180000000;
  const std::size_t at = status.find(line);
  if (at == status.npos) return ~0ULL;
  return std::stoull(status.substr(at + line.size() + 1), nullptr, 16) & ~kOfTheLibrary;
}

TEST(Job, InheritsTheSignalsThatWeInherited) {
  const std::vector<std::string> show = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status"};
  // Whoever started the tests may ignore signals of its own.
  std::ifstream file("/proc/self/status");
  const std::string ours((std::istreambuf_iterator<char>(file)), {});

  const DriverResult plain = run_driver(show);
  const DriverResult odd = run_driver(show, "", [] {
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGCHLD, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
  });

  EXPECT_EQ(mask(plain.out, "SigBlk:"), mask(ours, "SigBlk:"));
  EXPECT_EQ(mask(plain.out, "SigIgn:"), mask(ours, "SigIgn:"));
  EXPECT_EQ(mask(odd.out, "SigBlk:"), mask(ours, "SigBlk:") | 0x800);
  EXPECT_EQ(mask(odd.out, "SigIgn:"), mask(ours, "SigIgn:") | 0x11001);
  EXPECT_EQ(odd.exit_code(), 0);
}

TEST(Job, IsInTheSameProcessGroupAndSession) {
  const DriverResult result = run_driver({"bash", "-c", "ps -o pgid=,sid= -p $$ -p $PPID | uniq"});

  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1) << result.out;
}

TEST(Job, GoesOnWhenWeAreKilled) {
  RunningDriver driver({"bash", "-c", "echo $$; read x; echo \"alive $x\"; exit 3"});
  driver.line();

  ::kill(driver.pid(), SIGKILL);
  driver.type("and reading\n");

  EXPECT_EQ(driver.line(), "alive and reading");
}

TEST(Job, IsOverWhenTheCommandIsWhateverItLeavesBehind) {
  RunningDriver driver({"bash", "-c", "(exec 1>&- 2>&-; sleep 100) & echo $!; exit 5"});
  const pid_t left_behind = std::stoi(driver.line());

  const DriverResult result = driver.finish();

  EXPECT_EQ(result.exit_code(), 5);
  EXPECT_EQ(::kill(left_behind, SIGKILL), 0) << "should still run";
}

// Each signal in turn; the job reports what reaches it. The job is no shell script: bash now and
// then drops a SIGINT that arrives between two commands of a loop.
TEST(JobWatch, PassesOnWhatIsSentToUs) {
  for (const int number :
       {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGWINCH, SIGRTMIN + 3}) {
    RunningDriver driver({"python3", "-c",
                          "import os, signal, sys\n"
                          "def end(*_):\n"
                          "  print('got', flush=True)\n"
                          "  os._exit(7)\n"
                          "signal.signal(int(sys.argv[1]), end)\n"
                          "print('ready', flush=True)\n"
                          "while True: signal.pause()\n",
                          std::to_string(number)});
    driver.line();

    ASSERT_EQ(::kill(driver.pid(), number), 0);

    const DriverResult result = driver.finish();
    EXPECT_EQ(result.out, "got\n") << "signal " << number;
    EXPECT_EQ(result.exit_code(), 7) << "signal " << number;
  }
}

TEST(JobWatch, OutlivesAJobThatHandlesTheSignal) {
  RunningDriver driver({"bash", "-c", "trap 'echo one' TERM; echo ready; read x; read y; exit 9"});
  driver.line();

  ::kill(driver.pid(), SIGTERM);
  const std::string handled = driver.line();
  driver.type("x\ny\n");

  EXPECT_EQ(handled, "one");
  EXPECT_EQ(driver.finish().exit_code(), 9);
}

TEST(JobWatch, DoesNotReturnToTheJobWhatTheJobSent) {
  const DriverResult result = run_driver(
      {"bash", "-c", "n=0; trap 'n=$((n+1))' USR1; kill -USR1 $PPID; sleep 0.2; exit $n"});

  EXPECT_EQ(result.exit_code(), 0);
}

TEST(JobWatch, StopsAndContinuesWithTheJob) {
  RunningDriver driver({"bash", "-c", "echo $$; read x; exit 4"});
  const pid_t job = std::stoi(driver.line());

  ::kill(job, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(driver.pid(), &status, WUNTRACED), driver.pid());
  EXPECT_TRUE(WIFSTOPPED(status));

  ::kill(driver.pid(), SIGCONT);  // to us alone; we continue the job
  driver.type("x\n");
  EXPECT_EQ(driver.finish().exit_code(), 4);
}

TEST(ExitCode, IsAsShellsReportIt) {
  EXPECT_EQ((JobEnd{3, std::nullopt}).exit_code(), 3);
  EXPECT_EQ((JobEnd{0, SIGKILL}).exit_code(), 137);
}

}  // namespace
}  // namespace hypermile
