// SPDX-License-Identifier: Apache-2.0
//
// What a coordinating agent costs: `agents_evidence coordinator ADDRESS NODES SECONDS` is one, in a
// process of its own; `agents_evidence nodes ADDRESS NODES SECONDS` is all others, over loopback
// gRPC, each with a Window every 2 s or so. The coordinator prints messages and bytes a second, its
// share of one core, and the time from the last Window of an order to the next order.
// scripts/evidence/agents runs both for 8, 64 and 512 nodes and writes docs/evidence/agents.md.
#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "agent/follower.h"
#include "agent/messages.h"
#include "agent/server.h"
#include "agent/transport.h"
#include "base/random.h"

namespace hypermile {
namespace {

using Steady = std::chrono::steady_clock;

// Proves nothing: what MUNGE costs is paid once a connection, not here.
class OpenCredentials final : public Credentials {
 public:
  Result<std::string> make(const std::string& statement) override { return statement; }
  Result<void> check(const std::string&, const std::string&) override { return {}; }
};

PhaseTerms card_terms() {
  PhaseTerms terms;
  terms.settings = {{}};
  for (int mhz = 1980; mhz >= 600; mhz -= 15) terms.settings.push_back({Mhz(mhz), {}, {}});
  terms.window_iterations = 50;
  terms.typical = milliseconds(40);
  terms.default_values = {Mhz(1980), {}, Watts(700)};
  return terms;
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int coordinate(const std::string& address, std::size_t nodes, double seconds) {
  const auto clock = make_real_clock();
  OpenCredentials credentials;
  Seat seat;
  AgentServer server({address, "1.0", 0}, credentials, seat, *clock);
  if (const auto listening = server.listen(); !listening) {
    fmt::print(stderr, "{}\n", listening.error().line());
    return 1;
  }
  GroupTerms terms;
  for (std::size_t i = 0; i < nodes; ++i) terms.nodes.push_back(fmt::format("n{}", i));
  server.coordinate(std::move(terms));
  // Its own node takes part: it reports a Window as soon as it is ordered one.
  seat.begin(0, card_terms());
  const auto begin = Steady::now();
  std::optional<Steady::time_point> complete;
  double cpu = 0;
  std::uint64_t last = 0;
  while (Steady::now() - begin < std::chrono::duration<double>(seconds + 30)) {
    server.step();
    const Order order = seat.order(0);
    if (order.id != 0 && order.id != last) {
      last = order.id;
      if (!complete) {  // the group is complete: measured from here on
        complete = Steady::now();
        cpu = cpu_seconds();
      }
      Window window;
      window.setting = order.setting;
      window.duration = Seconds(2);
      window.iterations = 50;
      window.time_per_iteration = milliseconds(40);
      window.power = Watts(8 * 500);
      window.time_error = window.power_error = 0.002;
      seat.report(0, order.id, window);
    }
    if (complete && Steady::now() - *complete > std::chrono::duration<double>(seconds)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // as an agent does
  }
  const bool all = server.status().starts_with(fmt::format("coordinates {} nodes", nodes));
  if (!complete || !all || server.count(PeerFault::kSlow) > 0) {
    fmt::print(stderr, "the nodes were not all there: {}\n", server.status());
    return 1;
  }
  const double passed = std::chrono::duration<double>(Steady::now() - *complete).count();
  fmt::print("{{\"cpu_share\": {:.4f}, \"seconds\": {:.1f}, \"status\": \"{}\"}}\n",
             (cpu_seconds() - cpu) / passed, passed, server.status());
  return 0;
}

// One node: a stream of its own on a shared thread, through gRPC's callbacks.
class Node final
    : public grpc::ClientBidiReactor<agents::v1::FromNode, agents::v1::FromCoordinator> {
 public:
  struct Load {
    std::atomic<std::uint64_t> sent = 0, received = 0, sent_bytes = 0, received_bytes = 0;
    std::atomic<bool> over = false;  // the coordinator has ended
    std::mutex mutex;
    std::map<std::uint64_t, Steady::time_point> last_window;  // by order
    std::map<std::uint64_t, Steady::time_point> ordered;
  };

  Node(agents::v1::Agents::Stub& stub, std::uint32_t number, std::size_t nodes, Load& load)
      : load_(load), random_(number), period_(agent_beat(nodes).value()) {
    stub.async()->Decide(&context_, this);
    agents::v1::FromNode hello;
    hello.mutable_hello()->set_version(kAgentProtocol);
    hello.mutable_hello()->set_job("1.0");
    hello.mutable_hello()->set_node(number);
    hello.mutable_hello()->set_nonce("0123456789abcdef");
    put(hello);
    StartRead(&incoming_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) load_.over = true;
    if (!ok) return;
    ++load_.received;
    load_.received_bytes += incoming_.ByteSizeLong();
    if (incoming_.has_challenge()) {
      agents::v1::FromNode proof;
      proof.mutable_proof()->set_credential("x");
      put(proof);
    } else if (incoming_.has_welcome()) {
      member_ = true;
      NodeReport report;
      report.generation = 1;
      report.terms = card_terms();
      put_report(report);
    } else if (incoming_.has_order()) {
      const std::scoped_lock lock(load_.mutex);
      const auto now = Steady::now();
      load_.ordered.try_emplace(incoming_.order().id(), now);
      order_ = *from_message(incoming_.order());
      // Nodes of one job end an iteration together, and are seen to some ten milliseconds apart.
      due_ = now + std::chrono::milliseconds(1900 + static_cast<int>(random_.uniform() * 60));
    }
    StartRead(&incoming_);
  }
  void OnWriteDone(bool) override {
    const std::scoped_lock lock(mutex_);
    writing_ = false;
    write_next();
  }
  void OnDone(const grpc::Status&) override {}

  void tick(Steady::time_point now) {
    NodeReport report;
    {
      const std::scoped_lock lock(load_.mutex);
      if (!order_ || now < due_) {
        if (!member_ || now - beat_ < period_) return;
      } else {
        report = window_report();
        load_.last_window[order_->id] = now;
        order_.reset();
      }
    }
    beat_ = now;
    report.generation = 1;
    put_report(report);
  }

  void stop() { context_.TryCancel(); }

 private:
  NodeReport window_report() {
    NodeReport report;
    report.order = order_->id;
    const double ratio = order_->setting.sm_clock.value_or(Mhz(1980)).value() / 1980;
    Window window;
    window.setting = order_->setting;
    window.duration = Seconds(2);
    window.iterations = 50;
    window.time_per_iteration = milliseconds(40) * (0.6 + 0.4 / ratio);
    window.power = Watts(8 * 500 * (0.4 + 0.6 * std::pow(ratio, 3)));
    window.time_error = window.power_error = 0.002;
    window.sm_clock = Mhz(1980 * ratio);
    report.window = window;
    return report;
  }
  void put_report(const NodeReport& report) {
    agents::v1::FromNode message;
    *message.mutable_report() = to_message(report);
    put(std::move(message));
  }
  void put(agents::v1::FromNode message) {
    const std::scoped_lock lock(mutex_);
    outgoing_.push_back(std::move(message));
    write_next();
  }
  void write_next() {
    if (writing_ || outgoing_.empty()) return;
    writing_ = true;
    written_ = std::move(outgoing_.front());
    outgoing_.erase(outgoing_.begin());
    ++load_.sent;
    load_.sent_bytes += written_.ByteSizeLong();
    StartWrite(&written_);
  }

  Load& load_;
  Random random_;
  const std::chrono::duration<double> period_;
  std::atomic<bool> member_ = false;
  grpc::ClientContext context_;
  agents::v1::FromCoordinator incoming_;
  std::optional<Order> order_;  // under load_.mutex, as due_
  Steady::time_point due_, beat_;
  std::mutex mutex_;
  std::vector<agents::v1::FromNode> outgoing_;
  agents::v1::FromNode written_;
  bool writing_ = false;
};

int load(const std::string& address, std::size_t nodes, double seconds) {
  Node::Load load;
  std::vector<std::unique_ptr<agents::v1::Agents::Stub>> stubs;
  std::vector<std::unique_ptr<Node>> all;
  for (std::uint32_t i = 1; i < nodes; ++i) {
    stubs.push_back(agents::v1::Agents::NewStub(open_channel(address)));
    all.push_back(std::make_unique<Node>(*stubs.back(), i, nodes, load));
    if (i % 16 != 0) continue;
    // Nodes of a step do not start at one instant, and each speaks from its own beginning on.
    for (const auto until = Steady::now() + std::chrono::milliseconds(150);
         Steady::now() < until;) {
      for (const auto& node : all) node->tick(Steady::now());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  load.sent = load.received = load.sent_bytes = load.received_bytes = 0;
  const auto begin = Steady::now();
  while (!load.over && Steady::now() - begin < std::chrono::duration<double>(seconds)) {
    const auto now = Steady::now();
    for (const auto& node : all) node->tick(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double passed = std::chrono::duration<double>(Steady::now() - begin).count();
  std::vector<double> delays;
  {
    const std::scoped_lock lock(load.mutex);
    for (const auto& [order, at] : load.last_window) {
      const auto next = load.ordered.upper_bound(order);
      if (next != load.ordered.end() && next->second > at) {
        delays.push_back(std::chrono::duration<double>(next->second - at).count() * 1e3);
      }
    }
  }
  std::ranges::sort(delays);
  const auto quantile = [&](double q) {
    return delays.empty()
               ? -1
               : delays[static_cast<std::size_t>(q * static_cast<double>(delays.size() - 1))];
  };
  fmt::print(
      "{{\"messages_per_s\": {:.0f}, \"bytes_per_s\": {:.0f}, \"orders\": {}, \"p50_ms\": {:.1f}, "
      "\"p99_ms\": {:.1f}}}\n",
      static_cast<double>(load.sent + load.received) / passed,
      static_cast<double>(load.sent_bytes + load.received_bytes) / passed, delays.size(),
      quantile(0.5), quantile(0.99));
  std::fflush(stdout);
  ::_exit(0);  // hundreds of streams need no farewell
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as an agent does
  if (argc != 5) return 2;
  const std::string role = argv[1];
  const auto nodes = static_cast<std::size_t>(std::stoul(argv[3]));
  const double seconds = std::stod(argv[4]);
  return role == "coordinator" ? hypermile::coordinate(argv[2], nodes, seconds)
                               : hypermile::load(argv[2], nodes, seconds);
}
