// SPDX-License-Identifier: Apache-2.0
//
// Without a daemon, the guardian restores the GPU whatever happens to its owner.
#include <gtest/gtest.h>

#include "lease_fixture.h"

namespace hypermile {
namespace {

class GuardianTest : public LeaseTest {
 protected:
  // A client with its own guardian that has changed GPU 0.
  Process changed_client(const std::string& ttl = "30s") {
    Process client = start_client();
    const std::string answer = client.ask("acquire " + uuid(0) + " " + ttl);
    EXPECT_NE(answer.find("guardian"), std::string::npos) << answer;
    EXPECT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");
    EXPECT_TRUE(changed(0));
    return client;
  }

  // The process that keeps GPU 0, according to its lock file.
  pid_t guardian() {
    std::ifstream lock(folder_ / "state.d" / (uuid(0) + ".lock"));
    std::string text((std::istreambuf_iterator<char>(lock)), {});
    const std::size_t at = text.find("(pid ");
    return at == text.npos ? -1 : std::stoi(text.substr(at + 5));
  }
  bool gone(pid_t pid) { return ::kill(pid, 0) != 0 || zombie(pid); }

 private:
  // An orphan may stay a zombie, because its new parent may never wait for it.
  static bool zombie(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(status)), {});
    const std::size_t at = text.rfind(')');
    return at != text.npos && text.substr(at).starts_with(") Z");
  }
};

TEST_F(GuardianTest, RestoresOnReleaseAndEndsWithItsOwner) {
  Process client = changed_client();
  const pid_t pid = guardian();

  EXPECT_EQ(client.ask("release"), "ok");
  EXPECT_FALSE(changed(0));
  client.close_input();

  EXPECT_TRUE(eventually(5, [&] { return gone(pid); }));
}

TEST_F(GuardianTest, RestoresWhenItsOwnersWholeProcessGroupIsKilled) {
  Process client = changed_client();

  client.signal_group(SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
}

TEST_F(GuardianTest, IsNotInItsOwnersSessionOrGroup) {
  Process client = changed_client();
  const pid_t pid = guardian();

  EXPECT_NE(::getsid(pid), ::getsid(client.pid()));
  EXPECT_NE(::getpgid(pid), ::getpgid(client.pid()));
}

TEST_F(GuardianTest, SurvivesAHangUp) {
  Process client = changed_client();

  ASSERT_EQ(::kill(guardian(), SIGHUP), 0);

  EXPECT_EQ(client.ask("renew"), "ok");
  EXPECT_TRUE(changed(0));
}

TEST_F(GuardianTest, RestoresWhenItIsToldToStop) {
  Process client = changed_client();

  ::kill(guardian(), SIGTERM);

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
}

TEST_F(GuardianTest, RestoresWhenItsOwnerStalls) {
  Process client = changed_client("300ms");

  client.signal(SIGSTOP);

  EXPECT_TRUE(eventually(1.3, [&] { return !changed(0); }));
  client.signal(SIGCONT);
}

TEST_F(GuardianTest, TheNextGuardianRestoresWhatAKilledOneLeftOnAnotherGpu) {
  Process client = changed_client();
  ::kill(guardian(), SIGKILL);
  client.signal(SIGKILL);
  client.wait();
  ASSERT_TRUE(changed(0)) << "nobody is left to restore it";

  Process other = start_client();
  ASSERT_NE(other.ask("acquire " + uuid(1) + " 30s").find("guardian"), std::string::npos);

  EXPECT_TRUE(eventually(5, [&] { return !changed(0); }));
}

TEST_F(GuardianTest, TheDaemonRestoresWhatAKilledGuardianLeft) {
  Process client = changed_client();
  ::kill(guardian(), SIGKILL);
  client.signal(SIGKILL);
  client.wait();
  ASSERT_TRUE(changed(0)) << "nobody is left to restore it";

  const Process daemon = start_daemon();

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
}

TEST_F(GuardianTest, TwoGuardiansKeepTwoGpusButNotOne) {
  Process client = changed_client();
  Process other = start_client();
  Process third = start_client();

  EXPECT_NE(other.ask("acquire " + uuid(1) + " 30s").find("ok"), std::string::npos);
  const std::string refused = third.ask("acquire " + uuid(0) + " 30s");

  EXPECT_NE(refused.find("kept by a guardian (pid " + std::to_string(guardian())),
            std::string::npos)
      << refused;
  EXPECT_TRUE(changed(0));
}

TEST_F(GuardianTest, SaysWhyItCannotStart) {
  ::setenv("HYPERMILE_STATE", "/proc/nowhere/state", 1);
  Process client = start_client();

  const std::string answer = client.ask("acquire " + uuid(0) + " 5s");

  EXPECT_NE(
      answer.find("the guardian could not be started: hypermiled: cannot create /proc/nowhere"),
      std::string::npos)
      << answer;
}

TEST_F(GuardianTest, OfAnUnprivilegedUserNeedsSudo) {
  REQUIRE_ROOT();
  ::setenv("PATH", "/nonexistent", 1);
  Process client = start_client(RunAs{60001});

  const std::string answer = client.ask("acquire " + uuid(0) + " 5s");

  EXPECT_NE(answer.find("cannot run sudo"), std::string::npos) << answer;
  EXPECT_FALSE(changed(0));
}

}  // namespace
}  // namespace hypermile
