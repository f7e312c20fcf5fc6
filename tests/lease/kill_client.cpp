// SPDX-License-Identifier: Apache-2.0
#include "kill_client.h"

#include <fcntl.h>
#include <unistd.h>

#include "lease/protocol/lease_client.h"

namespace hypermile {
namespace {

// Results are ignored: when the lease is gone, the client ends.
bool work(HeldLease& lease, const GpuUuid& gpu) {
  for (const char* text : {"sm=1200,limit=250", "sm=900", "default", "mem=9501,limit=200"}) {
    if (!lease.set(gpu, parse_setting(text).value())) return false;
    if (!lease.renew()) return false;
  }
  return lease.release().ok();
}

// A daemon that has just started, or a guardian that is ending, may not be free yet.
Result<std::unique_ptr<HeldLease>> take_lease(const LeaseOptions& options) {
  for (int tries = 0;; ++tries) {
    auto lease = open_lease(options);
    if (lease || tries > 1000) return lease;
    const ErrorCode code = lease.error().code;
    if (code != ErrorCode::kBusy && code != ErrorCode::kNotReady) return lease;
    ::usleep(2000);
  }
}

bool wait_for_order(HeldLease& lease, int orders) {
  ::fcntl(orders, F_SETFL, O_NONBLOCK);
  for (char go = 0; ::read(orders, &go, 1) != 1;) {
    if (!lease.renew()) return false;
    ::usleep(20000);
  }
  return true;
}

}  // namespace

int kill_client(const std::string& uuid, const std::string& guardian, Seconds ttl, int events,
                int orders) {
  const GpuUuid gpu(uuid);
  LeaseOptions options;
  options.gpus = {gpu};
  options.ttl = ttl;
  options.program = "kill matrix";
  options.guardian.reset();
  if (!guardian.empty()) options.guardian = GuardianOptions{guardian, false};
  for (bool first = true;; first = false) {
    const auto lease = take_lease(options);
    if (!lease) return 10;
    if (first) {
      if (!(*lease)->set(gpu, parse_setting("sm=1200,limit=250").value())) return 11;
      (void)!::write(events, "C", 1);
      if (!wait_for_order(**lease, orders)) return 12;
    }
    if (!work(**lease, gpu)) return 13;
    (void)!::write(events, "c", 1);
  }
}

bool daemon_serves() {
  auto connection = DaemonConnection::connect(default_socket_path());
  if (!connection) return false;
  const auto status = connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(1));
  return status && !status->gpus.empty();
}

}  // namespace hypermile
