// SPDX-License-Identifier: Apache-2.0
//
// The job on a terminal, under an interactive shell with job control: what is typed here is what a
// person types.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <string>

namespace hypermile {
namespace {

class JobOnATerminal : public ::testing::Test {
 protected:
  void SetUp() override {
    shell_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (shell_ == 0) {
      ::setenv("PS1", "prompt$ ", 1);
      ::execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      ::_exit(99);
    }
    if (shell_ < 0)
      GTEST_SKIP() << "this machine gives no pseudo-terminal: " << std::strerror(errno);
    until("prompt$ ");
  }
  void TearDown() override {
    if (shell_ < 0) return;
    ::kill(shell_, SIGKILL);
    ::close(fd_);
    ::waitpid(shell_, nullptr, 0);
  }

  void type(const std::string& text) const {
    ASSERT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // What has appeared up to and with `text`; fails after 20 s.
  std::string until(const std::string& text) {
    std::string seen;
    pollfd watched{fd_, POLLIN, 0};
    while (seen.find(text) == std::string::npos) {
      char c = 0;
      if (::poll(&watched, 1, 20000) != 1 || ::read(fd_, &c, 1) != 1) {
        ADD_FAILURE() << "no '" << text << "' in: " << seen;
        break;
      }
      seen += c;
    }
    return seen;
  }

 private:
  int fd_ = -1;
  pid_t shell_ = -1;
};

const std::string kDriver = JOB_DRIVER;

TEST_F(JobOnATerminal, KnowsThatItIsOne) {
  type(kDriver + " bash -c 'test -t 0 && test -t 1 && test -t 2 && echo yes-$((6*7))'\n");

  until("yes-42");
}

TEST_F(JobOnATerminal, ReadsWhatIsTyped) {
  type(kDriver + " bash -c 'echo go-$((1+1)); read a; echo \"[$a]\"'\n");
  until("go-2");
  type("hello\n");

  until("[hello]");
}

TEST_F(JobOnATerminal, DiesOfCtrlCAndTheShellSeesIt) {
  // A shell leaves the rest of a list when a program was killed by SIGINT, not when it returned
  // 130.
  type(kDriver + " bash -c 'echo go-$((2+2)); exec sleep 100'; echo went-$((1+1))\n");
  until("go-4");
  type("\x03");
  const std::string after = until("prompt$ ");
  type("echo code-$?\n");

  EXPECT_EQ(after.find("went-2"), std::string::npos);
  until("code-130");
}

TEST_F(JobOnATerminal, GetsCtrlCOnce) {
  type(kDriver +
       " bash -c 'trap \"echo one-\\$((1+1))\" INT; echo go-$((2+2)); sleep 1; "
       "sleep 0.3; exit 6'; echo code-$?\n");
  until("go-4");
  type("\x03");

  const std::string seen = until("code-6");
  const std::size_t first = seen.find("one-2");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(seen.find("one-2", first + 1), std::string::npos) << "interrupted twice";
}

TEST_F(JobOnATerminal, IsStoppedByCtrlZAndContinuedByFg) {
  type(kDriver + " bash -c 'echo go-$((2+2)); read a; echo \"[$a]\"; exit 11'\n");
  until("go-4");
  type("\x1a");
  until("Stopped");
  until("prompt$ ");
  type("fg\n");
  type("again\n");
  until("[again]");
  until("prompt$ ");
  type("echo code-$?\n");

  until("code-11");
}

TEST_F(JobOnATerminal, RunsOnInTheBackground) {
  type(kDriver + " bash -c 'echo go-$((2+2)); sleep 0.5; exit 12'\n");
  until("go-4");
  type("\x1a");
  until("Stopped");
  type("bg; wait %1; echo code-$?\n");

  until("code-12");
}

TEST_F(JobOnATerminal, StopsWhenItReadsInTheBackground) {
  type(kDriver + " bash -c 'read a; echo \"[$a]\"' &\n");
  until("prompt$ ");
  // The shell waits until it is so; the brackets keep the command's own echo from being taken for
  // it.
  type("until jobs | grep -q 'St[o]pped'; do sleep 0.02; done; jobs\n");
  until("Stopped");
  type("fg\n");
  type("typed\n");

  until("[typed]");
}

TEST_F(JobOnATerminal, IsLeftAloneByAStopThatItIgnores) {
  // The job waits without another process: a child of bash can be stopped for a moment after
  // fork().
  type(kDriver +
       " bash -c 'trap \"\" TSTP; echo go-$((2+2)); read -t 1; exit 13'; "
       "echo code-$?\n");
  until("go-4");
  type("\x1a");

  EXPECT_EQ(until("code-13").find("Stopped"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
