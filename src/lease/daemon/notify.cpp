// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "base/descriptor.h"
#include "base/environment_variable.h"
#include "base/parse.h"

namespace hypermile {

ServiceManager::ServiceManager() : socket_(environment_variable("NOTIFY_SOCKET").value_or("")) {
  const Result<long long> period =
      parse_integer(environment_variable("WATCHDOG_USEC").value_or(""));
  const std::string_view whose = environment_variable("WATCHDOG_PID").value_or("");
  if (period && *period > 0 && (whose.empty() || whose == std::to_string(::getpid()))) {
    watchdog_ = microseconds(static_cast<double>(*period));
  }
}

void ServiceManager::tell(std::string_view state) const {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  socket_.copy(address.sun_path, sizeof(address.sun_path));
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // an abstract socket, without a file
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace hypermile
