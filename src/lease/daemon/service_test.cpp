// SPDX-License-Identifier: Apache-2.0
//
// The daemon's replies, in virtual time and without sockets.
#include "lease/daemon/service.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/lease_table_fixture.h"

namespace hypermile {
namespace {

constexpr uid_t kAlice = 1001;
constexpr uid_t kBob = 1002;
constexpr uid_t kCarol = 1003;  // in no rule
const GpuUuid kFirst("GPU-0");
const GpuUuid kSecond("GPU-1");

Rule rule(uid_t uid, KnobRange sm, bool clamp) {
  Rule result;
  result.subjects.users = {uid};
  result.rights.bounds.sm_clock = sm;
  result.rights.bounds.clamp = clamp;
  result.rights.longest_lease = Seconds(60);
  return result;
}

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() { make({}); }

  void make(Service::Options options, Setting baseline = {}) {
    DaemonConfig config;
    config.allow.rules = {rule(kAlice, {345, 1980}, false), rule(kBob, {1000, 1500}, true)};
    config.longest_ttl = Seconds(20);
    if (!baseline.empty()) config.baselines.push_back({{}, baseline});
    service_ = std::make_unique<Service>(
        machine_.clock, std::move(config), options,
        [this](LogLevel, const std::string& line) { lines_.push_back(line); });
  }
  void serve() {
    std::vector<GpuPort*> ports;
    for (const auto& port : machine_.ports) ports.push_back(port.get());
    service_->serve_gpus(ports);
  }

  // Returns the reply, or an Error "no answer yet".
  wire::Reply ask(ConnectionId connection, uid_t uid, const wire::Request& request) {
    wire::Reply answer = Error{ErrorCode::kInternal, "no answer yet"};
    service_->handle(connection, Peer{uid, {uid}, static_cast<pid_t>(uid), uid == 0}, request,
                     [&](wire::Reply reply) { answer = std::move(reply); });
    return answer;
  }
  wire::Reply acquire(ConnectionId connection, uid_t uid, std::vector<GpuUuid> gpus,
                      double ttl = 5) {
    return ask(connection, uid, wire::AcquireRequest{std::move(gpus), Seconds(ttl), "train", "7"});
  }
  LeaseId granted(ConnectionId connection, uid_t uid, std::vector<GpuUuid> gpus) {
    const wire::Reply reply = acquire(connection, uid, std::move(gpus));
    const auto* lease = std::get_if<wire::Granted>(&reply);
    EXPECT_NE(lease, nullptr) << refusal(reply);
    return lease != nullptr ? lease->lease : 0;
  }
  wire::Reply set(ConnectionId connection, uid_t uid, LeaseId lease, const GpuUuid& gpu,
                  double mhz) {
    return ask(connection, uid, wire::SetRequest{lease, gpu, {.sm_clock = Mhz(mhz)}});
  }
  static std::string refusal(const wire::Reply& reply) {
    const auto* error = std::get_if<Error>(&reply);
    return error != nullptr ? error->line() : "";
  }
  static ErrorCode code(const wire::Reply& reply) {
    const auto* error = std::get_if<Error>(&reply);
    EXPECT_NE(error, nullptr) << "not refused";
    return error != nullptr ? error->code : ErrorCode::kInternal;
  }
  static bool done(const wire::Reply& reply) { return std::holds_alternative<wire::Done>(reply); }

  TableMachine machine_;
  std::vector<std::string> lines_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, SaysWhyThereAreNoGpusYet) {
  service_->no_gpus_because(Error{ErrorCode::kNoDriver, "no NVIDIA driver", "load it"});

  EXPECT_EQ(refusal(acquire(1, kAlice, {kFirst})), "no NVIDIA driver; load it");
  const auto status = std::get<wire::DaemonStatus>(ask(1, kCarol, wire::StatusRequest{}));
  EXPECT_EQ(status.trouble, "no NVIDIA driver");
  EXPECT_FALSE(service_->recovered());
}

TEST_F(ServiceTest, ChangesAGpuForItsOwnerAndGivesItBack) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});

  const auto applied = set(1, kAlice, lease, kFirst, 1410);
  ASSERT_TRUE(std::holds_alternative<wire::Applied>(applied)) << refusal(applied);
  EXPECT_EQ(machine_.cards[0]->held.sm_clock, Mhz(1410));
  EXPECT_TRUE(done(ask(1, kAlice, wire::ReleaseRequest{lease})));

  EXPECT_TRUE(machine_.cards[0]->held.empty());
}

TEST_F(ServiceTest, DeniesWhoIsNotOnTheList) {
  serve();

  EXPECT_NE(refusal(acquire(1, kCarol, {kFirst})).find("user 1003 may not change GPU-0"),
            std::string::npos);
  EXPECT_TRUE(std::holds_alternative<wire::LeaseList>(ask(1, kCarol, wire::ListRequest{})))
      << "reading is free";
}

TEST_F(ServiceTest, DeniesOrClampsWhatIsOutOfBounds) {
  serve();
  const LeaseId strict = granted(1, kAlice, {kFirst});
  const LeaseId lenient = granted(2, kBob, {kSecond});

  const auto memory = ask(1, kAlice, wire::SetRequest{strict, kFirst, {.memory_clock = Mhz(3201)}});
  const auto clamped = set(2, kBob, lenient, kSecond, 1980);

  EXPECT_NE(refusal(memory), "");
  EXPECT_TRUE(machine_.cards[0]->held.empty()) << "nothing was changed";
  ASSERT_TRUE(std::holds_alternative<wire::Applied>(clamped)) << refusal(clamped);
  EXPECT_EQ(std::get<wire::Applied>(clamped).setting.sm_clock, Mhz(1410));
}

TEST_F(ServiceTest, NobodyGetsAboveTheBaseline) {
  make({}, {.sm_clock = Mhz(1410)});
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});

  EXPECT_NE(refusal(set(1, kAlice, lease, kFirst, 1980)), "");
}

TEST_F(ServiceTest, NamesTheHolderOfAGpuThatIsTaken) {
  serve();
  granted(1, kAlice, {kFirst});

  const std::string why = refusal(acquire(2, kBob, {kSecond, kFirst}));

  EXPECT_NE(why.find("train (pid 1001, uid 1001, job 7)"), std::string::npos) << why;
  EXPECT_NE(granted(3, kBob, {kSecond}), 0U) << "all or none: the other one is free";
}

TEST_F(ServiceTest, KnowsNoForgedGpusNorOtherPeoplesLeases) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});

  EXPECT_NE(refusal(acquire(2, kBob, {GpuUuid("GPU-forged")})).find("there is no GPU GPU-forged"),
            std::string::npos);
  EXPECT_NE(refusal(set(2, kBob, lease, kFirst, 1410)), "");
  EXPECT_NE(refusal(ask(2, kBob, wire::RenewRequest{lease})), "");
  EXPECT_NE(refusal(ask(2, kBob, wire::ReleaseRequest{lease})), "");
  EXPECT_NE(refusal(set(1, kAlice, lease, kSecond, 1410)), "") << "not in the lease";
  EXPECT_TRUE(machine_.cards[0]->held.empty());
}

TEST_F(ServiceTest, RestoresWhenTheOwnerIsGone) {
  serve();
  set(1, kAlice, granted(1, kAlice, {kFirst}), kFirst, 1410);

  service_->connection_gone(1);

  EXPECT_TRUE(machine_.cards[0]->held.empty());
  EXPECT_NE(granted(2, kBob, {kFirst}), 0U);
}

TEST_F(ServiceTest, RestoresWhenTheLeaseIsNotRenewedAndTellsTheOwner) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  set(1, kAlice, lease, kFirst, 1410);
  machine_.clock.advance(Seconds(4));
  EXPECT_TRUE(done(ask(1, kAlice, wire::RenewRequest{lease})));
  EXPECT_EQ(*service_->next_deadline(), machine_.clock.now() + Seconds(5));

  machine_.clock.advance(Seconds(5));
  service_->expire();

  EXPECT_TRUE(machine_.cards[0]->held.empty());
  EXPECT_NE(refusal(ask(1, kAlice, wire::RenewRequest{lease})).find("expired"), std::string::npos);
  EXPECT_NE(granted(1, kAlice, {kFirst}), lease) << "it may come back";
}

TEST_F(ServiceTest, EndsALeaseThatLastsLongerThanAllowedHoweverOftenRenewed) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  set(1, kAlice, lease, kFirst, 1410);
  for (int i = 0; i < 19; ++i) {
    machine_.clock.advance(Seconds(3));
    service_->expire();
    EXPECT_TRUE(done(ask(1, kAlice, wire::RenewRequest{lease})));
  }

  machine_.clock.advance(Seconds(3));
  service_->expire();

  EXPECT_TRUE(machine_.cards[0]->held.empty());
  EXPECT_NE(refusal(ask(1, kAlice, wire::RenewRequest{lease}))
                .find("longest duration that the administrator"),
            std::string::npos);
}

TEST_F(ServiceTest, ShortensATtlThatIsTooLong) {
  serve();

  const auto lease = std::get<wire::Granted>(acquire(1, kAlice, {kFirst}, 3000));

  EXPECT_EQ(lease.ttl, Seconds(20));
  EXPECT_EQ(lease.longest, Seconds(60));
}

TEST_F(ServiceTest, SaysWhatTheLeaseMayAskFor) {
  serve();

  const auto lease = std::get<wire::Granted>(acquire(1, kAlice, {kFirst, kSecond}));

  EXPECT_TRUE(lease.allows({.sm_clock = Mhz(345)}));
  EXPECT_FALSE(lease.allows({.sm_clock = Mhz(300)}));
  EXPECT_FALSE(lease.allows({.sm_clock = Mhz(345), .memory_clock = Mhz(2619)}));
}

TEST_F(ServiceTest, AConnectionHoldsOneLease) {
  serve();
  granted(1, kAlice, {kFirst});

  EXPECT_NE(refusal(acquire(1, kAlice, {kSecond})).find("already holds a lease"),
            std::string::npos);
}

TEST_F(ServiceTest, ListsWhoHoldsWhat) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst, kSecond});
  set(1, kAlice, lease, kSecond, 1410);
  machine_.clock.advance(Seconds(2));

  const auto list = std::get<wire::LeaseList>(ask(9, kCarol, wire::ListRequest{}));

  ASSERT_EQ(list.leases.size(), 1U);
  EXPECT_EQ(list.leases[0].lease, lease);
  EXPECT_EQ(list.leases[0].uid, kAlice);
  EXPECT_EQ(list.leases[0].program, "train");
  EXPECT_EQ(list.leases[0].expires_in, Seconds(3));
  ASSERT_EQ(list.leases[0].gpus.size(), 2U);
  EXPECT_TRUE(list.leases[0].gpus[0].requested.empty());
  EXPECT_EQ(list.leases[0].gpus[1].requested.sm_clock, Mhz(1410));
}

TEST_F(ServiceTest, CountsLeasesWritesAndRestores) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  set(1, kAlice, lease, kFirst, 1410);
  machine_.clock.advance(Seconds(60));
  service_->expire();

  const auto status = std::get<wire::DaemonStatus>(ask(9, kCarol, wire::StatusRequest{}));

  const auto count = [&](const std::string& name) {
    const auto found = std::ranges::find(status.counts, name, &wire::Count::name);
    return found != status.counts.end() ? found->value : 99;
  };
  EXPECT_EQ(count("leases_granted"), 1U);
  EXPECT_EQ(count("leases_ended_expired"), 1U);
  EXPECT_EQ(count("leases_ended_released"), 0U);
  EXPECT_EQ(count("writes_applied"), 1U);
  EXPECT_EQ(count("writes_failed"), 0U);
  EXPECT_EQ(count("restore_failures"), 0U);
}

TEST_F(ServiceTest, OnlyAdministratorsReset) {
  serve();
  set(1, kAlice, granted(1, kAlice, {kFirst}), kFirst, 1410);

  EXPECT_NE(refusal(ask(2, kBob, wire::ResetRequest{{kFirst}, false, false})), "");
  EXPECT_FALSE(machine_.cards[0]->held.empty());
  EXPECT_TRUE(done(ask(3, 0, wire::ResetRequest{{kFirst}, false, false})));

  EXPECT_TRUE(machine_.cards[0]->held.empty());
  EXPECT_NE(granted(2, kBob, {kFirst}), 0U) << "the GPU is free again";
}

TEST_F(ServiceTest, ResetAlsoUndoesWhatOthersHaveChanged) {
  serve();
  machine_.cards[1]->held.sm_clock = Mhz(345);

  EXPECT_TRUE(done(ask(1, 0, wire::ResetRequest{})));

  EXPECT_TRUE(machine_.cards[1]->held.empty());
}

TEST_F(ServiceTest, AClosedMachineGrantsNothingUntilItIsReopened) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  set(1, kAlice, lease, kFirst, 1410);

  EXPECT_TRUE(done(ask(9, 0, wire::ResetRequest{{}, true, false})));
  EXPECT_TRUE(machine_.cards[0]->held.empty());
  EXPECT_NE(refusal(acquire(1, kAlice, {kFirst})).find("closed"), std::string::npos);
  EXPECT_TRUE(done(ask(9, 0, wire::ResetRequest{{}, false, true})));

  EXPECT_NE(granted(1, kAlice, {kFirst}), 0U);
}

TEST_F(ServiceTest, AGpuThatHangsDelaysNoOther) {
  serve();
  set(1, kAlice, granted(1, kAlice, {kFirst}), kFirst, 1410);
  set(2, kBob, granted(2, kBob, {kSecond}), kSecond, 1410);
  machine_.ports[0]->hold = true;

  service_->connection_gone(1);
  service_->connection_gone(2);

  EXPECT_FALSE(machine_.cards[0]->held.empty());
  EXPECT_TRUE(machine_.cards[1]->held.empty());
  EXPECT_NE(granted(3, kAlice, {kSecond}), 0U);
  EXPECT_NE(refusal(acquire(4, kBob, {kFirst})).find("still being restored"), std::string::npos);
  machine_.ports[0]->hold = false;
  machine_.ports[0]->try_again();
  EXPECT_TRUE(machine_.cards[0]->held.empty());
}

TEST_F(ServiceTest, StopsWhenEveryGpuIsRestored) {
  serve();
  set(1, kAlice, granted(1, kAlice, {kFirst}), kFirst, 1410);
  machine_.ports[0]->hold = true;

  service_->stop();
  EXPECT_FALSE(service_->at_rest());
  EXPECT_NE(refusal(acquire(2, kBob, {kSecond})), "");
  machine_.ports[0]->hold = false;
  machine_.ports[0]->try_again();

  EXPECT_TRUE(service_->at_rest());
  EXPECT_TRUE(machine_.cards[0]->held.empty());
}

TEST_F(ServiceTest, ReadOnlyModeGrantsNothing) {
  make({.guardian = false, .read_only = true});
  serve();

  EXPECT_NE(refusal(acquire(1, 0, {kFirst})).find("HYPERMILE_READ_ONLY"), std::string::npos);
}

TEST_F(ServiceTest, AGuardiansOwnerNeedsNoRule) {
  make({.guardian = true, .read_only = false});
  serve();
  const LeaseId lease = granted(1, kCarol, {kFirst});

  set(1, kCarol, lease, kFirst, 1410);

  EXPECT_EQ(machine_.cards[0]->held.sm_clock, Mhz(1410));
}

TEST_F(ServiceTest, ARunningJobIsASourceOfRightsOnlyWhereTheConfigurationSaysSo) {
  Service::Options options;
  options.job_allows = [](uid_t user, const GpuUuid& gpu) {
    return user == kCarol && gpu == kFirst;
  };
  make(options);
  serve();
  EXPECT_NE(refusal(acquire(1, kCarol, {kFirst})), "");

  DaemonConfig config = service_->config();
  config.job_rights = rule(0, {800, 1500}, false).rights;
  service_->set_config(config);

  EXPECT_NE(refusal(acquire(1, kCarol, {kSecond})), "") << "it is not the job's GPU";
  const LeaseId lease = granted(1, kCarol, {kFirst});
  EXPECT_TRUE(std::holds_alternative<wire::Applied>(set(1, kCarol, lease, kFirst, 1410)));
  EXPECT_FALSE(std::holds_alternative<wire::Applied>(set(1, kCarol, lease, kFirst, 1600)))
      << "it is beyond the site's limits";
}

TEST_F(ServiceTest, ANewConfigurationHoldsForNewLeases) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});

  service_->set_config(DaemonConfig{});

  EXPECT_TRUE(std::holds_alternative<wire::Applied>(set(1, kAlice, lease, kFirst, 1410)));
  EXPECT_NE(refusal(acquire(2, kAlice, {kSecond})), "");
}

TEST_F(ServiceTest, AUserWhoReachedTheLongestLeaseLetsOthersFirst) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  for (int i = 0; i < 30; ++i) {
    machine_.clock.advance(Seconds(2));
    (void)ask(1, kAlice, wire::RenewRequest{lease});
  }

  service_->expire();

  EXPECT_EQ(code(acquire(1, kAlice, {kFirst})), ErrorCode::kNotReady) << "it pauses";
  machine_.clock.advance(Turns::kLongestPause);
  EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(1, kAlice, {kFirst})));
}

TEST_F(ServiceTest, WhoWaitedGetsAGpuBeforeWhoComesBack) {
  serve();
  const LeaseId lease = granted(1, kAlice, {kFirst});
  EXPECT_EQ(code(acquire(2, kBob, {kFirst})), ErrorCode::kBusy) << "in line from now on";

  (void)ask(1, kAlice, wire::ReleaseRequest{lease});

  EXPECT_EQ(code(acquire(1, kAlice, {kFirst})), ErrorCode::kBusy) << "it is the other's turn";
  EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(2, kBob, {kFirst})));
}

TEST_F(ServiceTest, AnAdministratorsResetHoldsForTheProcessThatHeldTheGpu) {
  Service::Options options;
  bool lives = true;
  options.lives = [&](pid_t) { return lives; };
  make(options);
  serve();
  (void)granted(1, kAlice, {kFirst});

  EXPECT_TRUE(std::holds_alternative<wire::Done>(ask(9, 0, wire::ResetRequest{{kFirst}})));

  EXPECT_EQ(code(acquire(1, kAlice, {kFirst})), ErrorCode::kPermission);
  EXPECT_EQ(code(acquire(3, kAlice, {kFirst})), ErrorCode::kPermission) << "a new connection";
  EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(1, kAlice, {kSecond})));
  EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(2, kBob, {kFirst})));
  service_->connection_gone(2);
  lives = false;
  EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(3, kAlice, {kFirst})))
      << "the job has ended";
}

TEST_F(ServiceTest, AResetForATimeHoldsForTheWholeUserUntilItIsLifted) {
  serve();
  for (const bool lifted : {true, false}) {
    (void)granted(1, kAlice, {kFirst});
    (void)ask(9, 0, wire::ResetRequest{{kFirst}, false, false, Seconds(3600)});
    machine_.clock.advance(Seconds(3500));
    EXPECT_EQ(code(acquire(1, kAlice, {kFirst})), ErrorCode::kPermission);
    if (lifted) {
      (void)ask(9, 0, wire::ResetRequest{{}, false, true});
    } else {
      machine_.clock.advance(Seconds(101));
    }
    EXPECT_TRUE(std::holds_alternative<wire::Granted>(acquire(1, kAlice, {kFirst})));
    service_->connection_gone(1);
  }
}

}  // namespace
}  // namespace hypermile
