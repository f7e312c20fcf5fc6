// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "lease/daemon/server.h"
#include "lease/daemon/service.h"
#include "lease/frame.h"
#include "testing/protocol_sequences.h"
#include "testing/sequence_cards.h"

namespace hypermile {
namespace {

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
    DaemonConfig config = sequence_rules();
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
    const GpuUuid gpu = sequence_gpu(choices_.pick(kSequenceGpus + 1));
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

  SequenceChoices choices_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<EventLoop> loop_;
  SequenceCards cards_;
  Service service_;
  Server server_;
  std::map<unsigned, Descriptor> clients_;
  std::string problem_;
};

}  // namespace

std::string play_server_sequence(std::span<const std::uint8_t> bytes) {
  return ServerSequence(bytes).play();
}

}  // namespace hypermile
