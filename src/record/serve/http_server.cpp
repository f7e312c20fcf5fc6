// SPDX-License-Identifier: Apache-2.0
#include "record/serve/http_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace hypermile {
namespace {

using std::chrono::steady_clock;

constexpr auto kReceive = std::chrono::seconds(5);  // for the whole request
constexpr auto kSend = std::chrono::seconds(30);    // a page of 1 MB over a slow line
constexpr int kLookAgainMs = 500;                   // deadlines, and a descriptor that was missing
constexpr int kBacklog = 256;

const char* words_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return status < 500 ? "Bad Request" : "Error";
  }
}

std::string bytes_of(const HttpResponse& response, bool with_body) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Length: {}\r\nConnection: close\r\n"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\n",
      response.status, words_of(response.status), response.body.size());
  if (!response.body.empty()) text += fmt::format("Content-Type: {}\r\n", response.type);
  for (const auto& [name, value] : response.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n";
  if (with_body) text += response.body;
  return text;
}

Error cannot_listen(const ListenAddress& address, int reason) {
  const bool taken = reason == EADDRINUSE;
  return Error{taken ? ErrorCode::kBusy : ErrorCode::kIo,
               fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                           reason != 0 ? std::strerror(reason) : "no such address here"),
               taken ? "another program has that port: choose another, or 0 for any free one"
                     : "give an address of this machine and a port above 1023"};
}

// The addresses are numbers or "localhost", so nobody is asked over a network.
Result<Descriptor> listen_on(const ListenAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found) != 0 || found == nullptr)
    return cannot_listen(address, 0);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  int reason = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Descriptor listener(
        ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, each->ai_protocol));
    const int yes = 1;
    if (listener) ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener && ::bind(listener.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(listener.get(), kBacklog) == 0)
      return listener;
    reason = errno;
  }
  return cannot_listen(address, reason);
}

int port_of(int listener) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  char port[8] = "";
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&bound), length, nullptr, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0)
    return 0;
  return std::atoi(port);
}

}  // namespace

struct HttpServer::Connection {
  Descriptor socket;
  steady_clock::time_point deadline;
  std::string received;
  std::string answer;  // "" until the request is complete
  std::size_t sent = 0;
};

HttpServer::HttpServer(Descriptor listener, int port, Handler handler)
    : listener_(std::move(listener)),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      port_(port),
      handler_(std::move(handler)) {}

HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::bind(const ListenAddress& address,
                                                     Handler handler) {
  ASSIGN_OR_RETURN(Descriptor listener, listen_on(address));
  const int port = port_of(listener.get());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener), port, std::move(handler)));
}

void HttpServer::serve(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { ::eventfd_write(wake_.get(), 1); });
  std::vector<pollfd> watched;
  while (!stop.stop_requested()) {
    watched = {{wake_.get(), POLLIN, 0}, {full_ ? -1 : listener_.get(), POLLIN, 0}};
    for (const auto& each : connections_)
      watched.push_back(
          {each->socket.get(), static_cast<short>(each->answer.empty() ? POLLIN : POLLOUT), 0});
    ::poll(watched.data(), watched.size(), kLookAgainMs);
    full_ = false;
    const auto now = steady_clock::now();
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      std::unique_ptr<Connection>& each = connections_[i];
      const bool ready = watched[i + 2].revents != 0;
      if ((ready && !advance(*each)) || now >= each->deadline) each.reset();
    }
    std::erase(connections_, nullptr);
    if (watched[1].revents != 0) accept_all();
  }
  connections_.clear();
}

// A request usually lies in the first packet, so most connections are over when this returns.
void HttpServer::accept_all() {
  for (std::size_t i = 0; i < kMostConnections; ++i) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      full_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      return;
    }
    auto made = std::make_unique<Connection>();
    made->socket = std::move(socket);
    made->deadline = steady_clock::now() + kReceive;
    if (!advance(*made)) continue;
    if (connections_.size() >= kMostConnections) make_room();
    connections_.push_back(std::move(made));
  }
}

// Who has sent a whole request is closed last.
void HttpServer::make_room() {
  const auto silent =
      std::ranges::find_if(connections_, [](const auto& each) { return each->answer.empty(); });
  connections_.erase(silent != connections_.end() ? silent : connections_.begin());
}

bool HttpServer::advance(Connection& connection) {
  if (connection.answer.empty() && !receive(connection)) return false;
  return connection.answer.empty() || send(connection);
}

bool HttpServer::receive(Connection& connection) {
  char buffer[4096];
  const ssize_t got = ::recv(connection.socket.get(), buffer, sizeof buffer, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  connection.received.append(buffer, static_cast<std::size_t>(got));
  const ParsedHead head = parse_head(connection.received);
  if (!head.complete) return true;
  HttpResponse response;
  const bool head_only = head.request.method == "HEAD";
  if (head.status != 200) {
    response = {head.status, "text/plain; charset=utf-8", "this is no request that can be read\n"};
  } else if (!head_only && head.request.method != "GET") {
    response = {405,
                "text/plain; charset=utf-8",
                "there is only something to read here\n",
                {{"Allow", "GET, HEAD"}}};
  } else {
    response = handler_(head.request);
  }
  connection.answer = bytes_of(response, !head_only);
  connection.deadline = steady_clock::now() + kSend;
  return true;
}

bool HttpServer::send(Connection& connection) {
  while (connection.sent < connection.answer.size()) {
    const ssize_t sent = ::send(connection.socket.get(), connection.answer.data() + connection.sent,
                                connection.answer.size() - connection.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    connection.sent += static_cast<std::size_t>(sent);
  }
  ::shutdown(connection.socket.get(), SHUT_WR);
  return false;
}

}  // namespace hypermile
