// SPDX-License-Identifier: Apache-2.0
//
// The daemon's connections: accepts them within limits, decodes requests for the Service, encodes
// its replies, and informs it when a client is gone. Whatever a client sends or fails to send costs
// the daemon one bounded buffer and, after a deadline, nothing. Runs on the loop's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "lease/daemon/event_loop.h"
#include "lease/daemon/listener.h"
#include "lease/daemon/log.h"
#include "lease/daemon/peer.h"
#include "lease/daemon/service.h"
#include "lease/protocol/framed_socket.h"

namespace hypermile {

class Server {
 public:
  // All arguments must outlive this.
  Server(EventLoop& loop, Clock& clock, Service& service, Log log);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Result<void> listen(const std::string& path, const std::string& lock_path);
  // Serves one connected socket; calls `gone` when the connection has ended.
  Result<void> adopt(Descriptor socket, std::function<void()> gone);
  // Accepts no new connections; existing ones stay.
  void stop_listening();

  // Time for a client to complete a frame that it began, and to receive a reply.
  static constexpr Seconds kFrameDeadline = Seconds(2);
  // Connections beyond the configured number, so that an administrator can still connect.
  static constexpr std::size_t kReservedForRoot = 16;

 private:
  struct Client {
    Client(Descriptor socket, Peer who) : stream(std::move(socket)), peer(std::move(who)) {}

    FramedSocket stream;
    Peer peer;
    Descriptor process;
    EventLoop::WatchId socket_watch = 0;
    EventLoop::WatchId process_watch = 0;
    std::uint32_t watched = 0;  // events watched on the socket
    std::optional<EventLoop::TimerId> deadline = {};
    Instant active = {};      // when it last asked, or connected
    bool asking = false;      // the Service has a request of this client
    bool sending = false;     // a reply is not completely sent
    bool last_words = false;  // close the connection once that reply is sent
    std::function<void()> gone = {};
  };

  void accept_all();
  Result<void> admit(Descriptor socket);
  Result<void> check_room(const Peer& peer);
  bool make_room(const Peer& peer);
  Result<void> add(Descriptor socket, Descriptor process, Peer peer, std::function<void()> gone);
  void on_socket(ConnectionId id, std::uint32_t events);
  void serve(ConnectionId id);
  void ask(ConnectionId id, const std::string& body);
  void answer(ConnectionId id, std::uint64_t sequence, const wire::Reply& reply);
  void send(ConnectionId id, const wire::Numbered<wire::Reply>& reply);
  void update(ConnectionId id);
  void close(ConnectionId id);
  void schedule_expiry();

  EventLoop& loop_;
  Clock& clock_;
  Service& service_;
  Log log_;
  std::unique_ptr<Listener> listener_;
  EventLoop::WatchId listener_watch_ = 0;
  std::map<ConnectionId, std::unique_ptr<Client>> clients_;
  std::map<uid_t, std::size_t> per_user_;
  ConnectionId next_connection_ = 1;
  std::optional<Instant> expiry_;  // time to which the timer is set
  EventLoop::TimerId expiry_timer_ = 0;
};

}  // namespace hypermile
