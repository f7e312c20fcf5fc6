// SPDX-License-Identifier: Apache-2.0
//
// Agents on the loopback, with credentials that need no munged.
#include "agent/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "agent/follower.h"
#include "agent/messages.h"
#include "agent/transport.h"

namespace hypermile {
namespace {

using namespace std::chrono_literals;

// Credentials are "USER:NUMBER:STATEMENT"; each is good once, and only for the same user.
class CredentialsForTest final : public Credentials {
 public:
  explicit CredentialsForTest(std::string user) : user_(std::move(user)) {}
  Result<std::string> make(const std::string& statement) override {
    const std::scoped_lock lock(mutex_);
    return fmt::format("{}:{}:{}", user_, ++made_, statement);
  }
  Result<void> check(const std::string& credential, const std::string& statement) override {
    const std::scoped_lock lock(mutex_);
    const Error no{ErrorCode::kPermission, "refused"};
    if (!credential.starts_with(user_ + ":") || !credential.ends_with(":" + statement)) return no;
    return used_.insert(credential).second ? Result<void>() : no;
  }

 private:
  std::string user_;
  std::mutex mutex_;
  int made_ = 0;
  std::set<std::string> used_;
};

class AgentServerTest : public ::testing::Test {
 protected:
  AgentServerTest() {
    GroupTerms terms;
    terms.nodes = {"n0", "n1", "n2"};
    EXPECT_TRUE(server_.listen());
    server_.coordinate(std::move(terms));
    stepper_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        server_.step();
        clock_->sleep_for(milliseconds(20), stop);
      }
    });
  }

  template <class Condition>
  static bool soon(Condition condition, std::chrono::milliseconds within = 10s) {
    for (const auto until = std::chrono::steady_clock::now() + within;
         std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(10ms)) {
      if (condition()) return true;
    }
    return condition();
  }

  bool status_says(const std::string& text) {
    return server_.status().find(text) != std::string::npos;
  }

  static std::string free_address() {
    static int next = 21'000 + static_cast<int>(::getpid() % 5000);
    return fmt::format("127.0.0.1:{}", ++next);
  }

  // A connection that says what a test wants.
  struct RawPeer {
    explicit RawPeer(const std::string& address)
        : stub(agents::v1::Agents::NewStub(open_channel(address))),
          stream(stub->Decide(&context)) {}
    ~RawPeer() {
      context.TryCancel();
      stream->Finish();
    }
    bool hello(const std::string& job, std::uint32_t version = kAgentProtocol) {
      agents::v1::FromNode message;
      message.mutable_hello()->set_version(version);
      message.mutable_hello()->set_job(job);
      message.mutable_hello()->set_node(1);
      message.mutable_hello()->set_nonce("mine");
      return stream->Write(message) && stream->Read(&answer);
    }
    bool proof(const std::string& credential) {
      agents::v1::FromNode message;
      message.mutable_proof()->set_credential(credential);
      return stream->Write(message) && stream->Read(&answer);
    }
    grpc::ClientContext context;
    std::unique_ptr<agents::v1::Agents::Stub> stub;
    std::unique_ptr<grpc::ClientReaderWriter<agents::v1::FromNode, agents::v1::FromCoordinator>>
        stream;
    agents::v1::FromCoordinator answer;
  };

  std::string statement(const RawPeer& peer) const {
    return statement_of("12.0", "node 1", peer.answer.challenge().nonce());
  }

  std::unique_ptr<Clock> clock_ = make_real_clock();
  std::string address_ = free_address();
  CredentialsForTest credentials_{"alice"};
  Seat seat_;
  AgentServer server_{{address_, "12.0", 0}, credentials_, seat_, *clock_};
  std::jthread stepper_;
};

TEST_F(AgentServerTest, ANodeFollowsUntilItIsStoppedAndThenIsLost) {
  Seat seat;
  std::stop_source stop;
  std::atomic<bool> welcomed = false;
  Result<std::string> ended = std::string();
  std::thread follower([&] {
    ended = follow(
        {address_, "12.0", 1}, credentials_, seat, *clock_, [&] { welcomed = true; },
        stop.get_token());
  });

  EXPECT_TRUE(soon([&] { return status_says("coordinates 2 nodes"); })) << server_.status();
  EXPECT_TRUE(soon([&] { return welcomed.load(); }));
  stop.request_stop();
  follower.join();

  EXPECT_TRUE(ended.ok());
  EXPECT_TRUE(soon([&] { return status_says("coordinates 1 nodes"); })) << server_.status();
}

TEST_F(AgentServerTest, AFollowerLeavesWhenItsCoordinatorGivesUp) {
  Seat seat;
  std::atomic<bool> welcomed = false;
  Result<std::string> ended = std::string();
  std::thread follower([&] {
    ended =
        follow({address_, "12.0", 1}, credentials_, seat, *clock_, [&] { welcomed = true; }, {});
  });
  ASSERT_TRUE(soon([&] { return welcomed.load(); }));

  server_.stop_coordinating("a lower node coordinates");
  follower.join();

  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(*ended, "a lower node coordinates");
  EXPECT_TRUE(seat.reports().empty());
}

TEST_F(AgentServerTest, NobodyFollowsANodeThatCoordinatesNobody) {
  server_.stop_coordinating("it follows another");
  Seat seat;

  const auto ended = follow({address_, "12.0", 1}, credentials_, seat, *clock_, [] {}, {});

  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "this node coordinates nobody");
}

TEST_F(AgentServerTest, RefusesAndCountsAnotherUserAnotherJobAndAnotherVersion) {
  CredentialsForTest mallory("mallory");
  Seat seat;
  EXPECT_FALSE(follow({address_, "12.0", 1}, mallory, seat, *clock_, [] {}, {}).ok())
      << "the follower does not trust a coordinator of another user";
  RawPeer forger(address_);
  ASSERT_TRUE(forger.hello("12.0"));
  ASSERT_TRUE(forger.proof("mallory:1:" + statement(forger)));
  EXPECT_TRUE(forger.answer.has_refusal());
  RawPeer stranger(address_);
  ASSERT_TRUE(stranger.hello("13.0"));
  EXPECT_TRUE(stranger.answer.has_refusal());
  RawPeer newer(address_);
  ASSERT_TRUE(newer.hello("12.0", 99));
  EXPECT_TRUE(newer.answer.has_refusal());

  EXPECT_EQ(server_.count(PeerFault::kCredential), 1U);
  EXPECT_EQ(server_.count(PeerFault::kJob), 1U);
  EXPECT_EQ(server_.count(PeerFault::kVersion), 1U);
  EXPECT_TRUE(status_says("coordinates 1 nodes"));
}

TEST_F(AgentServerTest, RefusesACredentialThatWasUsedBeforeOrMadeForAnotherConnection) {
  std::string seen;
  {
    RawPeer first(address_);
    ASSERT_TRUE(first.hello("12.0"));
    seen = *credentials_.make(statement(first));
    ASSERT_TRUE(first.proof(seen));
    EXPECT_TRUE(first.answer.has_welcome());
  }
  RawPeer replayer(address_);
  ASSERT_TRUE(replayer.hello("12.0"));
  ASSERT_TRUE(replayer.proof(seen));

  EXPECT_TRUE(replayer.answer.has_refusal());
  EXPECT_EQ(server_.count(PeerFault::kCredential), 1U);
}

TEST_F(AgentServerTest, EndsWhoSpeaksOutOfTurnTooMuchOrNotAtAll) {
  RawPeer early(address_);
  agents::v1::FromNode report;
  report.mutable_report()->set_phase(1);
  ASSERT_TRUE(early.stream->Write(report));
  ASSERT_TRUE(early.stream->Read(&early.answer));
  EXPECT_TRUE(early.answer.has_refusal());
  RawPeer large(address_);
  agents::v1::FromNode huge;
  huge.mutable_proof()->set_credential(std::string(kMostMessageBytes + 1, 'x'));
  ASSERT_TRUE(large.stream->Write(huge));
  ASSERT_TRUE(large.stream->Read(&large.answer));
  EXPECT_TRUE(large.answer.has_refusal());
  RawPeer slow(address_);
  EXPECT_FALSE(slow.stream->Read(&slow.answer)) << "its connection is ended";

  EXPECT_EQ(server_.count(PeerFault::kOrder), 1U);
  EXPECT_EQ(server_.count(PeerFault::kSize), 1U);
  EXPECT_GE(server_.count(PeerFault::kSlow), 1U);
}

TEST(TransportTest, ReadsTheHostOfAPeer) {
  EXPECT_EQ(host_of_peer("ipv4:10.0.0.3:4711"), "10.0.0.3");
  EXPECT_EQ(host_of_peer("ipv6:%5B::1%5D:4711"), "[::1]");
  EXPECT_EQ(host_of_peer("unix"), "");
}

TEST(TransportTest, BeatsAreLongerInLargeSteps) {
  EXPECT_EQ(agent_beat(4), Seconds(1));
  EXPECT_EQ(agent_beat(512), Seconds(2));
  EXPECT_EQ(agent_silence(100'000), Seconds(15));
}

// Under torchrun nodes learn from the coordinating one where the others are.
TEST(AgentRosterTest, TheCoordinatorTellsEachNodeWhereTheOthersAre) {
  const auto clock = make_real_clock();
  CredentialsForTest credentials("alice");
  Seat seat, seats[2];
  const std::string address = fmt::format("127.0.0.1:{}", 27'000 + ::getpid() % 2000);
  AgentServer server({address, "12.0", 0, /*share_hosts=*/true}, credentials, seat, *clock);
  ASSERT_TRUE(server.listen());
  GroupTerms terms;
  terms.nodes = {"host0", "host1", "host2"};
  server.coordinate(std::move(terms));
  std::stop_source stop;
  std::mutex mutex;
  std::set<std::pair<NodeNumber, NodeNumber>> known;  // who, of whom
  std::vector<std::jthread> followers;
  for (const NodeNumber self : {1U, 2U}) {
    followers.emplace_back([&, self] {
      FollowTerms follow_terms{address, "12.0", self, 3};
      follow_terms.learn_host = [&, self](NodeNumber other, const std::string& host) {
        const std::scoped_lock lock(mutex);
        if (host == "127.0.0.1") known.emplace(self, other);
      };
      (void)follow(
          follow_terms, credentials, seats[self - 1], *clock, [] {}, stop.get_token());
    });
  }
  const auto until = std::chrono::steady_clock::now() + 10s;
  const auto all = [&] {
    const std::scoped_lock lock(mutex);
    return known.contains({1, 2}) && known.contains({2, 1});
  };
  while (!all() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);

  EXPECT_TRUE(all());
  stop.request_stop();
}

TEST_F(AgentServerTest, RefusesACrowdThatProvesNothing) {
  std::vector<std::unique_ptr<RawPeer>> crowd;
  for (int i = 0; i < 80; ++i) crowd.push_back(std::make_unique<RawPeer>(address_));

  EXPECT_TRUE(soon([&] { return server_.count(PeerFault::kCrowd) > 0; }));
}

}  // namespace
}  // namespace hypermile
