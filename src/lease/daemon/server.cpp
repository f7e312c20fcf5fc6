// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/server.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <utility>

namespace hypermile {

Server::Server(EventLoop& loop, Clock& clock, Service& service, Log log)
    : loop_(loop), clock_(clock), service_(service), log_(std::move(log)) {}

Server::~Server() {
  stop_listening();
  for (const auto& [id, client] : clients_) {
    loop_.unwatch(client->socket_watch);
    loop_.unwatch(client->process_watch);
  }
}

Result<void> Server::listen(const std::string& path, const std::string& lock_path) {
  ASSIGN_OR_RETURN(listener_, Listener::open(path, lock_path));
  ASSIGN_OR_RETURN(listener_watch_,
                   loop_.watch(listener_->fd(), EPOLLIN, [this](std::uint32_t) { accept_all(); }));
  return {};
}

void Server::stop_listening() {
  if (!listener_) return;
  loop_.unwatch(listener_watch_);
  listener_.reset();
}

void Server::accept_all() {
  // A bounded number at a time, so that a flood of connections does not delay renewals.
  for (int i = 0; i < 16; ++i) {
    Result<Descriptor> socket = listener_->accept();
    if (!socket) {
      if (socket.error().code != ErrorCode::kNotReady) {
        log_(LogLevel::kWarning, socket.error().line());
      }
      return;
    }
    const Result<void> admitted = admit(*std::move(socket));
    if (!admitted) log_(LogLevel::kWarning, admitted.error().line());
  }
}

Result<void> Server::admit(Descriptor socket) {
  ASSIGN_OR_RETURN(Peer peer, identify_peer(socket.get()));
  ASSIGN_OR_RETURN(Descriptor process, open_process_handle(socket.get(), peer));
  peer.privileged = is_privileged(peer, process);
  const Result<void> room = check_room(peer);
  if (room) return add(std::move(socket), std::move(process), std::move(peer), {});
  // The reason fits into the buffer of a new socket; a client that does not read it sees the
  // connection close.
  FramedSocket turned_away(std::move(socket));
  if (const auto frame = wire::encode_reply({0, room.error()})) turned_away.put(*frame);
  (void)turned_away.flush();
  return {};
}

// Closes the connection that has been idle for longest, of the user who has most connections. So a
// user who fills the daemon with connections loses them first, and gets no room for another.
bool Server::make_room(const Peer& peer) {
  const auto count = [&](uid_t uid) {
    const auto found = per_user_.find(uid);
    return found != per_user_.end() ? found->second : 0;
  };
  std::optional<ConnectionId> chosen;
  for (const auto& [id, client] : clients_) {
    if (client->asking || client->sending || client->peer.privileged || client->gone ||
        service_.holds_a_lease(id) || count(client->peer.uid) <= count(peer.uid) + 1) {
      continue;
    }
    const auto rank = [&](ConnectionId one) {
      const Client& candidate = *clients_.at(one);
      return std::pair(count(candidate.peer.uid), -candidate.active.since_origin().value());
    };
    if (!chosen || rank(id) > rank(*chosen)) chosen = id;
  }
  if (!chosen) return false;
  close(*chosen);
  return true;
}

Result<void> Server::check_room(const Peer& peer) {
  const DaemonConfig& config = service_.config();
  const std::size_t most = config.connections + (peer.privileged ? kReservedForRoot : 0);
  if (clients_.size() >= most && !make_room(peer)) {
    return Error{ErrorCode::kBusy, "the daemon has too many connections",
                 "try again later; [limits] connections in hypermiled.toml sets how many"};
  }
  const auto count = per_user_.find(peer.uid);
  if (!peer.privileged && count != per_user_.end() &&
      count->second >= config.connections_per_user) {
    return Error{ErrorCode::kBusy,
                 fmt::format("user {} already has {} connections, the most allowed", peer.uid,
                             count->second),
                 "close some; [limits] connections_per_user in hypermiled.toml sets how many"};
  }
  return {};
}

Result<void> Server::adopt(Descriptor socket, std::function<void()> gone) {
  ASSIGN_OR_RETURN(Peer peer, identify_peer(socket.get()));
  ASSIGN_OR_RETURN(Descriptor process, open_process_handle(socket.get(), peer));
  return add(std::move(socket), std::move(process), std::move(peer), std::move(gone));
}

Result<void> Server::add(Descriptor socket, Descriptor process, Peer peer,
                         std::function<void()> gone) {
  const ConnectionId id = next_connection_++;
  auto client = std::make_unique<Client>(std::move(socket), std::move(peer));
  client->watched = EPOLLIN | EPOLLRDHUP;
  client->process = std::move(process);
  if (client->process) {
    ASSIGN_OR_RETURN(client->process_watch, loop_.watch(client->process.get(), EPOLLIN,
                                                        [this, id](std::uint32_t) { close(id); }));
  }
  auto watch = loop_.watch(client->stream.fd(), client->watched,
                           [this, id](std::uint32_t events) { on_socket(id, events); });
  if (!watch) {
    loop_.unwatch(client->process_watch);
    return watch.error();
  }
  client->socket_watch = *watch;
  client->active = clock_.now();
  client->gone = std::move(gone);
  ++per_user_[client->peer.uid];
  clients_.emplace(id, std::move(client));
  return {};
}

void Server::on_socket(ConnectionId id, std::uint32_t events) {
  // A client that closes the connection needs no reply, and its lease ends with it.
  if ((events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) return close(id);
  Client& client = *clients_.at(id);
  if ((events & EPOLLOUT) != 0) {
    const Result<bool> sent = client.stream.flush();
    if (!sent) return close(id);
    client.sending = !*sent;
  }
  if ((events & EPOLLIN) != 0) {
    const Result<void> filled = client.stream.fill();
    if (!filled && filled.error().code != ErrorCode::kNotReady) return close(id);
  }
  serve(id);
}

// Handles requests one after another until one has to wait, then updates what to wait for.
void Server::serve(ConnectionId id) {
  for (;;) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    Client& client = *found->second;
    if (client.asking || client.sending || client.last_words) break;
    const Result<std::optional<std::string>> body = client.stream.take();
    if (!body) {
      client.last_words = true;
      send(id, {0, body.error()});
      break;
    }
    if (!*body) break;
    ask(id, **body);
  }
  update(id);
  schedule_expiry();
}

void Server::ask(ConnectionId id, const std::string& body) {
  Client& client = *clients_.at(id);
  if (client.deadline) loop_.cancel(*client.deadline);  // each frame has its own deadline
  client.deadline.reset();
  const auto request = wire::decode_request(body);
  if (!request) {
    client.last_words = true;
    return send(id, {0, request.error()});
  }
  client.asking = true;
  client.active = clock_.now();
  // The reply may arrive within the call, or long after the client is gone.
  const auto within = std::make_shared<bool>(true);
  service_.handle(id, client.peer, request->message,
                  [this, id, within, sequence = request->sequence](wire::Reply reply) {
                    answer(id, sequence, reply);
                    if (!*within) serve(id);
                  });
  *within = false;
}

void Server::answer(ConnectionId id, std::uint64_t sequence, const wire::Reply& reply) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  found->second->asking = false;
  send(id, {sequence, reply});
}

void Server::send(ConnectionId id, const wire::Numbered<wire::Reply>& reply) {
  Client& client = *clients_.at(id);
  Result<std::string> frame = wire::encode_reply(reply);
  if (!frame) frame = wire::encode_reply({reply.sequence, frame.error()});
  client.stream.put(*frame);
  const Result<bool> sent = client.stream.flush();
  if (!sent) client.last_words = true;
  client.sending = sent && !*sent;
}

// Updates which events to wait for on the client's socket, and until when.
void Server::update(ConnectionId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = *found->second;
  if (client.last_words && !client.sending) return close(id);
  std::uint32_t events = EPOLLRDHUP;
  if (client.sending) events |= EPOLLOUT;
  if (!client.sending && !client.asking) events |= EPOLLIN;
  if (events != client.watched) loop_.change(client.socket_watch, client.watched = events);
  const bool pressed = client.sending || (!client.asking && client.stream.in_frame());
  if (pressed && !client.deadline) {
    client.deadline = loop_.at(clock_.now() + kFrameDeadline, [this, id] { close(id); });
  } else if (!pressed && client.deadline) {
    loop_.cancel(*client.deadline);
    client.deadline.reset();
  }
}

void Server::close(ConnectionId id) {
  auto node = clients_.extract(id);
  if (node.empty()) return;
  Client& client = *node.mapped();
  loop_.unwatch(client.socket_watch);
  loop_.unwatch(client.process_watch);
  if (client.deadline) loop_.cancel(*client.deadline);
  const auto count = per_user_.find(client.peer.uid);
  if (--count->second == 0) per_user_.erase(count);
  service_.connection_gone(id);
  schedule_expiry();
  if (client.gone) client.gone();
}

void Server::schedule_expiry() {
  const std::optional<Instant> next = service_.next_deadline();
  // A timer that fires too early does no harm.
  if (!next || (expiry_ && *expiry_ <= *next)) return;
  loop_.cancel(expiry_timer_);
  expiry_ = next;
  expiry_timer_ = loop_.at(*next, [this] {
    expiry_.reset();
    service_.expire();
    schedule_expiry();
  });
}

}  // namespace hypermile
