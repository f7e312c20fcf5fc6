// SPDX-License-Identifier: Apache-2.0
//
// What the service manager is told, in its own datagrams: no library is linked for it. Without a
// service manager nothing happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace hypermile {

class ServiceManager {
 public:
  // From $NOTIFY_SOCKET and $WATCHDOG_USEC (with $WATCHDOG_PID, if set, this process's).
  ServiceManager();

  // "READY=1", "STATUS=…", "WATCHDOG=1", "STOPPING=1"; several separated by newlines. What cannot
  // be delivered is lost.
  void tell(std::string_view state) const;

  // It wants to hear "WATCHDOG=1" at least this often.
  std::optional<Seconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;
  std::optional<Seconds> watchdog_;
};

}  // namespace hypermile
