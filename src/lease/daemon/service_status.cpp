// SPDX-License-Identifier: Apache-2.0
//
// The replies of Service that change nothing: leases, GPUs, counts.
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>

#include "base/version.h"
#include "lease/daemon/service.h"

namespace hypermile {
namespace {

// Why a GPU cannot be used, for people; "" if it can.
std::string trouble(const GpuStatus& gpu, Instant now) {
  const PortStatus& port = gpu.port;
  if (port.problem) return port.problem->message;
  const Seconds patience(1);
  if (port.since && now - *port.since > patience) {
    return fmt::format("has not answered for {:.1f} s", (now - *port.since).value());
  }
  return !gpu.lease && (!port.restored || !gpu.free) ? "is being restored" : "";
}

}  // namespace

std::vector<wire::Count> Service::counts() const {
  const LeaseCounts& leases = table_->counts();
  std::uint64_t mismatches = 0;
  for (const GpuStatus& gpu : table_->status()) mismatches += gpu.port.mismatches;
  const auto ended = [&](LeaseEnd why) {
    const auto found = leases.ended.find(why);
    return found != leases.ended.end() ? found->second : 0;
  };
  return {{"leases_granted", leases.granted},
          {"leases_ended_released", ended(LeaseEnd::kReleased)},
          {"leases_ended_owner_gone", ended(LeaseEnd::kOwnerGone)},
          {"leases_ended_expired", ended(LeaseEnd::kExpired)},
          {"leases_ended_unreachable", ended(LeaseEnd::kUnreachable)},
          {"leases_ended_reset", ended(LeaseEnd::kReset)},
          {"leases_ended_stopped", ended(LeaseEnd::kStopped)},
          {"restores", leases.restores},
          {"restore_failures", leases.failed_restores},
          {"restore_mismatches", mismatches},
          {"writes_applied", writes_.applied},
          {"writes_failed", writes_.failed},
          {"write_microseconds", static_cast<std::uint64_t>(writes_.took.value() * 1e6)},
          {"last_write_unix", static_cast<std::uint64_t>(writes_.last_unix)}};
}

wire::Reply Service::list() const {
  wire::LeaseList list;
  if (!table_) return list;
  std::map<LeaseId, wire::LeaseEntry> entries;
  for (const GpuStatus& gpu : table_->status()) {
    // A GPU that is not restored yet has no owner; it is listed under lease 0.
    if (!gpu.lease && gpu.port.restored) continue;
    wire::LeaseEntry& entry = entries[gpu.lease ? gpu.lease->id : 0];
    if (gpu.lease) {
      entry.lease = gpu.lease->id;
      entry.uid = gpu.lease->owner.uid;
      entry.pid = static_cast<std::uint64_t>(gpu.lease->owner.pid);
      entry.program = gpu.lease->owner.program;
      entry.job = gpu.lease->owner.job;
      entry.since_unix = gpu.lease->since_unix;
      entry.expires_in = gpu.lease->expires - clock_.now();
    }
    entry.gpus.push_back({gpu.port.identity.uuid, gpu.port.in_force, !gpu.lease});
  }
  for (auto& [id, entry] : entries) list.leases.push_back(std::move(entry));
  return list;
}

wire::Reply Service::status(const Peer& peer) const {
  wire::DaemonStatus status;
  status.version = kVersion;
  status.pid = static_cast<std::uint64_t>(::getpid());
  status.guardian = options_.guardian;
  status.administrator = config_.allow.administrator(peer);
  status.closed = closed_;
  if (options_.read_only) status.trouble = "HYPERMILE_READ_ONLY forbids every change";
  if (!table_) {
    status.trouble = no_gpus_.message;
    return status;
  }
  status.counts = counts();
  for (const GpuStatus& gpu : table_->status()) {
    const GpuUuid& uuid = gpu.port.identity.uuid;
    status.gpus.push_back(
        {uuid, rights(peer, uuid).ok(), trouble(gpu, clock_.now()), gpu.port.read_back});
  }
  return status;
}

}  // namespace hypermile
