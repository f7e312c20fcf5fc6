// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/terminal_text.h"

namespace hypermile {
namespace {

Error not_administrator() {
  return Error{ErrorCode::kPermission, "only an administrator may reset GPUs",
               "run it as root, or ask to be listed under [administrators] in hypermiled.toml"};
}

}  // namespace

Service::Service(Clock& clock, DaemonConfig config, Options options, Log log)
    : clock_(clock),
      config_(std::move(config)),
      options_(std::move(options)),
      log_(std::move(log)),
      no_gpus_{ErrorCode::kNotReady, "the GPUs are not known yet", "try again in a second"},
      turns_(clock, options_.lives) {}

void Service::set_config(DaemonConfig config) {
  config_ = std::move(config);
  closed_ = false;
}

void Service::serve_gpus(std::vector<GpuPort*> gpus) {
  table_ = std::make_unique<LeaseTable>(
      clock_, std::move(gpus), 1,
      [this](const Lease& lease, LeaseEnd why) { note_end(lease, why); });
  table_->recover();
}

void Service::no_gpus_because(Error why) {
  no_gpus_ = std::move(why);
}

bool Service::recovered() const {
  if (!table_) return false;
  const std::vector<GpuStatus> all = table_->status();
  return std::ranges::all_of(all, [](const GpuStatus& gpu) {
    const bool kept = gpu.port.problem && gpu.port.problem->code == ErrorCode::kBusy;
    return gpu.free || (gpu.port.problem && !kept);
  });
}

void Service::handle(ConnectionId connection, const Peer& peer, const wire::Request& request,
                     ReplyTo reply) {
  std::visit(
      [&](const auto& asked) {
        using Asked = std::decay_t<decltype(asked)>;
        if constexpr (std::is_same_v<Asked, wire::StatusRequest>) {
          reply(status(peer));
        } else if constexpr (std::is_same_v<Asked, wire::ListRequest>) {
          reply(list());
        } else if constexpr (std::is_same_v<Asked, wire::ResetRequest>) {
          reset(peer, asked, std::move(reply));
        } else if (!table_) {
          reply(no_gpus_);
        } else if constexpr (std::is_same_v<Asked, wire::AcquireRequest>) {
          reply(acquire(connection, peer, asked));
        } else if constexpr (std::is_same_v<Asked, wire::SetRequest>) {
          set(connection, asked, std::move(reply));
        } else if constexpr (std::is_same_v<Asked, wire::RenewRequest>) {
          reply(renew(connection, asked.lease));
        } else {
          release(connection, asked.lease, std::move(reply));
        }
      },
      request);
}

Result<Rights> Service::rights(const Peer& peer, const GpuUuid& gpu) const {
  if (options_.guardian) return unlimited_rights();
  const Result<Rights> ruled = config_.allow.rights(peer, gpu);
  const bool job =
      !ruled && config_.job_rights && options_.job_allows && options_.job_allows(peer.uid, gpu);
  return job ? Result<Rights>(*config_.job_rights) : ruled;
}

wire::Reply Service::acquire(ConnectionId connection, const Peer& peer,
                             const wire::AcquireRequest& request) {
  if (options_.read_only) {
    return Error{ErrorCode::kReadOnly, "HYPERMILE_READ_ONLY forbids every change",
                 "start the daemon without it"};
  }
  if (closed_) {
    return Error{ErrorCode::kPermission, "the administrator has closed this machine to new leases",
                 "it is opened again by 'hypermile reset --reopen' or a restart of hypermiled"};
  }
  if (held_.contains(connection)) {
    return Error{ErrorCode::kUsage, "this connection already holds a lease",
                 "release it first, or name all GPUs at once"};
  }
  LeaseRequest lease;
  lease.owner = Owner{connection, peer.pid, peer.uid, request.program, request.job};
  lease.ttl = std::min(request.ttl, config_.longest_ttl);
  Seconds longest = unlimited_rights().longest_lease;
  Bounds everywhere = unlimited_rights().bounds;
  for (const GpuUuid& gpu : request.gpus) {
    const Result<Rights> granted = rights(peer, gpu);
    if (!granted) return granted.error();
    lease.gpus.push_back({gpu, capped(granted->bounds, config_.baseline(gpu))});
    everywhere = both(everywhere, lease.gpus.back().bounds);
    longest = std::min(longest, granted->longest_lease);
  }
  const Result<Lease> held = take_in_turn(lease, options_.guardian || peer.privileged);
  if (!held) return held.error();
  wire::Granted granted{held->id, held->ttl, {}, everywhere};
  Held& entry = held_[connection] = Held{held->id, {}};
  if (std::isfinite(longest.value())) {
    granted.longest = longest;
    entry.latest_end = held->since + longest;
    entry.longest = longest;
  }
  ended_.erase(connection);
  log_(LogLevel::kInfo, fmt::format("lease {}: {} to {}", held->id,
                                    counted(held->gpus.size(), "GPU"), to_string(held->owner)));
  return granted;
}

// A user who is refused because a GPU is somebody else's, or because it is somebody else's turn,
// comes into line.
Result<Lease> Service::take_in_turn(const LeaseRequest& request, bool exempt) {
  if (exempt) return table_->acquire(request);
  std::map<GpuUuid, bool> free;
  for (const GpuStatus& gpu : table_->status()) free[gpu.port.identity.uuid] = gpu.free;
  std::optional<Error> not_yet;
  for (const LeasedGpu& gpu : request.gpus) {
    const Result<void> turn = turns_.may_take(gpu.uuid, request.owner, free[gpu.uuid]);
    if (!turn && !not_yet) not_yet = turn.error();
  }
  Result<Lease> held = not_yet ? Result<Lease>(*not_yet) : table_->acquire(request);
  for (const LeasedGpu& gpu : request.gpus) {
    if (held) turns_.took(gpu.uuid, request.owner);
    const bool waits = !held && held.error().code == ErrorCode::kBusy && free.contains(gpu.uuid);
    if (waits && (not_yet || !free[gpu.uuid])) turns_.refused(gpu.uuid, request.owner);
  }
  return held;
}

void Service::set(ConnectionId connection, const wire::SetRequest& request, ReplyTo reply) {
  table_->set(connection, request.lease, request.gpu, request.setting,
              [this, connection, asked = clock_.now(),
               reply = std::move(reply)](const Result<SetReply>& done) {
                count_write(done, asked);
                if (!done) return reply(explain(connection, done.error()));
                wire::Applied applied{done->in_force, {}};
                for (const KnobOutcome& knob : done->outcome) {
                  if (!knob.result) {
                    applied.problems.push_back(knob.result.error().in(to_string(knob.knob)));
                  }
                }
                reply(std::move(applied));
              });
}

void Service::count_write(const Result<SetReply>& done, Instant asked) {
  const bool applied = done.ok() && std::ranges::all_of(done->outcome, [](const KnobOutcome& knob) {
                         return knob.result.ok();
                       });
  writes_.took = writes_.took + (clock_.now() - asked);
  ++(applied ? writes_.applied : writes_.failed);
  if (applied) writes_.last_unix = clock_.unix_time();
}

wire::Reply Service::renew(ConnectionId connection, LeaseId lease) {
  const Result<Instant> renewed = table_->renew(connection, lease);
  if (!renewed) return explain(connection, renewed.error());
  return wire::Done{};
}

void Service::release(ConnectionId connection, LeaseId lease, ReplyTo reply) {
  table_->release(connection, lease,
                  [this, connection, reply = std::move(reply)](const Result<void>& done) {
                    if (!done) return reply(explain(connection, done.error()));
                    reply(wire::Done{});
                  });
}

std::vector<GpuUuid> Service::all_gpus() const {
  std::vector<GpuUuid> all;
  for (const GpuStatus& gpu : table_->status()) all.push_back(gpu.port.identity.uuid);
  return all;
}

void Service::reset(const Peer& peer, const wire::ResetRequest& request, ReplyTo reply) {
  if (!config_.allow.administrator(peer)) return reply(not_administrator());
  if (request.reopen) {
    closed_ = false;
    turns_.forgive();
    log_(LogLevel::kNotice, "open to new leases again");
    return reply(wire::Done{});
  }
  // Close first, so that no lease is granted in between.
  if (request.close) closed_ = true;
  if (!table_) return reply(no_gpus_);
  const std::vector<GpuUuid> gpus = request.gpus.empty() ? all_gpus() : request.gpus;
  log_(LogLevel::kNotice, fmt::format("user {} resets {}{}", peer.uid, counted(gpus.size(), "GPU"),
                                      closed_ ? "; closed to new leases" : ""));
  struct Waiting {
    std::size_t left;
    Result<void> problem;
    ReplyTo reply;
  };
  const auto waiting = std::make_shared<Waiting>(Waiting{gpus.size(), {}, std::move(reply)});
  if (gpus.empty()) return waiting->reply(wire::Done{});
  for (const GpuUuid& gpu : gpus) {
    take_back(gpu, request.hold);
    table_->reset(gpu, [waiting](const Result<void>& done) {
      if (!done && waiting->problem.ok()) waiting->problem = done;
      if (--waiting->left > 0) return;
      if (waiting->problem) return waiting->reply(wire::Done{});
      waiting->reply(waiting->problem.error());
    });
  }
}

// Otherwise the same job would take the GPU again within seconds.
void Service::take_back(const GpuUuid& gpu, std::optional<Seconds> hold) {
  for (const GpuStatus& status : table_->status()) {
    if (status.port.identity.uuid != gpu || !status.lease) continue;
    turns_.took_back(gpu, status.lease->owner, hold);
  }
}

void Service::connection_gone(ConnectionId connection) {
  if (table_) table_->owner_gone(connection);
  held_.erase(connection);
  ended_.erase(connection);
}

void Service::note_end(const Lease& lease, LeaseEnd why) {
  const bool plain = why == LeaseEnd::kReleased || why == LeaseEnd::kOwnerGone;
  log_(plain ? LogLevel::kInfo : LogLevel::kNotice,
       fmt::format("lease {} of {} ends: {}", lease.id, to_string(lease.owner), to_string(why)));
  held_.erase(lease.owner.connection);
  ended_.try_emplace(lease.owner.connection,
                     fmt::format("lease {} has ended: {}", lease.id, to_string(why)));
}

Error Service::explain(ConnectionId connection, Error error) const {
  const auto ended = ended_.find(connection);
  if (error.code == ErrorCode::kNotFound && ended != ended_.end()) error.message = ended->second;
  return error;
}

void Service::expire() {
  if (!table_) return;
  table_->expire();
  const Instant now = clock_.now();
  std::map<LeaseId, Seconds> longest;
  std::vector<std::pair<ConnectionId, LeaseId>> over;
  for (const auto& [connection, held] : held_) {
    if (!held.latest_end || *held.latest_end > now) continue;
    over.emplace_back(connection, held.lease);
    longest[held.lease] = held.longest;
  }
  for (const GpuStatus& gpu : table_->status()) {
    if (!gpu.lease || !longest.contains(gpu.lease->id)) continue;
    turns_.reached_longest(gpu.port.identity.uuid, gpu.lease->owner, longest[gpu.lease->id]);
  }
  for (const auto& [connection, lease] : over) {
    ended_[connection] = fmt::format(
        "lease {} has ended: it reached the longest duration that the administrator allows", lease);
    table_->release(connection, lease, [](const Result<void>&) {});
  }
}

std::optional<Instant> Service::next_deadline() const {
  if (!table_) return std::nullopt;
  std::optional<Instant> next = table_->next_expiry();
  for (const auto& [connection, held] : held_) {
    if (held.latest_end && (!next || *held.latest_end < *next)) next = held.latest_end;
  }
  return next;
}

void Service::stop() {
  if (table_) table_->stop([] {});
}

bool Service::at_rest() const {
  if (!table_) return true;
  const std::vector<GpuStatus> all = table_->status();
  return std::ranges::all_of(all, [](const GpuStatus& gpu) {
    if (gpu.port.restored) return true;
    if (!gpu.port.problem || !gpu.port.in_force.empty()) return false;
    const ErrorCode code = gpu.port.problem->code;
    return code == ErrorCode::kBusy || code == ErrorCode::kIo || code == ErrorCode::kNotFound;
  });
}

}  // namespace hypermile
