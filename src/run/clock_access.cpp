// SPDX-License-Identifier: Apache-2.0
#include "run/clock_access.h"

#include <fmt/format.h>
#include <unistd.h>

#include "gpu/nvml/nvml_setters.h"
#include "lease/protocol/lease_client.h"

namespace hypermile {
namespace {

ClockAccess refused(Error why) {
  return {"none", std::nullopt, std::move(why)};
}

Error read_only() {
  return Error{ErrorCode::kReadOnly, "HYPERMILE_READ_ONLY is set: clocks may not be changed"};
}

}  // namespace

ClockAccess plan_clock_access() {
  if (read_only_mode()) return refused(read_only());
  const std::string socket = default_socket_path();
  const Result<DaemonConnection> daemon = DaemonConnection::connect(socket);
  if (daemon) return {fmt::format("the daemon at {}", socket), std::nullopt, std::nullopt};
  if (daemon.error().code != ErrorCode::kNotFound) return refused(daemon.error());
  const std::string program = default_guardian_program();
  if (program.empty()) {
    return refused(Error{ErrorCode::kNotFound, "no daemon serves, and hypermiled is not installed",
                         "run 'make install'"});
  }
  const bool root = ::geteuid() == 0;
  return {fmt::format("a guardian ({}{})", program,
                      root ? "" : " through sudo, which may ask for a password"),
          std::nullopt, std::nullopt};
}

ClockAccess open_clock_access(bool may_ask) {
  ClockAccess access = plan_clock_access();
  if (access.refused) return access;
  auto guardian =
      prepare_guardian(default_socket_path(), {default_guardian_program(), may_ask, "sudo"});
  if (!guardian) return refused(guardian.error());
  access.guardian = std::move(guardian).value();
  return access;
}

bool somebody_can_answer() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 &&
         ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

}  // namespace hypermile
