// SPDX-License-Identifier: Apache-2.0
//
// The controller's access to clocks, with a daemon or a guardian at the other end.
#include "control/lease_port.h"

#include <gtest/gtest.h>

#include "lease_fixture.h"

namespace hypermile {
namespace {

const Setting kSlow{.sm_clock = Mhz(1410)};
const Setting kSlower{.sm_clock = Mhz(1200)};

class LeasePortTest : public LeaseTest {
 protected:
  LeasePortTest() {
    options_.ttl = Seconds(2);
    options_.guardian = GuardianOptions{HYPERMILED, false};
    options_.program = "lease_port_test";
  }

  LeasePort& port() {
    if (!port_) port_ = std::make_unique<LeasePort>(options_, *clock_);
    return *port_;
  }
  std::vector<GpuUuid> first() { return {GpuUuid(uuid(0))}; }
  bool comes_to(PortState state) {
    return eventually(20, [&] { return port().state() == state; });
  }
  // Claims a lease, waits until it is held, and sets GPU 0.
  void hold(const Setting& setting = kSlow) {
    port().claim(first());
    ASSERT_TRUE(comes_to(PortState::kHeld)) << port().problem()->line();
    port().ask(first().front(), setting);
    const auto answers = wait_for_answers(1);
    ASSERT_TRUE(answers.front().told.ok()) << answers.front().told.error().line();
    ASSERT_EQ(*answers.front().told, setting);
    ASSERT_TRUE(changed(0));
  }
  std::vector<PortAnswer> wait_for_answers(std::size_t count) {
    std::vector<PortAnswer> all;
    EXPECT_TRUE(eventually(20, [&] {
      for (PortAnswer& answer : port().take_answers()) all.push_back(std::move(answer));
      return all.size() >= count;
    }));
    return all;
  }

  LeasePortOptions options_;
  std::unique_ptr<LeasePort> port_;
};

TEST_F(LeasePortTest, HoldsALeaseOfTheDaemonBeyondItsTtlAndGivesItBack) {
  const Process daemon = start_daemon();
  options_.ttl = milliseconds(300);
  hold();

  clock_->sleep_for(Seconds(1));

  EXPECT_EQ(port().state(), PortState::kHeld);
  EXPECT_FALSE(port().guarded());
  EXPECT_EQ(sm_lock(0), 1410U);
  EXPECT_TRUE(port().release().ok());
  EXPECT_FALSE(changed(0));
  EXPECT_EQ(port().state(), PortState::kUnclaimed);
}

TEST_F(LeasePortTest, StartsAGuardianWhereNoDaemonServes) {
  hold();

  EXPECT_TRUE(port().guarded());
  port_.reset();
  EXPECT_TRUE(eventually(5, [&] { return !changed(0); }))
      << "hanging up must restore the GPU as well";
}

TEST_F(LeasePortTest, UsesAGuardianThatWasPreparedBeforeItsGpusWereKnown) {
  auto guardian = prepare_guardian(options_.socket, *options_.guardian);
  ASSERT_TRUE(guardian.ok()) << guardian.error().line();
  ASSERT_TRUE(guardian->has_value());
  options_.guardian.reset();  // none can be started any more
  port_ = std::make_unique<LeasePort>(options_, *clock_, std::move(**guardian));

  hold();

  EXPECT_TRUE(port().guarded());
  LeasePortOptions others = options_;
  others.guardian = GuardianOptions{HYPERMILED, false};
  LeasePort other(others, *clock_);
  other.claim({GpuUuid(uuid(1))});
  EXPECT_TRUE(eventually(20, [&] { return other.state() == PortState::kHeld; }))
      << "a GPU that was not requested is free";
  EXPECT_TRUE(port().release().ok());
  EXPECT_FALSE(changed(0));
}

TEST_F(LeasePortTest, AnUnusedPreparedGuardianEndsWithItsOwner) {
  auto guardian = prepare_guardian(options_.socket, *options_.guardian);
  ASSERT_TRUE(guardian.ok() && *guardian);

  guardian->reset();

  port().claim(first());
  EXPECT_TRUE(comes_to(PortState::kHeld)) << "every GPU is left to others";
}

TEST_F(LeasePortTest, IsNotPreparedWhereADaemonServes) {
  const Process daemon = start_daemon();

  const auto guardian = prepare_guardian(options_.socket, *options_.guardian);

  ASSERT_TRUE(guardian.ok());
  EXPECT_FALSE(guardian->has_value());
}

TEST_F(LeasePortTest, ReportsALostLeaseWhenTheDaemonRestartsAndCanBeClaimedAgain) {
  {
    Process daemon = start_daemon();
    hold();
    daemon.signal(SIGTERM);
    daemon.wait();
    EXPECT_TRUE(comes_to(PortState::kLost));
    EXPECT_TRUE(port().problem().has_value());
    EXPECT_FALSE(changed(0));
  }
  const Process daemon = start_daemon();

  hold(kSlower);

  EXPECT_EQ(sm_lock(0), 1200U);
  EXPECT_TRUE(port().release().ok());
}

TEST_F(LeasePortTest, ALeaseThatTheAdministratorTookIsLostWithTheReason) {
  const Process daemon = start_daemon();
  hold();

  auto administrator = DaemonConnection::connect(default_socket_path());
  const auto reset = administrator->ask<wire::Done>(wire::ResetRequest{first()}, Seconds(10));
  if (!root()) GTEST_SKIP() << "needs an administrator";

  ASSERT_TRUE(reset.ok()) << reset.error().line();
  EXPECT_TRUE(comes_to(PortState::kLost));
  EXPECT_NE(port().problem()->line().find("administrator"), std::string::npos)
      << port().problem()->line();
}

TEST_F(LeasePortTest, IsRefusedWithTheNameOfTheCurrentHolder) {
  const Process daemon = start_daemon();
  Process other = start_client();
  ASSERT_TRUE(other.ask("acquire " + uuid(0) + " 30s").starts_with("ok"));

  port().claim(first());

  ASSERT_TRUE(comes_to(PortState::kRefused));
  EXPECT_EQ(port().problem()->code, ErrorCode::kBusy);
  EXPECT_NE(port().problem()->line().find("lease_client (pid"), std::string::npos);
  EXPECT_FALSE(changed(0));
}

TEST_F(LeasePortTest, ReadOnlyModeIsRefusedWithoutContactingAnybody) {
  options_.read_only = true;

  port().claim(first());

  EXPECT_EQ(port().state(), PortState::kRefused);
  EXPECT_EQ(port().problem()->code, ErrorCode::kReadOnly);
}

TEST_F(LeasePortTest, OnlyTheNewestWaitingRequestIsCarriedOut) {
  const Process daemon = start_daemon();
  hold();
  write(".faults", "nvmlDeviceSetGpuLockedClocks:delay=500ms@1\n");
  const GpuUuid gpu = first().front();

  port().ask(gpu, kSlower);
  clock_->sleep_for(milliseconds(100));  // the request is in progress now
  for (const double mhz : {1500.0, 1350.0, 1305.0}) port().ask(gpu, Setting{.sm_clock = Mhz(mhz)});
  ASSERT_TRUE(eventually(20, [&] { return sm_lock(0) == 1305U; }));

  EXPECT_EQ(wait_for_answers(2).size(), 2U) << "the requests in between get no answer";
}

TEST_F(LeasePortTest, APartlyAppliedSettingIsUndoneAndReported) {
  const Process daemon = start_daemon();
  hold();
  write(".faults", "nvmlDeviceSetMemoryLockedClocks:4\n");  // 4 means no permission

  port().ask(first().front(), Setting{.sm_clock = Mhz(1200), .memory_clock = Mhz(5001)});
  const auto answers = wait_for_answers(1);

  EXPECT_FALSE(answers.front().told.ok());
  EXPECT_EQ(sm_lock(0), std::nullopt) << "back at the default";
  EXPECT_EQ(port().state(), PortState::kHeld);
}

TEST_F(LeasePortTest, AHungGpuDoesNotBlockTheCaller) {
  const Process daemon = start_daemon();
  hold();
  write(".faults", "nvmlDeviceSetGpuLockedClocks:delay=3s@1\n");

  const Instant before = clock_->now();
  port().ask(first().front(), kSlower);
  port().take_answers();

  EXPECT_LT((clock_->now() - before).value(), 1.0);
}

}  // namespace
}  // namespace hypermile
