// SPDX-License-Identifier: Apache-2.0
#include "agent/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "agent/agents.grpc.pb.h"
#include "agent/messages.h"
#include "agent/transport.h"

namespace hypermile {
namespace {

using Stream = grpc::ClientReaderWriter<agents::v1::FromNode, agents::v1::FromCoordinator>;

constexpr Seconds kProveWithin = Seconds(3);
constexpr Seconds kLook = milliseconds(20);  // between two looks for something to report

std::chrono::system_clock::time_point from_now(Seconds duration) {
  return std::chrono::system_clock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(duration.value() * 1e3));
}

Error refused(const agents::v1::FromCoordinator& message) {
  if (!message.has_refusal()) return Error{ErrorCode::kParse, "it speaks out of turn"};
  return Error{ErrorCode::kBusy, message.refusal().why()};
}

Error connection_broke() {
  return Error{ErrorCode::kIo, "the connection broke"};
}

void learn(const agents::v1::Roster& roster, const FollowTerms& terms) {
  constexpr std::size_t kMostHostBytes = 255;
  if (!terms.learn_host) return;
  for (const agents::v1::Roster::Place& place : roster.places()) {
    if (place.host().size() <= kMostHostBytes) terms.learn_host(place.node(), place.host());
  }
}

// Cancels the call after `within`, unless it is destroyed before.
class Deadline {
 public:
  Deadline(grpc::ClientContext& context, Clock& clock, Seconds within)
      : thread_([&context, &clock, within](const std::stop_token& met) {
          clock.sleep_for(within, met);
          if (!met.stop_requested()) context.TryCancel();
        }) {}

 private:
  std::jthread thread_;
};

// Hello, Challenge, Proof, Welcome.
Result<void> introduce(Stream& stream, const FollowTerms& terms, Credentials& credentials) {
  ASSIGN_OR_RETURN(const std::string nonce, make_nonce());
  agents::v1::FromNode message;
  agents::v1::FromCoordinator answer;
  agents::v1::Hello& hello = *message.mutable_hello();
  hello.set_version(kAgentProtocol);
  hello.set_job(terms.job);
  hello.set_node(static_cast<std::uint32_t>(terms.self));
  hello.set_nonce(nonce);
  if (!stream.Write(message) || !stream.Read(&answer)) return connection_broke();
  if (!answer.has_challenge()) return refused(answer);
  RETURN_IF_ERROR(credentials.check(answer.challenge().credential(),
                                    statement_of(terms.job, "coordinator", nonce)));
  ASSIGN_OR_RETURN(const std::string proof,
                   credentials.make(statement_of(terms.job, fmt::format("node {}", terms.self),
                                                 answer.challenge().nonce())));
  message.mutable_proof()->set_credential(proof);
  if (!stream.Write(message) || !stream.Read(&answer)) return connection_broke();
  if (!answer.has_welcome()) return refused(answer);
  // A node that coordinates nobody says so next; its first beat or order says that it does.
  if (!stream.Read(&answer)) return connection_broke();
  if (answer.has_refusal()) return refused(answer);
  if (answer.has_roster()) learn(answer.roster(), terms);
  return {};
}

// False where the coordinator's message cannot be understood.
bool take(const agents::v1::FromCoordinator& message, const FollowTerms& terms, Seat& seat) {
  if (message.has_roster()) learn(message.roster(), terms);
  if (!message.has_order()) return true;
  const Result<Order> order = from_message(message.order());
  if (order) seat.take(*order);
  return order.ok();
}

// False where the connection broke.
bool send(Stream& stream, const std::vector<NodeReport>& reports) {
  return std::ranges::all_of(reports, [&](const NodeReport& report) {
    agents::v1::FromNode message;
    *message.mutable_report() = to_message(report);
    return stream.Write(message);
  });
}

}  // namespace

Result<std::string> follow(const FollowTerms& terms, Credentials& credentials, Seat& seat,
                           Clock& clock, const std::function<void()>& welcomed,
                           const std::stop_token& stop) {
  const auto channel = open_channel(terms.address);
  if (!channel->WaitForConnected(from_now(terms.connect_within))) {
    return Error{ErrorCode::kNotFound, fmt::format("nobody answers at {}", terms.address)};
  }
  const auto stub = agents::v1::Agents::NewStub(channel);
  grpc::ClientContext context;
  const auto stream = stub->Decide(&context);
  const std::stop_callback on_stop(stop, [&context] { context.TryCancel(); });
  Result<void> introduced;
  {
    const Deadline deadline(context, clock, kProveWithin);
    introduced = introduce(*stream, terms, credentials);
  }
  if (!introduced) {
    context.TryCancel();
    stream->Finish();
    return introduced.error();
  }
  welcomed();
  seat.join();
  std::atomic<Instant> heard = clock.now();
  std::atomic<bool> over = false;
  std::string why = "the coordinating node is lost";  // the reader's until it is joined
  std::thread reader([&] {
    agents::v1::FromCoordinator message;
    while (stream->Read(&message)) {
      heard = clock.now();
      if (message.has_refusal()) why = message.refusal().why();
      if (!take(message, terms, seat)) break;
    }
    over = true;
    // At once: whoever is written to meanwhile may block.
    seat.leave(why);
  });
  const Seconds every = agent_beat(terms.nodes), silence = agent_silence(terms.nodes);
  Instant told = clock.now();
  while (!over && !stop.stop_requested()) {
    const Instant now = clock.now();
    if (now - heard.load() > silence) break;
    const bool due = now - told >= every;
    std::vector<NodeReport> reports = seat.reports(due);
    if (due && reports.empty()) reports.emplace_back();  // a sign of life
    if (!reports.empty()) told = now;
    if (!send(*stream, reports)) break;
    clock.sleep_for(kLook, stop);
  }
  seat.leave("the coordinating node is lost");
  context.TryCancel();
  reader.join();
  stream->Finish();
  return why;
}

}  // namespace hypermile
