// SPDX-License-Identifier: Apache-2.0
#include "lease/lease_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/lease_table_fixture.h"

namespace hypermile {
namespace {

using Ends = std::vector<std::string>;

class LeaseTableTest : public ::testing::Test {
 protected:
  Result<Lease> acquire(ConnectionId connection, const std::vector<int>& gpus,
                        Seconds ttl = Seconds(10)) {
    return machine_.table->acquire(TableMachine::request(connection, gpus, ttl));
  }
  std::string held(int gpu) const {
    return to_string(machine_.cards[static_cast<std::size_t>(gpu)]->held);
  }
  LeaseTable& table() { return *machine_.table; }

  TableMachine machine_;
};

TEST_F(LeaseTableTest, LeasesOneGpuToOneOwnerAndNamesTheHolder) {
  const auto first = acquire(1, {0});
  machine_.clock.advance(Seconds(3));

  const auto second = acquire(2, {0, 1});

  ASSERT_TRUE(first.ok());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_EQ(second.error().message,
            "GPU GPU-0 has been leased to python3 (pid 1001, uid 500, job 7) for 3 s");
  EXPECT_TRUE(acquire(2, {1}).ok()) << "nothing of the refused request is held";
}

TEST_F(LeaseTableTest, SeparateGpusAreSeparateLeases) {
  const Lease one = acquire(1, {0}).value();
  const Lease other = acquire(2, {1}).value();

  EXPECT_TRUE(machine_.set(1, one.id, 0, "sm=1410").ok());
  EXPECT_EQ(machine_.set(1, one.id, 1, "sm=1410").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(machine_.set(2, one.id, 0, "sm=345").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(table().renew(1, other.id).error().code, ErrorCode::kNotFound);

  EXPECT_EQ(held(0), "sm=1410MHz");
  EXPECT_EQ(held(1), "default");
}

TEST_F(LeaseTableTest, ReleaseRestoresAndThenAnswers) {
  const Lease lease = acquire(1, {0, 1}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  ASSERT_TRUE(machine_.set(1, lease.id, 1, "sm=345").ok());
  machine_.ports[1]->hold = true;
  bool answered = false;

  table().release(1, lease.id, [&](const Result<void>& result) { answered = result.ok(); });
  const bool answered_early = answered;
  machine_.ports[1]->carry_out();

  EXPECT_FALSE(answered_early) << "one GPU was not restored yet";
  EXPECT_TRUE(answered);
  EXPECT_EQ(held(0) + " " + held(1), "default default");
  EXPECT_EQ(machine_.ends, Ends{"1 released"});
}

TEST_F(LeaseTableTest, AnOwnerThatIsGoneLosesEveryLease) {
  const Lease one = acquire(1, {0}).value();
  const Lease two = acquire(1, {1}).value();
  ASSERT_TRUE(machine_.set(1, one.id, 0, "sm=1410").ok());
  ASSERT_TRUE(machine_.set(1, two.id, 1, "sm=1410").ok());

  table().owner_gone(1);

  EXPECT_EQ(held(0) + " " + held(1), "default default");
  EXPECT_TRUE(acquire(2, {0, 1}).ok());
}

TEST_F(LeaseTableTest, ExpiresUnlessRenewedInTime) {
  const Lease lease = acquire(1, {0}, Seconds(10)).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  EXPECT_EQ(table().next_expiry(), Instant() + Seconds(10));
  machine_.clock.advance(Seconds(9));
  EXPECT_EQ(table().renew(1, lease.id).value(), Instant() + Seconds(19));
  machine_.clock.advance(Seconds(9));
  table().expire();
  EXPECT_EQ(held(0), "sm=1410MHz");

  machine_.clock.advance(Seconds(1));
  table().expire();

  EXPECT_EQ(held(0), "default");
  EXPECT_EQ(machine_.ends, Ends{"1 expired"});
  EXPECT_FALSE(table().next_expiry());
}

TEST_F(LeaseTableTest, RefusesALateRenewalOrChange) {
  const Lease lease = acquire(1, {0}, Seconds(10)).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  machine_.clock.advance(Seconds(10));

  EXPECT_EQ(table().renew(1, lease.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(machine_.set(1, lease.id, 0, "sm=345").error().code, ErrorCode::kNotFound);

  EXPECT_EQ(held(0), "default") << "though nobody called expire()";
}

TEST_F(LeaseTableTest, AGpuThatDoesNotAnswerEndsTheLease) {
  const Error timeout{ErrorCode::kTimeout, "no answer"};
  machine_.scripts[0] = {{GpuCall::kApply, fault::Fails{timeout}, 1, 1}};
  machine_.start();
  const Lease lease = acquire(1, {0, 1}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  ASSERT_TRUE(machine_.set(1, lease.id, 1, "sm=1410").ok());

  const auto reply = machine_.set(1, lease.id, 0, "sm=345");

  EXPECT_FALSE(all_applied(reply.value().outcome));
  EXPECT_EQ(machine_.ends, Ends{"1 GPU unreachable"});
  EXPECT_EQ(held(0) + " " + held(1), "default default") << "the job's other GPU is fast, too";
}

TEST_F(LeaseTableTest, ARequestThatTheCardRefusesEndsNothing) {
  const Lease lease = acquire(1, {0}).value();

  const auto reply = machine_.set(1, lease.id, 0, "sm=1111");

  EXPECT_FALSE(all_applied(reply.value().outcome));
  EXPECT_TRUE(table().renew(1, lease.id).ok());
}

TEST_F(LeaseTableTest, AHungGpuDelaysNeitherTheOthersNorTheAccounts) {
  const Lease sick = acquire(1, {0}, Seconds(5)).value();
  const Lease well = acquire(2, {1}, Seconds(5)).value();
  ASSERT_TRUE(machine_.set(1, sick.id, 0, "sm=1410").ok());
  ASSERT_TRUE(machine_.set(2, well.id, 1, "sm=1410").ok());
  machine_.ports[0]->hold = true;
  machine_.clock.advance(Seconds(5));

  table().expire();

  EXPECT_EQ(held(0), "sm=1410MHz");
  EXPECT_EQ(held(1), "default");
  EXPECT_TRUE(acquire(3, {1}).ok());
  EXPECT_EQ(acquire(3, {0}).error().message,
            "GPU GPU-0 is still being restored after an earlier lease");
  machine_.ports[0]->carry_out();
  EXPECT_EQ(held(0), "default");
  EXPECT_TRUE(acquire(3, {0}).ok());
}

TEST_F(LeaseTableTest, OneChangeOfAGpuAtATime) {
  const Lease lease = acquire(1, {0}).value();
  machine_.ports[0]->hold = true;
  std::vector<bool> answers;
  const auto note = [&](const Result<SetReply>& reply) { answers.push_back(reply.ok()); };
  table().set(1, lease.id, GpuUuid("GPU-0"), parse_setting("sm=1410").value(), note);

  table().set(1, lease.id, GpuUuid("GPU-0"), parse_setting("sm=345").value(), note);

  EXPECT_EQ(answers, std::vector<bool>{false});
  machine_.ports[0]->carry_out();
  EXPECT_EQ(answers, (std::vector<bool>{false, true}));
  EXPECT_EQ(held(0), "sm=1410MHz");
}

TEST_F(LeaseTableTest, AChangeUnderWayWhenItsLeaseEndsIsUndone) {
  const Lease lease = acquire(1, {0}).value();
  machine_.ports[0]->hold = true;
  table().set(1, lease.id, GpuUuid("GPU-0"), parse_setting("sm=1410").value(),
              [](const Result<SetReply>&) {});

  table().owner_gone(1);
  machine_.ports[0]->carry_out();

  EXPECT_EQ(held(0), "default");
  EXPECT_TRUE(acquire(2, {0}).ok());
}

TEST_F(LeaseTableTest, StopRestoresEverythingAndGrantsNoMore) {
  const Lease lease = acquire(1, {0}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  machine_.ports[0]->hold = true;
  bool done = false;

  table().stop([&] { done = true; });
  const bool done_early = done;
  machine_.ports[0]->carry_out();

  EXPECT_FALSE(done_early);
  EXPECT_TRUE(done);
  EXPECT_EQ(held(0), "default");
  EXPECT_EQ(machine_.ends, Ends{"1 stopped"});
  EXPECT_EQ(acquire(2, {1}).error().code, ErrorCode::kNotReady);
}

TEST_F(LeaseTableTest, StopWithNothingToDoIsDoneAtOnce) {
  bool done = false;

  table().stop([&] { done = true; });

  EXPECT_TRUE(done);
}

TEST_F(LeaseTableTest, TheNextStartRestoresWhatADeadProcessLeft) {
  const Lease lease = acquire(1, {0, 1}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  ASSERT_TRUE(machine_.set(1, lease.id, 1, "limit=400").ok());

  machine_.start();

  EXPECT_EQ(held(0), "default");
  EXPECT_EQ(held(1), "limit=700W");
  EXPECT_EQ(table().renew(1, lease.id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(acquire(2, {0, 1}).ok());
}

TEST_F(LeaseTableTest, AGpuThatCannotBeRestoredIsNotLeasedAndSaysWhy) {
  const Lease lease = acquire(1, {0}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());
  machine_.scripts[0] = {
      {GpuCall::kReset, fault::Fails{Error{ErrorCode::kGpuLost, "GPU is lost"}}, 0, 2}};

  machine_.start();

  EXPECT_EQ(acquire(2, {0}).error().message,
            "GPU GPU-0 is still being restored after an earlier lease: sm: GPU is lost");
  EXPECT_FALSE(table().status()[0].port.restored);
  EXPECT_TRUE(acquire(3, {1}).ok());
  machine_.ports[0]->try_again();
  EXPECT_FALSE(acquire(2, {0}).ok());
  machine_.ports[0]->try_again();
  EXPECT_TRUE(acquire(2, {0}).ok());
  EXPECT_EQ(held(0), "default");
}

TEST_F(LeaseTableTest, TheAdministratorResetsAGpuUnderAnyLease) {
  machine_.cards[0]->held.sm_clock = Mhz(345);  // set by an unknown program
  const Lease lease = acquire(1, {0}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "limit=400").ok());
  bool done = false;

  table().reset(GpuUuid("GPU-0"), [&](const Result<void>& result) { done = result.ok(); });

  EXPECT_TRUE(done);
  EXPECT_EQ(held(0), "default");
  EXPECT_EQ(machine_.ends, Ends{"1 reset by the administrator"});
  table().reset(GpuUuid("GPU-9"), [&](const Result<void>& result) { done = result.ok(); });
  EXPECT_FALSE(done);
}

TEST_F(LeaseTableTest, IsDoneOnlyWithTheLastOfSeveralRestores) {
  int done = 0;
  machine_.ports[0]->hold = true;
  for (int i = 0; i < 2; ++i) {
    table().reset(GpuUuid("GPU-0"), [&](const Result<void>&) { ++done; });
  }

  machine_.ports[0]->carry_out(1);

  EXPECT_EQ(done, 0);
  EXPECT_FALSE(acquire(1, {0}).ok());
  machine_.ports[0]->carry_out(1);
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(acquire(1, {0}).ok());
}

TEST_F(LeaseTableTest, RefusesAnInvalidRequest) {
  EXPECT_EQ(acquire(1, {}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(acquire(1, {0, 0}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(acquire(1, {7}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(acquire(1, {0}, Seconds(0)).error().code, ErrorCode::kUsage);
  EXPECT_EQ(acquire(1, {0}, Seconds(1e9)).error().code, ErrorCode::kUsage);
  EXPECT_EQ(acquire(1, {0}, Seconds(std::nan(""))).error().code, ErrorCode::kUsage);
  EXPECT_TRUE(acquire(1, {0}).ok()) << "nothing of these is held";
}

TEST_F(LeaseTableTest, ShowsWhoHoldsWhatAndCounts) {
  const Lease lease = acquire(1, {0}).value();
  ASSERT_TRUE(machine_.set(1, lease.id, 0, "sm=1410").ok());

  const std::vector<GpuStatus> status = table().status();

  ASSERT_EQ(status.size(), 2U);
  EXPECT_EQ(status[0].lease->owner.pid, 1001);
  EXPECT_EQ(to_string(status[0].port.in_force), "sm=1410MHz");
  EXPECT_FALSE(status[1].lease);
  table().owner_gone(1);
  EXPECT_EQ(table().counts().granted, 1U);
  EXPECT_EQ(table().counts().ended.at(LeaseEnd::kOwnerGone), 1U);
}

TEST_F(LeaseTableTest, IgnoresACallbackAfterTheTableIsGone) {
  const Lease lease = acquire(1, {0}).value();
  machine_.ports[0]->hold = true;
  bool answered = false;
  table().set(1, lease.id, GpuUuid("GPU-0"), parse_setting("sm=1410").value(),
              [&](const Result<SetReply>&) { answered = true; });

  machine_.table.reset();
  machine_.ports[0]->carry_out();

  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace hypermile
