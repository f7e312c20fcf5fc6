// SPDX-License-Identifier: Apache-2.0
//
// Without a daemon, the guardian restores the GPU whatever happens to its owner.
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include "lease/protocol/guardian_start.h"
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

  pid_t guardian() { return keeper(0); }
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

TEST_F(GuardianTest, EndsWhenItsFirstRequestIsNotCompleted) {
  auto socket = start_guardian({HYPERMILED, false});
  ASSERT_TRUE(socket.ok());
  const std::string frame =
      wire::encode_request({1, wire::AcquireRequest{{GpuUuid(uuid(0))}, Seconds(5), "half", ""}})
          .value();
  ASSERT_GT(::send(socket->get(), frame.data(), frame.size() / 2, 0), 0);

  pollfd watched{socket->get(), POLLIN | POLLRDHUP, 0};

  EXPECT_EQ(::poll(&watched, 1, 10'000), 1) << "the guardian lives for ever";
}

TEST_F(GuardianTest, KeepsNoGpuWhenItsFirstRequestNamesNone) {
  auto socket = start_guardian({HYPERMILED, false});
  ASSERT_TRUE(socket.ok());
  DaemonConnection connection(*std::move(socket));

  const auto status = connection.ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(10));

  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUsage) << status.error().line();
  EXPECT_EQ(keeper(0), -1);
  EXPECT_EQ(keeper(1), -1);
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
