// SPDX-License-Identifier: Apache-2.0
#include "lease/lease_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace hypermile {
namespace {

bool out_of_reach(const Result<SetReply>& reply) {
  const auto lost = [](const Error& error) {
    return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kGpuLost ||
           error.code == ErrorCode::kNoDriver;
  };
  if (!reply) return lost(reply.error());
  return std::any_of(reply->outcome.begin(), reply->outcome.end(), [&](const KnobOutcome& knob) {
    return !knob.result && lost(knob.result.error());
  });
}

Error no_lease(LeaseId lease) {
  return Error{ErrorCode::kNotFound, fmt::format("lease {} is not held by this connection", lease),
               "it may have expired: acquire a new lease"};
}

}  // namespace

struct LeaseTable::Slot {
  GpuPort& port;
  std::optional<LeaseId> holder = {};
  bool changing = false;  // a set() is in progress
  int restores = 0;       // ordered but not yet complete
  bool recovered = false;
  std::vector<std::function<void()>> waiters = {};  // called once all restores are complete

  bool free() const { return recovered && !holder && restores == 0; }
};

struct LeaseTable::Alive {};

LeaseTable::LeaseTable(Clock& clock, std::vector<GpuPort*> gpus, LeaseId first_id, Ended ended)
    : clock_(clock),
      next_id_(first_id),
      ended_(std::move(ended)),
      alive_(std::make_shared<Alive>()) {
  for (GpuPort* gpu : gpus) slots_.push_back(std::make_unique<Slot>(Slot{*gpu}));
}

LeaseTable::~LeaseTable() = default;

LeaseTable::Slot* LeaseTable::find(const GpuUuid& uuid) const {
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const auto& s) { return s->port.uuid() == uuid; });
  return slot == slots_.end() ? nullptr : slot->get();
}

Lease* LeaseTable::find(ConnectionId connection, LeaseId lease) {
  expire();  // a late owner must find nothing, even if expire() has not run since
  const auto found = leases_.find(lease);
  if (found == leases_.end() || found->second.owner.connection != connection) return nullptr;
  return &found->second;
}

void LeaseTable::recover() {
  for (const auto& slot : slots_) restore(*slot, RestoreScope::kChanged);
}

Result<void> LeaseTable::check_free(const Slot& slot) const {
  const std::string& uuid = slot.port.uuid().text();
  if (slot.holder) {
    const Lease& lease = leases_.at(*slot.holder);
    return Error{ErrorCode::kBusy,
                 fmt::format("GPU {} has been leased to {} for {:.0f} s", uuid,
                             to_string(lease.owner), (clock_.now() - lease.since).value()),
                 "wait for that job, or ask its owner"};
  }
  if (slot.free()) return {};
  const std::optional<Error> problem = slot.port.status().problem;
  if (problem && problem->code == ErrorCode::kBusy) {
    return Error{ErrorCode::kBusy, fmt::format("GPU {} is kept by {}", uuid, problem->message),
                 "wait until that process ends"};
  }
  return Error{ErrorCode::kBusy,
               fmt::format("GPU {} is still being restored after an earlier lease{}", uuid,
                           problem ? ": " + problem->message : ""),
               problem ? problem->remedy : "try again in a second"};
}

Result<Lease> LeaseTable::acquire(const LeaseRequest& request) {
  expire();
  if (stopping_) return Error{ErrorCode::kNotReady, "the daemon is stopping"};
  if (!(request.ttl >= kShortestTtl && request.ttl <= kLongestTtl)) {
    return Error{ErrorCode::kUsage,
                 fmt::format("the time between renewals of a lease must be {:g} to {:g} s",
                             kShortestTtl.value(), kLongestTtl.value())};
  }
  std::set<GpuUuid> wanted;
  for (const LeasedGpu& gpu : request.gpus) {
    const Slot* slot = find(gpu.uuid);
    if (slot == nullptr) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no GPU {} here", gpu.uuid.text()),
                   "hypermile doctor lists the GPUs"};
    }
    RETURN_IF_ERROR(check_free(*slot));
    wanted.insert(gpu.uuid);
  }
  if (wanted.empty() || wanted.size() != request.gpus.size()) {
    return Error{ErrorCode::kUsage, "a lease must name at least one GPU, and each only once"};
  }
  Lease lease{next_id_++,
              request.owner,
              request.gpus,
              request.ttl,
              clock_.now(),
              clock_.unix_time(),
              clock_.now() + request.ttl};
  for (const GpuUuid& uuid : wanted) find(uuid)->holder = lease.id;
  ++counts_.granted;
  leases_.emplace(lease.id, lease);
  return lease;
}

Result<Instant> LeaseTable::renew(ConnectionId connection, LeaseId id) {
  Lease* lease = find(connection, id);
  if (lease == nullptr) return no_lease(id);
  lease->expires = clock_.now() + lease->ttl;
  return lease->expires;
}

void LeaseTable::set(ConnectionId connection, LeaseId id, const GpuUuid& gpu,
                     const Setting& setting, GpuPort::SetDone done) {
  const Lease* lease = find(connection, id);
  if (lease == nullptr) return done(no_lease(id));
  const auto leased = std::find_if(lease->gpus.begin(), lease->gpus.end(),
                                   [&](const LeasedGpu& g) { return g.uuid == gpu; });
  if (leased == lease->gpus.end()) {
    return done(Error{ErrorCode::kNotFound,
                      fmt::format("GPU {} is not in lease {}", gpu.text(), id),
                      "name every GPU when acquiring the lease"});
  }
  Slot& slot = *find(gpu);
  if (slot.changing) {
    return done(Error{ErrorCode::kBusy,
                      fmt::format("an earlier change of GPU {} is still in progress", gpu.text()),
                      "wait until it is complete"});
  }
  slot.changing = true;
  SetRequest request{id, to_string(lease->owner), setting, leased->bounds};
  slot.port.set(std::move(request), [this, alive = std::weak_ptr(alive_), &slot, id,
                                     done = std::move(done)](Result<SetReply> reply) {
    if (alive.expired()) return;
    slot.changing = false;
    if (out_of_reach(reply)) end(id, LeaseEnd::kUnreachable);
    done(std::move(reply));
  });
}

void LeaseTable::release(ConnectionId connection, LeaseId id,
                         std::function<void(Result<void>)> done) {
  const Lease* lease = find(connection, id);
  if (lease == nullptr) return done(no_lease(id));
  // Counts the GPUs still to be restored; the last one calls `done`.
  const auto left = std::make_shared<std::size_t>(lease->gpus.size());
  const auto shared = std::make_shared<std::function<void(Result<void>)>>(std::move(done));
  for (const LeasedGpu& gpu : lease->gpus) {
    find(gpu.uuid)->waiters.push_back([left, shared] {
      if (--*left == 0) (*shared)({});
    });
  }
  end(id, LeaseEnd::kReleased);
}

void LeaseTable::owner_gone(ConnectionId connection) {
  std::vector<LeaseId> gone;
  for (const auto& [id, lease] : leases_) {
    if (lease.owner.connection == connection) gone.push_back(id);
  }
  for (const LeaseId id : gone) end(id, LeaseEnd::kOwnerGone);
}

void LeaseTable::expire() {
  std::vector<LeaseId> late;
  for (const auto& [id, lease] : leases_) {
    if (lease.expires <= clock_.now()) late.push_back(id);
  }
  for (const LeaseId id : late) end(id, LeaseEnd::kExpired);
}

std::optional<Instant> LeaseTable::next_expiry() const {
  std::optional<Instant> next;
  for (const auto& [id, lease] : leases_) {
    if (!next || lease.expires < *next) next = lease.expires;
  }
  return next;
}

void LeaseTable::end(LeaseId id, LeaseEnd why) {
  const auto found = leases_.extract(id);
  if (found.empty()) return;
  const Lease& lease = found.mapped();
  ++counts_.ended[why];
  if (ended_) ended_(lease, why);
  for (const LeasedGpu& gpu : lease.gpus) {
    Slot& slot = *find(gpu.uuid);
    slot.holder.reset();
    restore(slot, RestoreScope::kChanged);
  }
}

void LeaseTable::restore(Slot& slot, RestoreScope scope) {
  ++slot.restores;
  slot.port.restore(scope, [this, alive = std::weak_ptr(alive_), &slot](const RestoreReport& done) {
    if (alive.expired()) return;
    const int failed = done.problem ? done.attempts : done.attempts - 1;
    counts_.failed_restores += static_cast<std::uint64_t>(std::max(0, failed));
    if (!done.problem) ++counts_.restores;
    slot.recovered = true;
    if (--slot.restores > 0) return;
    for (const auto& waiter : std::exchange(slot.waiters, {})) waiter();
  });
}

void LeaseTable::reset(const GpuUuid& gpu, std::function<void(Result<void>)> done) {
  Slot* slot = find(gpu);
  if (slot == nullptr) {
    return done(Error{ErrorCode::kNotFound, fmt::format("there is no GPU {} here", gpu.text()),
                      "hypermile doctor lists the GPUs"});
  }
  if (slot->holder) end(*slot->holder, LeaseEnd::kReset);
  slot->waiters.push_back([done = std::move(done)] { done({}); });
  restore(*slot, RestoreScope::kEverything);
}

void LeaseTable::stop(std::function<void()> done) {
  stopping_ = true;
  while (!leases_.empty()) end(leases_.begin()->first, LeaseEnd::kStopped);
  // Starts at one more than the number of GPUs to wait for, so that `done` cannot run before this
  // loop ends.
  const auto left = std::make_shared<std::size_t>(1);
  const auto one_less = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (const auto& slot : slots_) {
    if (slot->restores == 0) continue;
    ++*left;
    slot->waiters.push_back(one_less);
  }
  one_less();
}

std::vector<GpuStatus> LeaseTable::status() const {
  std::vector<GpuStatus> all;
  for (const auto& slot : slots_) {
    GpuStatus status{slot->port.status(), {}, slot->free()};
    if (slot->holder) status.lease = leases_.at(*slot->holder);
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace hypermile
