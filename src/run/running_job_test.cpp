// SPDX-License-Identifier: Apache-2.0
#include "run/running_job.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <future>
#include <stop_token>

#include <algorithm>
#include <csignal>
#include <thread>

#include "inject/ring.h"
#include "testing/child_process.h"

namespace hypermile {
namespace {

// A shell that runs `script` until it is killed with what it started.
class Script {
 public:
  explicit Script(const char* script) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = fork_child();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      ::dup2(ready[1], STDOUT_FILENO);
      ::close(ready[0]);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    char byte = 0;
    [[maybe_unused]] const ssize_t got = ::read(ready[0], &byte, 1);  // it says when it runs
    ::close(ready[0]);
  }
  ~Script() { end(); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

TEST(RunningJob, IsFoundWithTheFolderThatItWasStartedWith) {
  const Script job("HYPERMILE_RING_DIR=/dev/shm/some exec sh -c 'echo ready; sleep 1000; true'");

  const auto found = find_running_job(job.pid());

  ASSERT_TRUE(found.ok()) << found.error().line();
  EXPECT_EQ(found->name, "sh");
  EXPECT_EQ(found->ring_folder, "/dev/shm/some");
}

TEST(RunningJob, ALaunchersFolderIsThatOfItsWorkers) {
  const Script job(
      "HYPERMILE_RING_DIR=/dev/shm/some sh -c 'echo ready; sleep 1000; true' & wait; true");

  const auto found = find_running_job(job.pid());

  ASSERT_TRUE(found.ok()) << found.error().line();
  EXPECT_EQ(found->ring_folder, "/dev/shm/some");
  EXPECT_GE(with_descendants(job.pid()).size(), 2U);
}

TEST(RunningJob, WithoutAnythingOfOursHasNoFolder) {
  const Script job("echo ready; sleep 1000");

  const auto found = find_running_job(job.pid());

  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->ring_folder.has_value());
}

TEST(RunningJob, ThatIsNotThereIsSaidSo) {
  pid_t gone = 0;
  {
    const Script job("echo ready; sleep 1000");
    gone = job.pid();
  }

  EXPECT_EQ(find_running_job(gone).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_running_job(0).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ProcessEnd::watch(gone, std::stop_source()).ok());
}

TEST(ProcessEnd, IsToldOnceTheProcessIsGoneAndNotBefore) {
  Script job("echo ready; sleep 1000");
  std::stop_source ended;
  const auto watch = ProcessEnd::watch(job.pid(), ended);
  ASSERT_TRUE(watch.ok());
  EXPECT_FALSE(ended.stop_requested());

  std::promise<void> told;
  const std::stop_callback tell(ended.get_token(), [&] { told.set_value(); });

  job.end();

  EXPECT_EQ(told.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(ProcessEnd, CanBeGivenUp) {
  const Script job("echo ready; sleep 1000");
  std::stop_source ended;

  { const auto watch = ProcessEnd::watch(job.pid(), ended); }

  EXPECT_FALSE(ended.stop_requested());
}

}  // namespace
}  // namespace hypermile
