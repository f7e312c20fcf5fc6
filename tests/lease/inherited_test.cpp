// SPDX-License-Identifier: Apache-2.0
//
// A guardian takes nothing over from the user who starts it: limits, priorities, timers, modes,
// control groups. Each test changes one of them in a client, which starts a guardian, changes a GPU
// and is killed; the GPU must be restored.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <sstream>

#include "lease_fixture.h"

namespace hypermile {
namespace {

class InheritedTest : public LeaseTest {
 protected:
  static bool has(const char* program) { return ::access(program, X_OK) == 0; }

  // Starts the client through `before`, which changes what it inherits.
  Process client_after(std::vector<std::string> before) {
    before.push_back(client_);
    return Process(before);
  }

  // The client changes the GPU many times and is killed. Returns what its acquire answered.
  std::string change_and_kill(Process& client) {
    const std::string answer = client.ask("acquire " + uuid(0) + " 30s");
    if (!answer.starts_with("ok")) return answer;
    for (int i = 0; i < 40; ++i) {
      const std::string clock = std::to_string(1200 + 15 * (i % 10));
      EXPECT_EQ(client.ask("set " + uuid(0) + " sm=" + clock), "ok sm=" + clock + "MHz");
    }
    guardian_ = keeper(0);
    EXPECT_TRUE(changed(0));
    return answer;
  }

  std::string proc(const char* name) const { return read_proc_file(guardian_, name).value_or(""); }

  pid_t guardian_ = -1;
};

TEST_F(InheritedTest, NoLimitOfItsUserEndsAGuardian) {
  if (!has("/usr/bin/prlimit")) GTEST_SKIP() << "needs prlimit";
  for (const char* limit :
       {"--fsize=2000:", "--cpu=1:", "--nofile=40:", "--as=300000000:", "--data=60000000:",
        "--stack=262144:", "--core=unlimited", "--nproc=1:", "--memlock=0", "--sigpending=0",
        "--msgqueue=0", "--locks=0:", "--rttime=1:", "--rss=1000"}) {
    // Under these the sanitizer's own client could not start.
    const bool of_memory = std::string_view(limit).starts_with("--as") ||
                           std::string_view(limit).starts_with("--data");
    if (kSanitized && of_memory) continue;
    Process client = client_after({"/usr/bin/prlimit", limit});
    const std::string answer = change_and_kill(client);
    EXPECT_TRUE(answer.starts_with("ok")) << limit << ": " << answer;

    client.signal(SIGKILL);

    EXPECT_TRUE(eventually(2, [&] { return !changed(0); })) << limit;
    EXPECT_TRUE(eventually(5, [&] { return gone(guardian_); })) << limit;
  }
}

TEST_F(InheritedTest, AHardLimitIsRaisedOrTheGuardianRefuses) {
  if (!has("/usr/bin/prlimit")) GTEST_SKIP() << "needs prlimit";
  for (const char* limit : {"--fsize=2000", "--cpu=1", "--nofile=40", "--rttime=1"}) {
    Process client = client_after({"/usr/bin/prlimit", limit});
    const std::string answer = change_and_kill(client);
    EXPECT_TRUE(answer.starts_with("ok") ||
                answer.find("could not restore a GPU under the limit") != answer.npos)
        << limit << ": " << answer;

    client.signal(SIGKILL);

    EXPECT_TRUE(eventually(2, [&] { return !changed(0); })) << limit;
  }
}

TEST_F(InheritedTest, PriorityFolderAndMemoryScoreAreItsOwn) {
  REQUIRE_ROOT();
  Process client = client_after(
      {"/bin/sh", "-c",
       "cd /tmp; umask 0; echo 1000 >/proc/self/oom_score_adj; exec /usr/bin/nice -n 19 $0"});
  const std::string answer = change_and_kill(client);
  ASSERT_TRUE(answer.starts_with("ok")) << answer;

  EXPECT_LE(std::stoi(proc("oom_score_adj")), 0);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(guardian_)), 0);
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(guardian_) + "/cwd"), "/");
  EXPECT_NE(proc("status").find("Umask:\t0077"), std::string::npos);
  EXPECT_EQ(std::filesystem::status(folder_ / "state.d").permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(InheritedTest, EverySignalThatEndsAProcessRestoresFirst) {
  for (const int signal :
       {SIGTERM, SIGINT,  SIGQUIT, SIGXCPU, SIGXFSZ,   SIGALRM, SIGVTALRM, SIGPROF,
        SIGUSR1, SIGUSR2, SIGIO,   SIGPWR,  SIGSTKFLT, 34,      64,        SIGSEGV,
        SIGBUS,  SIGILL,  SIGFPE,  SIGABRT, SIGSYS,    SIGTRAP}) {
    Process client = start_client();
    ASSERT_TRUE(change_and_kill(client).starts_with("ok"));

    ::kill(guardian_, signal);

    if (signal == SIGXFSZ) {
      EXPECT_EQ(client.ask("renew"), "ok") << "it is no reason to end";
      client.signal(SIGKILL);
    }
    EXPECT_TRUE(eventually(3, [&] { return !changed(0); })) << "signal " << signal;
    EXPECT_TRUE(eventually(5, [&] { return gone(guardian_); })) << "signal " << signal;
  }
}

// Makes a control group of the v1 freezer, as batch systems do.
class FreezerTest : public InheritedTest {
 protected:
  FreezerTest() : group_(std::string(kFreezer) + "/hypermile-test-" + std::to_string(::getpid())) {
    std::error_code ignored;
    usable_ = std::filesystem::create_directory(group_, ignored);
  }
  ~FreezerTest() override {
    eventually(2, [&] { return ::rmdir(group_.c_str()) == 0 || !usable_; });
  }
  std::string join() const { return "echo $$ >" + group_ + "/cgroup.procs"; }

  static constexpr const char* kFreezer = "/sys/fs/cgroup/freezer";
  std::string group_;
  bool usable_ = false;
};

TEST_F(FreezerTest, AGuardianLeavesAGroupOfCgroupV1ThatIsKilledAsAWhole) {
  if (!usable_) GTEST_SKIP() << "needs a cgroup v1 freezer that root may write";
  Process client = client_after({"/bin/sh", "-c", join() + "; exec $0"});
  const std::string answer = change_and_kill(client);
  ASSERT_TRUE(answer.starts_with("ok")) << answer;

  // As Slurm does: freeze the group, kill all that is in it, thaw it.
  std::ofstream(group_ + "/freezer.state") << "FROZEN";
  std::ifstream members(group_ + "/cgroup.procs");
  int killed = 0;
  for (pid_t pid = 0; members >> pid; ++killed) ::kill(pid, SIGKILL);
  std::ofstream(group_ + "/freezer.state") << "THAWED";

  EXPECT_EQ(killed, 1) << "the client alone";
  EXPECT_TRUE(eventually(2, [&] { return !changed(0); }));
}

TEST_F(FreezerTest, AGuardianThatCannotLeaveRefusesToStart) {
  if (!usable_ || !has("/usr/bin/unshare")) GTEST_SKIP() << "needs a cgroup v1 freezer";
  Process client = client_after(
      {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
       join() + std::string("; /bin/mount -o remount,bind,ro ") + kFreezer + " && exec $0"});

  const std::string answer = client.ask("acquire " + uuid(0) + " 30s");

  EXPECT_NE(answer.find("a guardian is not safe here"), std::string::npos) << answer;
  EXPECT_NE(answer.find("freezer:/hypermile-test-"), std::string::npos) << answer;
  EXPECT_FALSE(changed(0));
}

}  // namespace
}  // namespace hypermile
