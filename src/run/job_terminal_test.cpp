// SPDX-License-Identifier: Apache-2.0
//
// The job on a terminal, under an interactive shell with job control: what is typed here is what a
// person types.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <string>

namespace hypermile {
namespace {

class Terminal {
 public:
  Terminal() {
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::setenv("PS1", "prompt$ ", 1);
      ::execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      ::_exit(99);
    }
    until("prompt$ ");
  }
  ~Terminal() {
    ::kill(pid_, SIGKILL);
    ::close(fd_);
    ::waitpid(pid_, nullptr, 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

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
  pid_t pid_ = -1;
};

const std::string kDriver = JOB_DRIVER;

TEST(JobOnATerminal, KnowsThatItIsOne) {
  Terminal terminal;

  terminal.type(kDriver + " bash -c 'test -t 0 && test -t 1 && test -t 2 && echo yes-$((6*7))'\n");

  terminal.until("yes-42");
}

TEST(JobOnATerminal, ReadsWhatIsTyped) {
  Terminal terminal;

  terminal.type(kDriver + " bash -c 'echo go-$((1+1)); read a; echo \"[$a]\"'\n");
  terminal.until("go-2");
  terminal.type("hello\n");

  terminal.until("[hello]");
}

TEST(JobOnATerminal, DiesOfCtrlCAndTheShellSeesIt) {
  Terminal terminal;

  // A shell leaves the rest of a list when a program was killed by SIGINT, not when it returned
  // 130.
  terminal.type(kDriver + " bash -c 'echo go-$((2+2)); exec sleep 100'; echo went-$((1+1))\n");
  terminal.until("go-4");
  terminal.type("\x03");
  const std::string after = terminal.until("prompt$ ");
  terminal.type("echo code-$?\n");

  EXPECT_EQ(after.find("went-2"), std::string::npos);
  terminal.until("code-130");
}

TEST(JobOnATerminal, GetsCtrlCOnce) {
  Terminal terminal;

  terminal.type(kDriver +
                " bash -c 'trap \"echo one-\\$((1+1))\" INT; echo go-$((2+2)); sleep 1; "
                "sleep 0.3; exit 6'; echo code-$?\n");
  terminal.until("go-4");
  terminal.type("\x03");

  const std::string seen = terminal.until("code-6");
  const std::size_t first = seen.find("one-2");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(seen.find("one-2", first + 1), std::string::npos) << "interrupted twice";
}

TEST(JobOnATerminal, IsStoppedByCtrlZAndContinuedByFg) {
  Terminal terminal;

  terminal.type(kDriver + " bash -c 'echo go-$((2+2)); read a; echo \"[$a]\"; exit 11'\n");
  terminal.until("go-4");
  terminal.type("\x1a");
  terminal.until("Stopped");
  terminal.until("prompt$ ");
  terminal.type("fg\n");
  terminal.type("again\n");
  terminal.until("[again]");
  terminal.until("prompt$ ");
  terminal.type("echo code-$?\n");

  terminal.until("code-11");
}

TEST(JobOnATerminal, RunsOnInTheBackground) {
  Terminal terminal;

  terminal.type(kDriver + " bash -c 'echo go-$((2+2)); sleep 0.5; exit 12'\n");
  terminal.until("go-4");
  terminal.type("\x1a");
  terminal.until("Stopped");
  terminal.type("bg; wait %1; echo code-$?\n");

  terminal.until("code-12");
}

TEST(JobOnATerminal, StopsWhenItReadsInTheBackground) {
  Terminal terminal;

  terminal.type(kDriver + " bash -c 'read a; echo \"[$a]\"' &\n");
  terminal.until("prompt$ ");
  // The shell waits until it is so; the brackets keep the command's own echo from being taken for
  // it.
  terminal.type("until jobs | grep -q 'St[o]pped'; do sleep 0.02; done; jobs\n");
  terminal.until("Stopped");
  terminal.type("fg\n");
  terminal.type("typed\n");

  terminal.until("[typed]");
}

TEST(JobOnATerminal, IsLeftAloneByAStopThatItIgnores) {
  Terminal terminal;

  // The job waits without another process: a child of bash can be stopped for a moment after
  // fork().
  terminal.type(kDriver +
                " bash -c 'trap \"\" TSTP; echo go-$((2+2)); read -t 1; exit 13'; "
                "echo code-$?\n");
  terminal.until("go-4");
  terminal.type("\x1a");

  EXPECT_EQ(terminal.until("code-13").find("Stopped"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
