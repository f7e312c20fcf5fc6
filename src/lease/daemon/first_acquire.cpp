// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/first_acquire.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "lease/daemon/server.h"
#include "lease/frame.h"
#include "lease/protocol/message.h"

namespace hypermile {
namespace {

constexpr Seconds kRestOfFrame = milliseconds(10);  // until an incomplete frame is read again

void look(EventLoop& loop, Clock& clock, int socket, Instant latest,
          const std::function<void(Result<std::vector<GpuUuid>>)>& asked) {
  const auto found = peek_first_acquire(socket);
  if (!found) return asked(found.error());
  if (*found) return asked(**found);
  if (clock.now() >= latest) {
    return asked(Error{ErrorCode::kTimeout, "the owner did not complete its first request"});
  }
  loop.at(clock.now() + kRestOfFrame,
          [&loop, &clock, socket, latest, asked] { look(loop, clock, socket, latest, asked); });
}

}  // namespace

Result<std::optional<std::vector<GpuUuid>>> peek_first_acquire(int socket) {
  std::string held(kFrameHeaderBytes + kMostBodyBytes, '\0');
  const ssize_t got = ::recv(socket, held.data(), held.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got == 0) return Error{ErrorCode::kIo, "the owner ended without requesting a lease"};
  if (got < 0 && errno != EAGAIN && errno != EINTR) {
    return Error{ErrorCode::kIo, std::strerror(errno)};
  }
  held.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return read_first_acquire(held);
}

Result<std::optional<std::vector<GpuUuid>>> read_first_acquire(std::string_view held) {
  const CutFrame cut = cut_frame(held);
  if (cut.state == CutFrame::State::kIncomplete) return std::optional<std::vector<GpuUuid>>();
  if (cut.state == CutFrame::State::kBroken) {
    return Error{ErrorCode::kParse, std::string(cut.why)};
  }
  ASSIGN_OR_RETURN(const auto request, wire::decode_request(cut.body));
  if (const auto* acquire = std::get_if<wire::AcquireRequest>(&request.message)) {
    return std::optional(acquire->gpus);
  }
  return Error{ErrorCode::kUsage, "the first request to a guardian must name the GPUs of a lease"};
}

void await_first_acquire(EventLoop& loop, Clock& clock, int socket,
                         std::function<void(Result<std::vector<GpuUuid>>)> asked) {
  const auto watch = std::make_shared<EventLoop::WatchId>(0);
  const auto ready = [&loop, &clock, socket, watch, asked](std::uint32_t) {
    loop.unwatch(*watch);
    look(loop, clock, socket, clock.now() + Server::kFrameDeadline, asked);
  };
  const Result<EventLoop::WatchId> watching = loop.watch(socket, EPOLLIN | EPOLLRDHUP, ready);
  if (!watching) return asked(watching.error());
  *watch = *watching;
}

}  // namespace hypermile
