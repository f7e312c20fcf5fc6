// SPDX-License-Identifier: Apache-2.0
#include "agent/server.h"

#include <fmt/format.h>

#include <deque>

#include "agent/messages.h"
#include "agent/transport.h"

namespace hypermile {
namespace {

constexpr Seconds kProofWithin = Seconds(3);  // from connecting to the credential
constexpr std::size_t kMostUnproven = 64;     // connections at one time
constexpr std::size_t kMostWaiting = 64;      // messages that one member has not read yet

}  // namespace

std::string_view to_string(PeerFault fault) {
  switch (fault) {
    case PeerFault::kVersion:
      return "version";
    case PeerFault::kJob:
      return "job";
    case PeerFault::kCredential:
      return "credential";
    case PeerFault::kOrder:
      return "order";
    case PeerFault::kSize:
      return "size";
    case PeerFault::kSlow:
      return "slow";
    case PeerFault::kCrowd:
      return "crowd";
    case PeerFault::kCount:
      break;
  }
  return "";
}

// One connection. gRPC calls OnReadDone, OnWriteDone and OnDone, never two OnReadDone at once.
class AgentServer::Peer final
    : public grpc::ServerBidiReactor<agents::v1::FromNode, agents::v1::FromCoordinator> {
 public:
  Peer(AgentServer& server, std::string host, Instant now)
      : server_(server), host_(std::move(host)), heard_(now), told_(now) {
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return finish(grpc::Status::OK);
    if (incoming_.ByteSizeLong() > kMostMessageBytes) return refuse(PeerFault::kSize, "too large");
    heard_.store(server_.clock_.now());
    if (incoming_.has_hello() && stage_ == Stage::kHello) {
      take_hello(incoming_.hello());
    } else if (incoming_.has_proof() && stage_ == Stage::kProof) {
      take_proof(incoming_.proof());
    } else if (incoming_.has_report() && stage_ == Stage::kMember) {
      const Result<NodeReport> report = from_message(incoming_.report());
      if (!report) return refuse(PeerFault::kOrder, report.error().message);
      server_.take(this, node_, *report);
    } else {
      return refuse(PeerFault::kOrder, "a message out of turn");
    }
    if (!ended()) StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const std::scoped_lock lock(mutex_);
    writing_ = false;
    if (!ok) outgoing_.clear();
    write_next();
  }

  void OnCancel() override { finish(grpc::Status::CANCELLED); }

  void OnDone() override {
    server_.gone(this);
    { const std::scoped_lock lock(mutex_); }  // whoever called Finish() has let go of it
    delete this;
  }

  void send(agents::v1::FromCoordinator message) {
    const std::scoped_lock lock(mutex_);
    told_ = server_.clock_.now();
    if (finishing_ || outgoing_.size() >= kMostWaiting) return;
    outgoing_.push_back(std::move(message));
    write_next();
  }

  void refuse(PeerFault fault, const std::string& why) {
    server_.fault(fault);
    turn_away(why);
  }

  void turn_away(const std::string& why) {
    agents::v1::FromCoordinator message;
    message.mutable_refusal()->set_why(why.substr(0, kMostReasonBytes));
    send(std::move(message));
    finish(grpc::Status::OK);
  }

  // Ends the stream once what waits is written.
  void finish(const grpc::Status& status) {
    const std::scoped_lock lock(mutex_);
    if (finishing_) return;
    finishing_ = true;
    status_ = status;
    if (!status.ok()) outgoing_.clear();
    write_next();
  }

  Instant heard() const { return heard_.load(); }
  Instant told() const { return told_.load(); }
  bool member() const { return stage_ == Stage::kMember; }
  const std::string& host() const { return host_; }

 private:
  enum class Stage { kHello, kProof, kMember };

  void take_hello(const agents::v1::Hello& hello) {
    if (hello.version() != kAgentProtocol) {
      return refuse(PeerFault::kVersion, fmt::format("it speaks version {} and we speak {}",
                                                     hello.version(), kAgentProtocol));
    }
    if (hello.job() != server_.options_.job) {
      return refuse(PeerFault::kJob, "this is another job's agent");
    }
    const Result<std::string> nonce = make_nonce();
    const Result<std::string> credential =
        server_.credentials_.make(statement_of(server_.options_.job, "coordinator", hello.nonce()));
    if (!nonce || !credential) return turn_away("no credential can be made here");
    nonce_ = *nonce;
    node_ = hello.node();
    stage_ = Stage::kProof;
    agents::v1::FromCoordinator message;
    message.mutable_challenge()->set_nonce(nonce_);
    message.mutable_challenge()->set_credential(*credential);
    send(std::move(message));
  }

  void take_proof(const agents::v1::Proof& proof) {
    const Result<void> checked = server_.credentials_.check(
        proof.credential(),
        statement_of(server_.options_.job, fmt::format("node {}", node_.load()), nonce_));
    if (!checked) return refuse(PeerFault::kCredential, checked.error().message);
    stage_ = Stage::kMember;
    agents::v1::FromCoordinator message;
    message.mutable_welcome();
    send(std::move(message));
    if (!server_.welcome(this, node_)) turn_away("this node coordinates nobody");
  }

  bool ended() {
    const std::scoped_lock lock(mutex_);
    return finishing_;
  }

  // Under the lock.
  void write_next() {
    if (writing_) return;
    if (outgoing_.empty()) {
      if (finishing_ && !std::exchange(finished_, true)) Finish(status_);
      return;
    }
    writing_ = true;
    written_ = std::move(outgoing_.front());
    outgoing_.pop_front();
    StartWrite(&written_);
  }

  AgentServer& server_;
  const std::string host_;
  agents::v1::FromNode incoming_;
  std::atomic<Stage> stage_ = Stage::kHello;
  std::atomic<NodeNumber> node_ = 0;
  std::string nonce_;
  std::atomic<Instant> heard_, told_;

  std::mutex mutex_;  // all that follows
  std::deque<agents::v1::FromCoordinator> outgoing_;
  agents::v1::FromCoordinator written_;
  bool writing_ = false;
  bool finishing_ = false;
  bool finished_ = false;
  grpc::Status status_;
};

AgentServer::AgentServer(ServerOptions options, Credentials& credentials, Seat& seat, Clock& clock)
    : options_(std::move(options)), credentials_(credentials), seat_(seat), clock_(clock) {}

AgentServer::~AgentServer() {
  stop_coordinating("the agent ends");
  if (server_) server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
}

Result<void> AgentServer::listen() {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options_.address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(this);
  set_transport_limits(builder);
  server_ = builder.BuildAndStart();
  if (server_ && port != 0) return {};
  server_.reset();
  return Error{ErrorCode::kIo, fmt::format("nobody can listen on {}", options_.address),
               "another program may use the port: choose other ports in plugstack.conf"};
}

grpc::ServerBidiReactor<agents::v1::FromNode, agents::v1::FromCoordinator>* AgentServer::Decide(
    grpc::CallbackServerContext* context) {
  auto* peer = new Peer(*this, host_of_peer(context->peer()), clock_.now());  // ends in OnDone
  bool crowd = false;
  {
    const std::scoped_lock lock(mutex_);
    crowd = peers_.size() >= members_.size() + kMostUnproven;
    peers_.insert(peer);
  }
  if (crowd) peer->refuse(PeerFault::kCrowd, "too many connections");
  return peer;
}

bool AgentServer::welcome(Peer* peer, NodeNumber node) {
  const std::scoped_lock lock(mutex_);
  if (!group_ || node >= nodes_ || node == options_.self) return false;
  if (const auto old = members_.find(node); old != members_.end()) {
    // It came back before its old connection was known to be broken.
    old->second->turn_away("the same node has connected anew");
    members_.erase(old);
    group_->lost(node, clock_.now());
  }
  members_[node] = peer;
  if (options_.share_hosts) share_host(peer, node);
  // At once, because the node waits for it to know that we coordinate.
  agents::v1::FromCoordinator beat;
  beat.mutable_beat();
  peer->send(std::move(beat));
  group_->joined(node, clock_.now());
  return true;
}

// The newcomer hears of all members, and they of it.
void AgentServer::share_host(Peer* peer, NodeNumber node) {
  agents::v1::FromCoordinator all, one;
  const auto add = [](agents::v1::FromCoordinator& message, NodeNumber number, const Peer& who) {
    agents::v1::Roster::Place& place = *message.mutable_roster()->add_places();
    place.set_node(static_cast<std::uint32_t>(number));
    place.set_host(who.host());
  };
  add(one, node, *peer);
  for (const auto& [number, member] : members_) {
    add(all, number, *member);
    if (member != peer) member->send(one);
  }
  peer->send(std::move(all));
}

void AgentServer::take(Peer* peer, NodeNumber node, const NodeReport& report) {
  const std::scoped_lock lock(mutex_);
  const auto member = members_.find(node);
  if (!group_ || member == members_.end() || member->second != peer) return;
  group_->report(node, report, clock_.now());
}

void AgentServer::gone(Peer* peer) {
  const std::scoped_lock lock(mutex_);
  peers_.erase(peer);
  for (auto member = members_.begin(); member != members_.end(); ++member) {
    if (member->second != peer) continue;
    const NodeNumber node = member->first;
    members_.erase(member);
    if (group_) group_->lost(node, clock_.now());
    return;
  }
}

void AgentServer::send(NodeNumber node, const Order& order) {
  if (node == options_.self) return seat_.take(order);
  const auto member = members_.find(node);
  if (member == members_.end()) return;
  agents::v1::FromCoordinator message;
  *message.mutable_order() = to_message(order);
  member->second->send(std::move(message));
}

void AgentServer::coordinate(GroupTerms terms) {
  const std::scoped_lock lock(mutex_);
  nodes_ = terms.nodes.size();
  const Instant now = clock_.now();
  group_.emplace(
      std::move(terms), [this](NodeNumber node, const Order& order) { send(node, order); }, now);
  seat_.join();
  group_->joined(options_.self, now);
}

void AgentServer::stop_coordinating(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  if (!group_) return;
  group_.reset();
  members_.clear();
  for (Peer* peer : peers_) peer->turn_away(why);
  seat_.leave(why);
}

void AgentServer::step() {
  const std::scoped_lock lock(mutex_);
  if (!group_) return;
  const Instant now = clock_.now();
  const Seconds every = agent_beat(nodes_), silence_allowed = agent_silence(nodes_);
  const bool beat = !beat_ || now - *beat_ >= every;
  if (beat) beat_ = now;
  for (const NodeReport& report : seat_.reports(beat)) group_->report(options_.self, report, now);
  group_->step(now);
  agents::v1::FromCoordinator message;
  message.mutable_beat();
  for (Peer* peer : peers_) {
    const Seconds silence = now - peer->heard();
    if (silence > (peer->member() ? silence_allowed : kProofWithin)) {
      fault(PeerFault::kSlow);
      peer->finish(grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "silent for too long"));
    } else if (peer->member() && now - peer->told() >= every) {
      peer->send(message);
    }
  }
}

std::map<NodeNumber, NodeTotals> AgentServer::totals() const {
  const std::scoped_lock lock(mutex_);
  return group_ ? group_->totals() : std::map<NodeNumber, NodeTotals>();
}

bool AgentServer::coordinates() const {
  const std::scoped_lock lock(mutex_);
  return group_.has_value();
}

std::uint64_t AgentServer::count(PeerFault fault) const {
  return faults_[static_cast<std::size_t>(fault)];
}

std::string AgentServer::status() const {
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    text = group_ ? fmt::format("coordinates {} nodes, {} decisions", group_->members().size(),
                                group_->decisions())
                  : std::string("follows");
    if (group_ && !group_->trouble().empty()) text += ": " + group_->trouble();
  }
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i] == 0) continue;
    text += fmt::format(", refused for {}: {}", to_string(static_cast<PeerFault>(i)),
                        faults_[i].load());
  }
  return text;
}

}  // namespace hypermile
