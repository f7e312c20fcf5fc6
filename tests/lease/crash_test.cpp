// SPDX-License-Identifier: Apache-2.0
//
// What restores a GPU after the daemon has crashed, when the disk, the configuration or a lock is
// against it.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <cstdlib>

#include "lease_fixture.h"

namespace hypermile {
namespace {

class DaemonCrashTest : public LeaseTest {
 protected:
  // A client with a lease of the daemon that has changed GPU 0.
  Process changed_client() {
    Process client = start_client();
    EXPECT_TRUE(client.ask("acquire " + uuid(0) + " 30s").starts_with("ok"));
    EXPECT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");
    EXPECT_TRUE(changed(0));
    return client;
  }
  // A daemon that has died with a GPU changed.
  void leave_changed() {
    Process daemon = start_daemon();
    Process client = changed_client();
    daemon.signal(SIGKILL);
    daemon.wait();
    ASSERT_TRUE(changed(0)) << "nobody is left to restore it";
  }
  std::string config() const { return (folder_ / "hypermiled.toml").string(); }
};

TEST_F(DaemonCrashTest, ACrashedDaemonRestoresBeforeItEnds) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    Process daemon = start_daemon();
    Process client = changed_client();

    daemon.signal(signal);

    EXPECT_EQ(daemon.wait(), 1) << "a failure, so that systemd starts it again";
    EXPECT_FALSE(changed(0));
  }
}

TEST_F(DaemonCrashTest, AHostileConfigurationIsRefusedAndTheOldOneStays) {
  const Process daemon = start_daemon();
  Process client = changed_client();
  std::string key = "a";
  for (int i = 0; i < 500'000; ++i) key += ".a";
  std::ofstream(config()) << key << " = 1\n";

  daemon.signal(SIGHUP);
  clock_->sleep_for(milliseconds(300));

  EXPECT_EQ(client.ask("renew"), "ok");
  EXPECT_TRUE(serving());
}

TEST_F(DaemonCrashTest, ADaemonThatCannotReadItsConfigurationRestoresBeforeItFails) {
  leave_changed();
  std::ofstream(config()) << "nonsense";

  Process daemon({HYPERMILED, "--config", config()});

  EXPECT_EQ(daemon.wait(), 2) << "systemd does not start it again";
  EXPECT_FALSE(changed(0));
}

TEST_F(DaemonCrashTest, RestoringNeedsNoWritableFile) {
  REQUIRE_ROOT();
  if (std::system("/usr/bin/unshare -m true 2>&-") != 0) {
    GTEST_SKIP() << "this machine gives no mount namespace";
  }
  leave_changed();
  const std::string state = (folder_ / "state.d").string();

  Process daemon(
      {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
       "/bin/mount --bind $1 $1 && /bin/mount -o remount,bind,ro $1 && exec $2 --config $3", "sh",
       state, HYPERMILED, config()});

  EXPECT_TRUE(eventually(10, [&] { return !changed(0); }));
  daemon.signal(SIGTERM);
  EXPECT_NE(daemon.wait(), 127) << "the folder could not be made read-only";
}

TEST_F(DaemonCrashTest, ALockThatNoKeeperHoldsDelaysNoRestore) {
  leave_changed();
  // As root of a container could, where the folder of the journals is mounted into it.
  std::vector<Descriptor> held;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "state.d")) {
    if (entry.path().extension() != ".lock" || entry.path().filename() == "daemon.lock") continue;
    held.emplace_back(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(held.back().get(), LOCK_EX | LOCK_NB), 0);
  }
  ASSERT_FALSE(held.empty());

  Process daemon({HYPERMILED, "--config", config()});

  EXPECT_TRUE(eventually(5, [&] { return !changed(0); }));
  Process client = start_client();
  ASSERT_TRUE(eventually(5, [&] { return serving(); }));
  ASSERT_TRUE(client.ask("acquire " + uuid(0) + " 30s").starts_with("ok"));
  const std::string refused = client.ask("set " + uuid(0) + " sm=1410");
  EXPECT_NE(refused.find("lock cannot be taken"), std::string::npos) << refused;
  held.clear();
  EXPECT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz") << "the lock is free again";
}

TEST_F(DaemonCrashTest, TheSocketsFolderHoldsNoLockThatAContainerCouldTake) {
  const Process daemon = start_daemon();

  EXPECT_TRUE(std::filesystem::exists(folder_ / "state.d" / "daemon.lock"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "hypermiled.sock.lock"));
}

}  // namespace
}  // namespace hypermile
