// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>

#include "lease/daemon/service.h"
#include "testing/protocol_sequences.h"
#include "testing/sequence_cards.h"

namespace hypermile {
namespace {

constexpr uid_t kUsers = 5;  // 0 is root; 1 to 3 have a rule, 4 has none

class ServiceSequence {
 public:
  explicit ServiceSequence(std::span<const std::uint8_t> bytes) : choices_(bytes), cards_(clock_) {
    Service::Options options;
    options.lives = [](pid_t) { return true; };
    service_ = std::make_unique<Service>(clock_, sequence_rules(), options,
                                         [](LogLevel, const std::string&) {});
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

  GpuUuid any_gpu() { return sequence_gpu(choices_.pick(kSequenceGpus + 1)); }
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
    const unsigned which = choices_.pick(kSequenceGpus);
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

  SequenceChoices choices_;
  VirtualClock clock_;
  SequenceCards cards_;
  std::unique_ptr<Service> service_;
  std::map<ConnectionId, User> users_;
  std::string problem_;
};

}  // namespace

std::string play_service_sequence(std::span<const std::uint8_t> bytes) {
  return ServiceSequence(bytes).play();
}

}  // namespace hypermile
