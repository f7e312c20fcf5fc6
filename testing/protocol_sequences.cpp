// SPDX-License-Identifier: Apache-2.0
#include "testing/protocol_sequences.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lease/daemon/server.h"
#include "lease/daemon/service.h"
#include "lease/frame.h"
#include "testing/faulty_files.h"
#include "testing/faulty_gpu.h"
#include "testing/inline_port.h"
#include "testing/mortal_gpu.h"

namespace hypermile {
namespace {

constexpr int kGpus = 3;
constexpr uid_t kUsers = 5;  // 0 is root; 1 to 3 have a rule, 4 has none
constexpr double kLowestMhz = 345;
constexpr double kHighestMhz = 1500;

// Numbers from the bytes; zeros when they are used up.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  unsigned pick(unsigned count) { return next() % count; }
  std::uint8_t next() { return empty() ? std::uint8_t{0} : bytes_[at_++]; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

GpuUuid gpu_name(unsigned number) {
  return GpuUuid(fmt::format("GPU-{}", number));
}

DaemonConfig rules() {
  DaemonConfig config;
  Rule rule;
  rule.subjects.users = {1, 2, 3};
  rule.rights.bounds.sm_clock = KnobRange{kLowestMhz, kHighestMhz};
  rule.rights.longest_lease = Seconds(30);
  config.allow.rules = {rule};
  return config;
}

// A power limit is given back by setting what it was.
bool is_changed(const FakeGpu& card) {
  const Setting& held = card.held;
  const auto usual = card.capabilities().default_power_limit;
  return held.sm_clock || held.memory_clock || (held.power_limit && held.power_limit != usual);
}

// Cards, keepers and a disk; the ports answer at once.
struct Cards {
  explicit Cards(const Clock& clock) : files(FaultyFiles::Disk{}, fate) {
    for (unsigned i = 0; i < kGpus; ++i) {
      cards.push_back(std::make_unique<FakeGpu>(clock, gpu_name(i).text()));
      auto gpu = std::make_unique<MortalGpu>(*cards.back(), fate);
      auto keeper =
          GpuKeeper::make(std::move(gpu), files, clock, {"/state", "test", {"boot", ""}, {}, {}});
      ports.push_back(std::make_unique<InlinePort>(std::move(keeper).value()));
    }
  }
  std::vector<GpuPort*> pointers() const {
    std::vector<GpuPort*> all;
    for (const auto& port : ports) all.push_back(port.get());
    return all;
  }
  std::string changed() const {
    for (const auto& card : cards) {
      if (is_changed(*card)) return card->identity().uuid.text() + " is still changed";
    }
    return "";
  }

  Fate fate;
  FaultyFiles files;
  std::vector<std::unique_ptr<FakeGpu>> cards;
  std::vector<std::unique_ptr<InlinePort>> ports;
};

class ServiceSequence {
 public:
  explicit ServiceSequence(std::span<const std::uint8_t> bytes) : choices_(bytes), cards_(clock_) {
    Service::Options options;
    options.lives = [](pid_t) { return true; };
    service_ =
        std::make_unique<Service>(clock_, rules(), options, [](LogLevel, const std::string&) {});
    service_->serve_gpus(cards_.pointers());
  }

  std::string play() {
    while (!choices_.empty() && problem_.empty()) {
      step();
      check();
    }
    for (const auto& [connection, user] : users_) service_->connection_gone(connection);
    users_.clear();
    cards_.files.fail({1 << 30, 1});
    for (const auto& port : cards_.ports) {
      port->hold = false;
      port->try_again();
    }
    if (problem_.empty()) problem_ = cards_.changed();
    service_->stop();
    if (problem_.empty() && !service_->at_rest()) problem_ = "the service does not come to rest";
    return problem_;
  }

 private:
  struct User {
    uid_t uid = 0;
    LeaseId lease = 0;
    bool waits = false;
  };

  void step() {
    const ConnectionId connection = 1 + choices_.pick(6);
    User& user = users_.try_emplace(connection, User{choices_.pick(kUsers)}).first->second;
    switch (choices_.pick(12)) {
      case 0:
      case 1:
        return ask(connection, user, acquire());
      case 2:
      case 3:
      case 4:
        return ask(connection, user, wire::SetRequest{lease(user), any_gpu(), setting()});
      case 5:
        return ask(connection, user, wire::RenewRequest{lease(user)});
      case 6:
        return ask(connection, user, wire::ReleaseRequest{lease(user)});
      case 7:
        service_->connection_gone(connection);
        users_.erase(connection);
        return;
      case 8:
        clock_.advance(Seconds(choices_.pick(40) * 0.5));
        return service_->expire();
      case 9:
        return ask(connection, user, reset());
      case 10:
        return trouble();
      default:
        return ask(connection, user,
                   choices_.pick(2) == 0 ? wire::Request(wire::ListRequest{})
                                         : wire::Request(wire::StatusRequest{}));
    }
  }

  GpuUuid any_gpu() { return gpu_name(choices_.pick(kGpus + 1)); }
  LeaseId lease(const User& user) { return choices_.pick(4) == 0 ? choices_.next() : user.lease; }
  Setting setting() {
    Setting wanted;
    const unsigned kind = choices_.pick(4);
    if (kind != 1) wanted.sm_clock = Mhz(choices_.pick(2) == 0 ? 1410 : 10.0 * choices_.next());
    if (kind == 1) wanted.power_limit = Watts(200.0 + choices_.next());
    if (kind == 2) wanted.memory_clock = Mhz(3201);
    return wanted;
  }
  wire::AcquireRequest acquire() {
    wire::AcquireRequest request;
    for (unsigned i = 0; i <= choices_.pick(2); ++i) request.gpus.push_back(any_gpu());
    request.ttl = Seconds(0.05 + 0.1 * choices_.next());
    return request;
  }
  wire::ResetRequest reset() {
    wire::ResetRequest request;
    if (choices_.pick(2) == 0) request.gpus.push_back(any_gpu());
    request.close = choices_.pick(8) == 0;
    request.reopen = !request.close && choices_.pick(2) == 0;
    if (choices_.pick(2) == 0) request.hold = Seconds(choices_.next() + 1.0);
    return request;
  }

  // A GPU that hangs or works again, a reset that does nothing, a disk that fails for a while.
  void trouble() {
    const unsigned which = choices_.pick(kGpus);
    switch (choices_.pick(4)) {
      case 0:
        cards_.ports[which]->hold = !cards_.ports[which]->hold;
        return;
      case 1:
        return cards_.ports[which]->try_again();
      case 2:
        return cards_.files.fail({cards_.files.calls(), static_cast<int>(choices_.pick(9))});
      default:
        cards_.cards[which]->busy = choices_.pick(2) == 0 ? 0.9 : 0.1;
    }
  }

  void ask(ConnectionId connection, User& user, const wire::Request& request) {
    if (user.waits) return;  // a Server does not read the next request before the reply
    user.waits = true;
    const Peer peer{user.uid, {user.uid}, static_cast<pid_t>(100 + connection), user.uid == 0};
    service_->handle(connection, peer, request,
                     [this, connection, uid = user.uid](wire::Reply reply) {
                       answered(connection, uid, reply);
                     });
  }

  void answered(ConnectionId connection, uid_t uid, const wire::Reply& reply) {
    if (!wire::encode_reply({1, reply})) problem_ = "a reply does not fit into a frame";
    const auto* granted = std::get_if<wire::Granted>(&reply);
    if (granted != nullptr && uid == 4) problem_ = "a user without a rule has got a lease";
    const auto found = users_.find(connection);
    if (found == users_.end()) return;
    found->second.waits = false;
    if (granted != nullptr) found->second.lease = granted->lease;
  }

  void check() {
    const Peer anybody{4, {4}, 1, false};
    std::map<GpuUuid, int> holders;
    service_->handle(99, anybody, wire::ListRequest{}, [&](const wire::Reply& reply) {
      for (const wire::LeaseEntry& entry : std::get<wire::LeaseList>(reply).leases) {
        for (const wire::LeasedGpu& gpu : entry.gpus) {
          if (++holders[gpu.gpu] > 1) problem_ = gpu.gpu.text() + " has two holders";
          const auto& clock = gpu.requested.sm_clock;
          if (entry.lease != 0 && entry.uid != 0 && clock &&
              (clock->value() < kLowestMhz || clock->value() > kHighestMhz)) {
            problem_ = gpu.gpu.text() + " was set beyond the rule's bounds";
          }
          if (entry.lease != 0 && entry.uid == 4) problem_ = "a user without a rule holds a GPU";
        }
      }
    });
    for (const auto& card : cards_.cards) {
      const bool listed = holders.contains(card->identity().uuid);
      if (is_changed(*card) && !listed) problem_ = card->identity().uuid.text() + " is nobody's";
    }
  }

  Choices choices_;
  VirtualClock clock_;
  Cards cards_;
  std::unique_ptr<Service> service_;
  std::map<ConnectionId, User> users_;
  std::string problem_;
};

class ServerSequence {
 public:
  explicit ServerSequence(std::span<const std::uint8_t> bytes)
      : choices_(bytes),
        clock_(make_real_clock()),
        loop_(EventLoop::make(*clock_).value()),
        cards_(*clock_),
        service_(*clock_, allow_this_user(), {}, [](LogLevel, const std::string&) {}),
        server_(*loop_, *clock_, service_, [](LogLevel, const std::string&) {}) {
    service_.serve_gpus(cards_.pointers());
    connect(0);
  }

  std::string play() {
    for (int steps = 0; !choices_.empty() && problem_.empty() && steps < 64; ++steps) {
      step();
      pump();
      if (!answers_status()) problem_ = "the server does not answer a well-behaved client";
    }
    clients_.clear();
    pump();
    if (problem_.empty()) problem_ = cards_.changed();
    return problem_;
  }

 private:
  static DaemonConfig allow_this_user() {
    DaemonConfig config = rules();
    config.allow.rules.front().subjects.everyone = true;
    return config;
  }

  void connect(unsigned number) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
    clients_[number] = Descriptor(ends[0]);
    if (!server_.adopt(Descriptor(ends[1]), [] {})) problem_ = "a connection was refused";
  }

  // Lets the server handle what has arrived. The first task may come before other events of its
  // round, so the second one, which comes a round later, stops the loop.
  void pump() {
    for (int round = 0; round < 3; ++round) {
      loop_->poster()([this] { loop_->poster()([this] { loop_->stop(); }); });
      loop_->run();
    }
  }

  bool answers_status() {
    const auto frame = wire::encode_request({7, wire::StatusRequest{}});
    const Descriptor& client = clients_[0];
    if (::send(client.get(), frame->data(), frame->size(), MSG_NOSIGNAL) < 0) return false;
    pump();
    char buffer[4096];
    const ssize_t got = ::recv(client.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    return got > 0 &&
           cut_frame({buffer, static_cast<std::size_t>(got)}).state == CutFrame::State::kWhole;
  }

  std::string request() {
    const GpuUuid gpu = gpu_name(choices_.pick(kGpus + 1));
    const LeaseId lease = choices_.pick(8);
    switch (choices_.pick(7)) {
      case 0:
      case 1:
        return wire::encode_request({1, wire::AcquireRequest{{gpu}, Seconds(5), "x", ""}}).value();
      case 2:
      case 3:
        return wire::encode_request({2, wire::SetRequest{lease, gpu, {.sm_clock = Mhz(1410)}}})
            .value();
      case 4:
        return wire::encode_request({3, wire::RenewRequest{lease}}).value();
      case 5:
        return wire::encode_request({4, wire::ReleaseRequest{lease}}).value();
      default:
        return wire::encode_request({5, wire::ResetRequest{}}).value();
    }
  }

  void step() {
    const unsigned number = 1 + choices_.pick(4);
    if (!clients_.contains(number)) return connect(number);
    std::string bytes = request();
    switch (choices_.pick(6)) {
      case 0:  // damaged
        bytes[choices_.pick(static_cast<unsigned>(bytes.size()))] ^=
            static_cast<char>(1 + choices_.pick(255));
        break;
      case 1:  // cut off
        bytes.resize(choices_.pick(static_cast<unsigned>(bytes.size())));
        break;
      case 2:  // many at once, whose replies are not read
        for (int i = 0; i < 20; ++i) bytes += request();
        break;
      case 3:
        clients_.erase(number);
        return;
      default:
        break;
    }
    (void)::send(clients_[number].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  Choices choices_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<EventLoop> loop_;
  Cards cards_;
  Service service_;
  Server server_;
  std::map<unsigned, Descriptor> clients_;
  std::string problem_;
};

}  // namespace

std::string play_service_sequence(std::span<const std::uint8_t> bytes) {
  return ServiceSequence(bytes).play();
}

std::string play_server_sequence(std::span<const std::uint8_t> bytes) {
  return ServerSequence(bytes).play();
}

}  // namespace hypermile
