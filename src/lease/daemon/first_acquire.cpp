// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/first_acquire.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "lease/frame.h"
#include "lease/protocol/message.h"

namespace hypermile {
namespace {

constexpr Seconds kRestOfFrame = milliseconds(10);  // until an incomplete frame is read again

void look(EventLoop& loop, Clock& clock, int socket,
          const std::function<void(Result<std::vector<GpuUuid>>)>& asked) {
  const auto found = peek_first_acquire(socket);
  if (!found) return asked(found.error());
  if (*found) return asked(**found);
  loop.at(clock.now() + kRestOfFrame,
          [&loop, &clock, socket, asked] { look(loop, clock, socket, asked); });
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
  const CutFrame cut = cut_frame(held);
  if (cut.state == CutFrame::State::kIncomplete) return std::optional<std::vector<GpuUuid>>();
  std::vector<GpuUuid> gpus;
  if (cut.state == CutFrame::State::kWhole) {
    const auto request = wire::decode_request(cut.body);
    const auto* acquire = request ? std::get_if<wire::AcquireRequest>(&request->message) : nullptr;
    if (acquire != nullptr) gpus = acquire->gpus;
  }
  return std::optional(std::move(gpus));
}

void await_first_acquire(EventLoop& loop, Clock& clock, int socket,
                         std::function<void(Result<std::vector<GpuUuid>>)> asked) {
  const auto watch = std::make_shared<EventLoop::WatchId>(0);
  const auto ready = [&loop, &clock, socket, watch, asked](std::uint32_t) {
    loop.unwatch(*watch);
    look(loop, clock, socket, asked);
  };
  const Result<EventLoop::WatchId> watching = loop.watch(socket, EPOLLIN | EPOLLRDHUP, ready);
  if (!watching) return asked(watching.error());
  *watch = *watching;
}

}  // namespace hypermile
