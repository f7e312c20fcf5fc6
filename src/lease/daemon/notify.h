// SPDX-License-Identifier: Apache-2.0
//
// Reports the state of the process to systemd, in its datagram format and without its library. Does
// nothing where there is no service manager. Used on the loop's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace hypermile {

class ServiceManager {
 public:
  // Reads $NOTIFY_SOCKET and $WATCHDOG_USEC (the latter only if $WATCHDOG_PID is absent or this
  // process).
  ServiceManager();

  // "READY=1", "STATUS=…", "WATCHDOG=1", "STOPPING=1"; several are separated by newlines. A message
  // that cannot be delivered is lost.
  void tell(std::string_view state) const;

  // The service manager expects "WATCHDOG=1" at least this often.
  std::optional<Seconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;
  std::optional<Seconds> watchdog_;
};

}  // namespace hypermile
