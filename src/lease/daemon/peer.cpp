// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/peer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/proc_file.h"
#include "gpu/nvml/process_permission.h"

namespace hypermile {
namespace {

// Missing from the headers of the oldest systems that we build on.
#ifdef SO_PEERPIDFD
constexpr int kPeerPidfd = SO_PEERPIDFD;
#else
constexpr int kPeerPidfd = 77;
#endif
#ifdef SYS_pidfd_open
constexpr long kPidfdOpen = SYS_pidfd_open;
#else
constexpr long kPidfdOpen = 434;
#endif

Error peer_error(const char* what) {
  return Error{ErrorCode::kIo,
               fmt::format("cannot {} of a client: {}", what, std::strerror(errno))};
}

}  // namespace

Result<Peer> identify_peer(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return peer_error("learn the user");
  }
  Peer peer{credentials.uid, {credentials.gid}, credentials.pid, false};
  // Ask for the size first, since a user may be in any number of groups.
  length = 0;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &length) != 0 && errno != ERANGE) {
    return peer_error("learn the groups");
  }
  std::vector<gid_t> groups(length / sizeof(gid_t));
  if (!groups.empty() &&
      ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) {
    return peer_error("learn the groups");
  }
  peer.groups.insert(peer.groups.end(), groups.begin(), groups.end());
  return peer;
}

Result<Descriptor> open_process_handle(int socket, const Peer& peer) {
  // This handle cannot refer to a later process with the same pid. Linux 6.5 and later.
  int fd = -1;
  socklen_t length = sizeof(fd);
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &fd, &length) == 0) return Descriptor(fd);
  if (errno == EMFILE || errno == ENFILE) return peer_error("open the process");
  if (peer.pid <= 0) return Descriptor();
  fd = static_cast<int>(::syscall(kPidfdOpen, peer.pid, 0));
  if (fd >= 0) return Descriptor(fd);
  if (errno == ENOSYS) return Descriptor();
  if (errno == ESRCH) return Error{ErrorCode::kNotFound, "the client has already ended"};
  return peer_error("open the process");
}

bool is_privileged(const Peer& peer, const Descriptor& process) {
  if (peer.uid != 0 || peer.pid <= 0 || !process) return false;
  const auto text = [&](const char* name) { return read_proc_file(peer.pid, name).value_or(""); };
  const bool admin =
      has_admin_capability(text("status")) && in_initial_user_namespace(text("uid_map"));
  pollfd watched{process.get(), POLLIN, 0};
  return admin && ::poll(&watched, 1, 0) == 0;
}

}  // namespace hypermile
