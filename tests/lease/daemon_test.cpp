// SPDX-License-Identifier: Apache-2.0
//
// The daemon among real processes of real users: permissions, contention, and that every change is
// undone.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <vector>

#include "lease_fixture.h"

namespace hypermile {
namespace {

constexpr uid_t kAlice = 60001;
constexpr uid_t kBob = 60002;
constexpr uid_t kCarol = 60003;
constexpr gid_t kTeam = 60100;

constexpr const char* kConfig = R"(
[[allow]]
users = ["60001"]
gpus = ["all"]
sm_clock = [210, 3000]

[[allow]]
groups = ["60100"]
gpus = ["all"]
sm_clock = [1000, 1500]
beyond = "clamp"
)";

std::string begin(const std::string& text) {
  return text.substr(0, text.find(' ', text.find(' ') + 1));
}

TEST_F(LeaseTest, AUserWithoutARuleIsDeniedAndNothingChanges) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(kConfig);
  Process carol = start_client(RunAs{kCarol});

  const std::string answer = carol.ask("acquire " + uuid(0) + " 5s");

  EXPECT_EQ(begin(answer), "error permission:") << answer;
  EXPECT_NE(answer.find("user 60003 may not change"), std::string::npos) << answer;
  EXPECT_FALSE(changed(0));
}

TEST_F(LeaseTest, AnUnprivilegedUserWithARuleChangesAndRestoresAGpu) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(kConfig);
  Process alice = start_client(RunAs{kAlice});

  EXPECT_EQ(begin(alice.ask("acquire " + uuid(0) + " 5s")), "ok 1");
  EXPECT_EQ(alice.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");
  EXPECT_EQ(sm_lock(0), 1410U);
  EXPECT_EQ(alice.ask("renew"), "ok");
  EXPECT_EQ(alice.ask("release"), "ok");

  EXPECT_FALSE(changed(0));
}

TEST_F(LeaseTest, RootWithoutTheCapabilityIsTreatedLikeAnyUser) {
  REQUIRE_ROOT();
  if (::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs setpriv";
  const Process daemon = start_daemon("");
  Process contained({"/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", client_});

  EXPECT_EQ(begin(contained.ask("acquire " + uuid(0) + " 5s")), "error permission:");
}

TEST_F(LeaseTest, BoundsDenyOrClampByTheCallersGroup) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(kConfig);
  Process bob = start_client(RunAs{kBob, {kBob, kTeam}});
  Process alice = start_client(RunAs{kAlice});
  ASSERT_EQ(begin(bob.ask("acquire " + uuid(0) + " 5s")), "ok 1");
  ASSERT_EQ(begin(alice.ask("acquire " + uuid(1) + " 5s")), "ok 2");

  EXPECT_EQ(bob.ask("set " + uuid(0) + " sm=600"), "ok sm=1005MHz") << "clamped";
  const std::string memory = alice.ask("set " + uuid(1) + " mem=2201");

  EXPECT_EQ(begin(memory), "error permission:") << memory;
  EXPECT_FALSE(changed(1));
}

TEST_F(LeaseTest, ForgedGpusAreUnknown) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(kConfig);
  Process alice = start_client(RunAs{kAlice});

  for (const char* forged :
       {"GPU-00000000-0000-0000-0000-000000000000", "..-etc-passwd", "0", "GPU-"}) {
    const std::string answer = alice.ask(std::string("acquire ") + forged + " 5s");
    EXPECT_TRUE(begin(answer) == "error not_found:" || begin(answer) == "error parse:") << answer;
  }
  EXPECT_EQ(begin(alice.ask("acquire ../../etc/passwd 5s")), "error parse:");
}

TEST_F(LeaseTest, ContentionNamesTheHolder) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(kConfig);
  Process alice = start_client(RunAs{kAlice});
  Process bob = start_client(RunAs{kBob, {kBob, kTeam}});
  ASSERT_EQ(begin(alice.ask("acquire " + uuid(0) + " 5s")), "ok 1");

  const std::string answer = bob.ask("acquire " + uuid(0) + " 5s");

  EXPECT_EQ(begin(answer), "error busy:") << answer;
  EXPECT_NE(answer.find("lease_client (pid " + std::to_string(alice.pid()) + ", uid 60001"),
            std::string::npos)
      << answer;
}

TEST_F(LeaseTest, EightJobsOnEightGpusDoNotSeeEachOther) {
  use_gpus("h200,h200,h200,h200,h200,h200,h200,h200");
  const Process daemon = start_daemon();
  std::vector<Process> jobs;
  for (unsigned i = 0; i < 8; ++i) {
    jobs.push_back(root() ? start_client(RunAs{kAlice}) : start_client());
    const std::string gpu = uuid(i);
    ASSERT_EQ(begin(jobs.back().ask("acquire " + gpu + " 30s")), "ok " + std::to_string(i + 1));
    ASSERT_EQ(jobs.back().ask("set " + gpu + " sm=" + std::to_string(1005 + 15 * i)),
              "ok sm=" + std::to_string(1005 + 15 * i) + "MHz");
  }

  jobs[3].signal(SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(3); }))
      << "the GPU must be restored within a second";
  for (unsigned i = 0; i < 8; ++i) {
    if (i == 3) continue;
    EXPECT_EQ(sm_lock(i), 1005 + 15 * i) << i;
    EXPECT_EQ(jobs[i].ask("renew"), "ok") << i;
  }
}

TEST_F(LeaseTest, AnOwnerThatStallsLosesItsLease) {
  const Process daemon = start_daemon();
  Process client = start_client();
  ASSERT_EQ(begin(client.ask("acquire " + uuid(0) + " 300ms")), "ok 1");
  ASSERT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");

  client.signal(SIGSTOP);
  EXPECT_TRUE(eventually(1.3, [&] { return !changed(0); }));
  client.signal(SIGCONT);

  const std::string late = client.ask("renew");
  EXPECT_EQ(begin(late), "error not_found:") << late;
  EXPECT_NE(late.find("expired"), std::string::npos) << late;
}

TEST_F(LeaseTest, AHungGpuDelaysNoOtherRestore) {
  const Process daemon = start_daemon();
  Process first = start_client();
  Process second = start_client();
  ASSERT_EQ(begin(first.ask("acquire " + uuid(0) + " 30s")), "ok 1");
  ASSERT_EQ(begin(second.ask("acquire " + uuid(1) + " 30s")), "ok 2");
  ASSERT_EQ(first.ask("set " + uuid(0) + " sm=1200"), "ok sm=1200MHz");
  ASSERT_EQ(second.ask("set " + uuid(1) + " sm=1200"), "ok sm=1200MHz");
  write(".faults", "nvmlDeviceResetGpuLockedClocks#0:delay=3s@1\n");

  first.signal(SIGKILL);
  first.wait();
  clock_->sleep_for(milliseconds(50));
  second.signal(SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(1); }))
      << "the hung GPU delayed the restore of another";
  EXPECT_TRUE(changed(0)) << "the fault had no effect: nothing was proven";
  EXPECT_TRUE(eventually(30, [&] { return !changed(0); }))
      << "the restore is repeated until it works";
}

TEST_F(LeaseTest, StoppingTheDaemonRestores) {
  Process daemon = start_daemon();
  Process client = start_client();
  ASSERT_EQ(begin(client.ask("acquire " + uuid(0) + " 30s")), "ok 1");
  ASSERT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");

  daemon.signal(SIGTERM);

  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_FALSE(changed(0));
  EXPECT_EQ(begin(client.ask("renew")), "error io:");
}

TEST_F(LeaseTest, TheNextDaemonRestoresWhatAKilledOneLeft) {
  Process daemon = start_daemon();
  Process client = start_client();
  ASSERT_EQ(begin(client.ask("acquire " + uuid(0) + " 30s")), "ok 1");
  ASSERT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");
  daemon.signal(SIGKILL);
  daemon.wait();
  ASSERT_TRUE(changed(0)) << "nobody is left to restore it";

  const Process next = start_daemon();

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
  EXPECT_EQ(begin(client.ask("acquire " + uuid(0) + " 30s")), "ok 1")
      << "the new daemon must serve";
}

TEST_F(LeaseTest, RestoringReturnsToTheBaseline) {
  const Process daemon =
      start_daemon(std::string(kEverybody) + "[[baseline]]\ngpus = ['all']\nsm_clock = 1500\n");
  Process client = start_client();
  ASSERT_EQ(begin(client.ask("acquire " + uuid(0) + " 30s")), "ok 1");

  EXPECT_EQ(begin(client.ask("set " + uuid(0) + " sm=1650")), "error permission:");
  ASSERT_EQ(client.ask("set " + uuid(0) + " sm=1200"), "ok sm=1200MHz");
  EXPECT_EQ(client.ask("release"), "ok");

  EXPECT_EQ(sm_lock(0), 1500U);
}

TEST_F(LeaseTest, ADaemonWaitsForADriverThatIsLoadedLater) {
  write(".faults", "nvmlInit_v2:9\n");
  const std::string config = (folder_ / "hypermiled.toml").string();
  std::ofstream(config) << kEverybody;
  Process daemon({HYPERMILED, "--config", config});
  ASSERT_TRUE(eventually(20, [&] {
    const auto status = daemon_status();
    return status && status->trouble.find("river") != std::string::npos;
  })) << "the daemon must report the missing driver";
  Process client = start_client();
  EXPECT_EQ(begin(client.ask("acquire " + uuid(0) + " 5s")), "error no_driver:");

  std::filesystem::remove(state_ + ".faults");

  EXPECT_TRUE(eventually(10, [&] { return serving(); }));
  EXPECT_EQ(begin(client.ask("acquire " + uuid(0) + " 5s")), "ok 1");
}

TEST_F(LeaseTest, ReadOnlyModeReachesTheDaemonToo) {
  ::setenv("HYPERMILE_READ_ONLY", "1", 1);
  const std::string config = (folder_ / "hypermiled.toml").string();
  Process daemon({HYPERMILED, "--config", config});
  ASSERT_TRUE(eventually(20, [&] { return daemon_status().has_value(); }));
  ::unsetenv("HYPERMILE_READ_ONLY");
  Process client = start_client();

  ASSERT_TRUE(eventually(10, [&] { return !daemon_status()->gpus.empty(); }));
  EXPECT_EQ(begin(client.ask("acquire " + uuid(0) + " 5s")), "error read_only:");
  EXPECT_FALSE(changed(0));
}

TEST_F(LeaseTest, ReloadingTheConfigurationLetsNewUsersIn) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon("");
  Process alice = start_client(RunAs{kAlice});
  ASSERT_EQ(begin(alice.ask("acquire " + uuid(0) + " 5s")), "error permission:");
  std::ofstream(folder_ / "hypermiled.toml") << kConfig;

  daemon.signal(SIGHUP);

  EXPECT_TRUE(
      eventually(5, [&] { return begin(alice.ask("acquire " + uuid(0) + " 5s")) == "ok 1"; }));
}

TEST_F(LeaseTest, OneCapabilityIsEnough) {
  REQUIRE_ROOT();
  if (::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs setpriv";
  const std::string config = (folder_ / "hypermiled.toml").string();
  std::ofstream(config) << kConfig;
  const Process daemon({"/usr/bin/setpriv", "--bounding-set=-all,+sys_admin", "--inh-caps=-all",
                        "--no-new-privs", HYPERMILED, "--config", config});
  ASSERT_TRUE(eventually(20, [&] { return serving(); }));
  Process alice = start_client(RunAs{kAlice});
  ASSERT_EQ(begin(alice.ask("acquire " + uuid(0) + " 30s")), "ok 1");
  ASSERT_EQ(alice.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");

  alice.signal(SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
}

TEST_F(LeaseTest, TellsTheServiceManagerWhenItIsReadyAliveAndStopping) {
  const std::string path = (folder_ / "notify").string();
  const auto address = socket_address(path);
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), address->get(), address->length()), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "200000", 1);
  Process daemon = start_daemon();
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  std::string heard;
  const auto hears = [&](const char* wanted) {
    return eventually(2, [&] {
      char buffer[512];
      const ssize_t got = ::recv(socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
      if (got > 0) heard += std::string(buffer, static_cast<std::size_t>(got)) + "\n";
      return heard.find(wanted) != std::string::npos;
    });
  };

  EXPECT_TRUE(hears("READY=1\nSTATUS=serving 2 GPUs")) << heard;
  EXPECT_TRUE(hears("WATCHDOG=1\nWATCHDOG=1")) << heard;
  daemon.signal(SIGTERM);

  EXPECT_TRUE(hears("STOPPING=1")) << heard;
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(LeaseTest, TwoDaemonsDoNotServeOneSocket) {
  const Process daemon = start_daemon();

  Process second({HYPERMILED, "--config", "/nonexistent"});

  EXPECT_EQ(second.wait(), 1);
  EXPECT_TRUE(serving());
}

}  // namespace
}  // namespace hypermile
