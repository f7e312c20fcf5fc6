// SPDX-License-Identifier: Apache-2.0
//
// Each test runs in a child, because it changes the process. tests/lease/inherited_test.cpp shows
// the same on a real guardian.
#include "lease/daemon/privileged_start.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "testing/child_process.h"

namespace hypermile {
namespace {

TEST(ResetInherited, RaisesSoftLimits) {
  EXPECT_EQ(in_child([] {
              rlimit limit = {};
              ::getrlimit(RLIMIT_FSIZE, &limit);
              limit.rlim_cur = 2000;
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              if (!reset_inherited()) return 2;
              ::getrlimit(RLIMIT_FSIZE, &limit);
              return limit.rlim_cur > 1U << 24U ? 0 : 3;
            }),
            0);
}

TEST(ResetInherited, RaisesAHardLimitOrRefuses) {
  EXPECT_EQ(in_child([] {
              const rlimit low{5, 5};
              if (::setrlimit(RLIMIT_CPU, &low) != 0) return 1;
              const auto reset = reset_inherited();
              rlimit now = {};
              ::getrlimit(RLIMIT_CPU, &now);
              if (reset) return now.rlim_cur == RLIM_INFINITY ? 0 : 2;
              const bool named = reset.error().message.find("cpu=5") != std::string::npos;
              return reset.error().code == ErrorCode::kPermission && named ? 0 : 3;
            }),
            0);
}

TEST(ResetInherited, ForgetsTimersMasksAndIgnoredSignals) {
  EXPECT_EQ(in_child([] {
              const itimerval soon{{0, 0}, {3600, 0}};
              ::setitimer(ITIMER_REAL, &soon, nullptr);
              ::signal(SIGTERM, SIG_IGN);
              sigset_t all;
              sigfillset(&all);
              ::sigprocmask(SIG_SETMASK, &all, nullptr);
              if (!reset_inherited()) return 1;
              itimerval left = {};
              ::getitimer(ITIMER_REAL, &left);
              struct sigaction action = {};
              ::sigaction(SIGTERM, nullptr, &action);
              sigset_t now;
              ::sigprocmask(SIG_SETMASK, nullptr, &now);
              if (left.it_value.tv_sec != 0) return 2;
              if (action.sa_handler != SIG_DFL) return 3;
              return sigismember(&now, SIGTERM) == 0 ? 0 : 4;
            }),
            0);
}

TEST(ResetInherited, KeepsOnlyKnownVariables) {
  EXPECT_EQ(in_child([] {
              ::setenv("LD_LIBRARY_PATH", "/tmp", 1);
              ::setenv("PATH", "/tmp/evil", 1);
              ::setenv("HYPERMILE_STATE", "/somewhere", 1);
              clear_environment();
              if (std::getenv("LD_LIBRARY_PATH") != nullptr) return 1;
              if (std::string(std::getenv("PATH")).find("evil") != std::string::npos) return 2;
              return std::string(std::getenv("HYPERMILE_STATE")) == "/somewhere" ? 0 : 3;
            }),
            0);
}

TEST(ResetInherited, NeverLeavesAStandardDescriptorToTheNextFile) {
  EXPECT_EQ(in_child([] {
              for (int fd = 0; fd < 3; ++fd) ::close(fd);
              if (!reset_inherited()) return 1;
              return ::open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace hypermile
