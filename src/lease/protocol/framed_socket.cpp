// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/framed_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "lease/frame.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostHeld = kFrameHeaderBytes + kMostBodyBytes;

Error gone() {
  return Error{ErrorCode::kIo, "the other end has closed the connection"};
}

Error failed(const char* what) {
  return Error{ErrorCode::kIo, fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

}  // namespace

FramedSocket::FramedSocket(Descriptor socket) : socket_(std::move(socket)) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

Result<void> FramedSocket::fill() {
  char buffer[4096];
  const std::size_t room = std::min(sizeof(buffer), kMostHeld - received_.size());
  if (room == 0) return {};
  const ssize_t got = ::recv(socket_.get(), buffer, room, 0);
  if (got == 0) return gone();
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return Error{ErrorCode::kNotReady, "nothing has arrived"};
    }
    return failed("read from the socket");
  }
  received_.append(buffer, static_cast<std::size_t>(got));
  return {};
}

Result<std::optional<std::string>> FramedSocket::take() {
  const CutFrame cut = cut_frame(received_);
  if (cut.state == CutFrame::State::kBroken) {
    return Error{ErrorCode::kParse, std::string(cut.why)};
  }
  if (cut.state == CutFrame::State::kIncomplete) return std::optional<std::string>();
  std::optional<std::string> body(std::in_place, cut.body);
  received_.erase(0, cut.bytes);
  return body;
}

Result<bool> FramedSocket::flush() {
  while (!to_send_.empty()) {
    const ssize_t sent = ::send(socket_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
      return failed("write to the socket");
    }
    to_send_.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace hypermile
