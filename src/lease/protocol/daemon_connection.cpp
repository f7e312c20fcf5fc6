// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/daemon_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

using std::chrono::steady_clock;

constexpr timeval kConnect{0, 500'000};  // a daemon that runs takes a client in within milliseconds

Error no_answer() {
  return Error{ErrorCode::kTimeout, "the daemon did not answer in time",
               "see 'systemctl status hypermiled'"};
}

// Waits until the socket is ready for `events`; kTimeout at `until`.
Result<void> wait_for(int fd, short events, steady_clock::time_point until) {
  for (;;) {
    const std::chrono::duration<double, std::milli> left = until - steady_clock::now();
    pollfd watched{fd, events, 0};
    const int ready =
        ::poll(&watched, 1, static_cast<int>(std::clamp(std::ceil(left.count()), 0.0, 1e9)));
    if (ready > 0) return {};
    if (ready == 0 && steady_clock::now() >= until) {
      return no_answer();
    }
    if (ready < 0 && errno != EINTR) return Error{ErrorCode::kIo, std::strerror(errno)};
  }
}

}  // namespace

Result<DaemonConnection> DaemonConnection::connect(const std::string& path) {
  ASSIGN_OR_RETURN(const SocketAddress address, socket_address(path));
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error{ErrorCode::kIo, std::strerror(errno)};
  // This bounds connect() too, which waits where a daemon that is stopped has a full queue.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kConnect, sizeof(kConnect));
  if (::connect(socket.get(), address.get(), address.length()) != 0) {
    const int code = errno;
    if (code == EAGAIN) return no_answer();
    const bool nobody = code == ENOENT || code == ECONNREFUSED || code == ENOTDIR;
    return Error{nobody           ? ErrorCode::kNotFound
                 : code == EACCES ? ErrorCode::kPermission
                                  : ErrorCode::kIo,
                 nobody ? fmt::format("no daemon serves {}", path)
                        : fmt::format("cannot reach {}: {}", path, std::strerror(code)),
                 "see 'hypermile doctor'"};
  }
  return DaemonConnection(std::move(socket));
}

Result<wire::Reply> DaemonConnection::call(const wire::Request& request, Seconds deadline) {
  const auto until = steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                               std::chrono::duration<double>(deadline.value()));
  ASSIGN_OR_RETURN(const std::string frame, wire::encode_request({++sequence_, request}));
  stream_.put(frame);
  // A refusal sent before the request was read, such as that of the connection itself, still
  // arrives. So look for replies before reporting a failure to send.
  Result<bool> sent = stream_.flush();
  while (sent && !*sent) {
    RETURN_IF_ERROR(wait_for(stream_.fd(), POLLOUT, until));
    sent = stream_.flush();
  }
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<std::string> body, stream_.take());
    if (body) {
      ASSIGN_OR_RETURN(auto reply, wire::decode_reply(*body));
      // Number 0 concerns the whole connection. A lower number answers a request whose deadline has
      // passed.
      if (reply.sequence != 0 && reply.sequence != sequence_) continue;
      if (const Error* refused = std::get_if<Error>(&reply.message)) return *refused;
      return std::move(reply.message);
    }
    const Result<void> filled = stream_.fill();
    if (filled) continue;
    if (filled.error().code != ErrorCode::kNotReady) return filled.error();
    if (!sent) return sent.error();
    RETURN_IF_ERROR(wait_for(stream_.fd(), POLLIN, until));
  }
}

}  // namespace hypermile
