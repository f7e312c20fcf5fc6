// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr int kBacklog = 1024;
constexpr mode_t kEverybody = 0666;

Error failed(std::string_view what, const std::string& path) {
  return Error{ErrorCode::kIo, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

// Root could remove anything, but only a socket was left by a daemon.
Result<void> remove_socket(const std::string& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) == 0 && !S_ISSOCK(facts.st_mode)) {
    return Error{ErrorCode::kUsage, path + " is there already and is no socket",
                 "give --socket another path, or move that file away"};
  }
  ::unlink(path.c_str());
  return {};
}

Descriptor open_spare() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

Listener::Listener(std::string path, Descriptor lock, Descriptor socket)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      socket_(std::move(socket)),
      spare_(open_spare()) {}

Listener::~Listener() {
  (void)remove_socket(path_);
}

Result<std::unique_ptr<Listener>> Listener::open(const std::string& path,
                                                 const std::string& lock_path) {
  ASSIGN_OR_RETURN(const SocketAddress address, socket_address(path));
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return failed("open", lock_path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kBusy, fmt::format("another hypermiled already serves {}", path),
                 "one daemon at a time: see 'systemctl status hypermiled'"};
  }
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return failed("make a socket for", path);
  RETURN_IF_ERROR(remove_socket(path));
  if (::bind(socket.get(), address.get(), address.length()) != 0 ||
      ::chmod(path.c_str(), kEverybody) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return failed("serve", path);
  }
  return std::unique_ptr<Listener>(new Listener(path, std::move(lock), std::move(socket)));
}

Result<Descriptor> Listener::accept() {
  Descriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client) return client;
  if (errno == EMFILE || errno == ENFILE) {
    spare_.reset();
    client.reset(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    client.reset();
    spare_ = open_spare();
    return Error{ErrorCode::kIo, "a client was refused: no file descriptors are left"};
  }
  return Error{ErrorCode::kNotReady, std::strerror(errno)};
}

}  // namespace hypermile
