// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/message.h"

#include <gtest/gtest.h>

#include "lease/frame.h"
#include "lease/protocol/tags.h"

namespace hypermile::wire {
namespace {

const GpuUuid kGpu("GPU-8c5e1f2a");

// The body of an encoded frame.
std::string body(const Result<std::string>& frame) {
  EXPECT_TRUE(frame.ok());
  const CutFrame cut = cut_frame(*frame);
  EXPECT_EQ(cut.state, CutFrame::State::kWhole);
  EXPECT_EQ(cut.bytes, frame->size());
  return std::string(cut.body);
}

template <class Message>
Message through_request(const Message& message) {
  const auto decoded = decode_request(body(encode_request({7, message})));
  EXPECT_TRUE(decoded.ok()) << decoded.error().line();
  EXPECT_EQ(decoded->sequence, 7U);
  return std::get<Message>(decoded->message);
}

template <class Message>
Message through_reply(const Message& message) {
  const auto decoded = decode_reply(body(encode_reply({9, message})));
  EXPECT_TRUE(decoded.ok()) << decoded.error().line();
  EXPECT_EQ(decoded->sequence, 9U);
  return std::get<Message>(decoded->message);
}

TEST(Requests, ComeBackAsTheyWere) {
  const AcquireRequest acquire{{kGpu, GpuUuid("GPU-2")}, Seconds(2.5), "python3", "4711"};
  const SetRequest set{3, kGpu, {.sm_clock = Mhz(1410), .power_limit = Watts(250)}};
  const ResetRequest reset{{kGpu}, true, false};
  const ResetRequest held{{kGpu}, false, false, Seconds(3600)};

  EXPECT_EQ(through_request(acquire), acquire);
  EXPECT_EQ(through_request(set), set);
  EXPECT_EQ(through_request(SetRequest{3, kGpu, {}}), (SetRequest{3, kGpu, {}}));
  EXPECT_EQ(through_request(RenewRequest{4}), RenewRequest{4});
  EXPECT_EQ(through_request(ReleaseRequest{5}), ReleaseRequest{5});
  EXPECT_EQ(through_request(ListRequest{}), ListRequest{});
  EXPECT_EQ(through_request(StatusRequest{}), StatusRequest{});
  EXPECT_EQ(through_request(reset), reset);
  EXPECT_EQ(through_request(held), held);
}

TEST(Replies, SayWhatACardShowsAgainstARestore) {
  DaemonStatus status;
  status.gpus = {{kGpu, true, "", "sm reads 1200 MHz"}, {GpuUuid("GPU-2"), true, ""}};

  const auto back = through_reply(status);

  EXPECT_EQ(back.gpus[0].read_back, "sm reads 1200 MHz");
  EXPECT_EQ(back.gpus[1].read_back, "");
}

TEST(Replies, ComeBackAsTheyWere) {
  const auto refused = through_reply(Error{ErrorCode::kBusy, "held by alice", "wait"});
  const auto granted = through_reply(Granted{11, Seconds(5), Seconds(3600)});
  const auto applied =
      through_reply(Applied{{.sm_clock = Mhz(1005)}, {Error{ErrorCode::kUnsupported, "mem", ""}}});
  const auto leases = through_reply(LeaseList{
      {{1, 1000, 42, "python3", "job", 1.7e9, Seconds(3), {{kGpu, {.sm_clock = Mhz(900)}, true}}},
       {2, 0, 0, "", "", 1.8e9, Seconds(-1), {}}}});
  const auto status = through_reply(DaemonStatus{
      "0.1.0", 12, true, true, true, "no driver", {{kGpu, true, "hangs"}}, {{"granted", 7}}});

  EXPECT_EQ(refused.line(), "held by alice; wait");
  EXPECT_EQ(refused.code, ErrorCode::kBusy);
  EXPECT_EQ(granted.lease, 11U);
  EXPECT_EQ(granted.longest, Seconds(3600));
  EXPECT_EQ(applied.setting.sm_clock, Mhz(1005));
  ASSERT_EQ(applied.problems.size(), 1U);
  EXPECT_EQ(applied.problems[0].code, ErrorCode::kUnsupported);
  ASSERT_EQ(leases.leases.size(), 2U);
  EXPECT_EQ(leases.leases[0].uid, 1000U);
  EXPECT_EQ(leases.leases[0].gpus[0].requested.sm_clock, Mhz(900));
  EXPECT_TRUE(leases.leases[0].gpus[0].restoring);
  EXPECT_EQ(leases.leases[1].expires_in, Seconds(-1));
  EXPECT_TRUE(status.guardian && status.administrator && status.closed);
  EXPECT_EQ(status.trouble, "no driver");
  EXPECT_EQ(status.gpus[0].trouble, "hangs");
}

TEST(Replies, SayWhatALeaseMayAskFor) {
  Granted only_sm{1, Seconds(5), {}, Bounds{}};
  only_sm.bounds->sm_clock = KnobRange{1000, 1500};
  only_sm.bounds->power_limit = KnobRange{};  // no end

  const Granted back = through_reply(only_sm);
  const Granted old = through_reply(Granted{1, Seconds(5)});

  EXPECT_TRUE(back.allows({.sm_clock = Mhz(1500)}));
  EXPECT_FALSE(back.allows({.sm_clock = Mhz(1515)}));
  EXPECT_FALSE(back.allows({.sm_clock = Mhz(1500), .memory_clock = Mhz(5001)}));
  EXPECT_TRUE(back.allows({.power_limit = Watts(1e6)}));
  EXPECT_TRUE(back.allows({}));
  EXPECT_TRUE(old.allows({.memory_clock = Mhz(5001)})) << "an older daemon says nothing";
}

TEST(Replies, HoldTheLeasesOfALargeMachine) {
  LeaseList list;
  for (std::size_t i = 0; i < 32; ++i) {
    const GpuUuid gpu("GPU-00000000-0000-0000-0000-0000000000" + std::to_string(10 + i));
    const Setting every{.sm_clock = Mhz(1), .memory_clock = Mhz(1), .power_limit = Watts(1)};
    list.leases.push_back({i,
                           i,
                           i,
                           std::string(kMostNameBytes, 'x'),
                           std::string(kMostNameBytes, 'y'),
                           0,
                           Seconds(1),
                           {{gpu, every, false}}});
  }

  EXPECT_EQ(through_reply(list).leases.size(), 32U);
}

TEST(Decoding, RefusesAnotherVersionByItsNumber) {
  FrameWriter writer;
  writer.number(tags::kVersion, 2).number(tags::kType, 1).number(tags::kSequence, 1);

  const auto decoded = decode_request(body(writer.finish()));

  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(decoded.error().message.find("version 2"), std::string::npos);
}

TEST(Decoding, RefusesInvalidRequests) {
  const auto refused = [](const Result<std::string>& frame) {
    const auto decoded = decode_request(body(frame));
    return !decoded.ok() && decoded.error().code == ErrorCode::kParse;
  };
  const auto acquire = [](const std::vector<GpuUuid>& gpus, double ttl) {
    return encode_request({1, AcquireRequest{gpus, Seconds(ttl), "x", ""}});
  };

  EXPECT_TRUE(refused(acquire({}, 1))) << "no GPU";
  EXPECT_TRUE(refused(acquire({kGpu, kGpu}, 1))) << "one twice";
  EXPECT_TRUE(refused(acquire({GpuUuid("GPU-\n")}, 1))) << "malformed";
  EXPECT_TRUE(refused(acquire({GpuUuid(std::string(81, 'x'))}, 1))) << "too long";
  EXPECT_TRUE(refused(acquire({kGpu}, 0)));
  EXPECT_TRUE(refused(acquire({kGpu}, -1)));
  EXPECT_TRUE(refused(acquire({kGpu}, 1e300)));
  EXPECT_TRUE(refused(encode_request({1, SetRequest{1, kGpu, {.sm_clock = Mhz(-1)}}})));
  EXPECT_TRUE(refused(encode_request({1, SetRequest{1, kGpu, {.power_limit = Watts(1e9)}}})));
  EXPECT_TRUE(refused(encode_request({1, ResetRequest{{}, true, true}})));
  EXPECT_TRUE(refused(encode_reply({1, Done{}}))) << "a reply is no request";
}

TEST(Decoding, SkipsFieldsItDoesNotKnow) {
  FrameWriter writer;
  writer.number(tags::kVersion, 1).number(tags::kType, tags::kRenew).number(tags::kSequence, 1);
  writer.number(tags::kLease, 6).text(200, "from the future");

  const auto decoded = decode_request(body(writer.finish()));

  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<RenewRequest>(decoded->message).lease, 6U);
}

}  // namespace
}  // namespace hypermile::wire
