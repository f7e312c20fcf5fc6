// SPDX-License-Identifier: Apache-2.0
#include "control/lease_port.h"

#include <chrono>

namespace hypermile {
namespace {

constexpr double kRenewalsPerTtl = 4;
constexpr Seconds kRetryRenewal = milliseconds(200);

// Calls without the mutex that its owner holds.
template <class Call>
auto without(std::unique_lock<std::mutex>& lock, Call call) {
  lock.unlock();
  auto result = call();
  lock.lock();
  return result;
}

std::chrono::duration<double> chrono_of(Seconds duration) {
  return std::chrono::duration<double>(duration.value());
}

Error read_only() {
  return Error{ErrorCode::kReadOnly, "HYPERMILE_READ_ONLY is set: clocks may not be changed",
               "unset it to let hypermile save energy"};
}

}  // namespace

LeasePort::LeasePort(LeasePortOptions options, Clock& clock,
                     std::optional<DaemonConnection> guardian)
    : options_(std::move(options)),
      clock_(clock),
      guarded_(guardian.has_value()),
      guardian_(std::move(guardian)),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

LeasePort::~LeasePort() {
  thread_.request_stop();
  changed_.notify_all();
}

void LeasePort::claim(const std::vector<GpuUuid>& gpus) {
  const std::scoped_lock lock(mutex_);
  if (state_ == PortState::kClaiming || state_ == PortState::kHeld) return;
  gpus_ = gpus;
  wanted_.clear();
  problem_.reset();
  state_ = PortState::kClaiming;
  if (options_.read_only) {
    state_ = PortState::kRefused;
    problem_ = read_only();
  }
  changed_.notify_all();
}

PortState LeasePort::state() const {
  const std::scoped_lock lock(mutex_);
  return state_;
}

std::optional<Error> LeasePort::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

bool LeasePort::guarded() const {
  const std::scoped_lock lock(mutex_);
  return guarded_;
}

bool LeasePort::allows(const Setting& setting) const {
  const std::scoped_lock lock(mutex_);
  return granted_.allows(setting);
}

void LeasePort::ask(const GpuUuid& gpu, const Setting& setting) {
  const std::scoped_lock lock(mutex_);
  if (state_ != PortState::kHeld) return;
  wanted_[gpu] = setting;
  changed_.notify_all();
}

std::vector<PortAnswer> LeasePort::take_answers() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(answers_, {});
}

Result<void> LeasePort::release() {
  Lock lock(mutex_);
  if (state_ != PortState::kClaiming && state_ != PortState::kHeld) return {};
  releasing_ = true;
  changed_.notify_all();
  const bool done =
      changed_.wait_for(lock, chrono_of(options_.release_deadline), [this] { return !releasing_; });
  if (done) return released_;
  return Error{ErrorCode::kTimeout, "the GPUs were not given back in time",
               "they are tried on; see 'hypermile leases'"};
}

void LeasePort::serve(const std::stop_token& stop) {
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (state_ == PortState::kClaiming) {
      acquire(lock);
    } else if (releasing_) {
      give_back(lock);
    } else if (due(clock_.now())) {
      renew(lock);
    } else if (lease_ && !wanted_.empty()) {
      set_next(lock);
    } else {
      const auto something = [this] {
        return state_ == PortState::kClaiming || releasing_ || (lease_ && !wanted_.empty());
      };
      if (lease_) {
        changed_.wait_for(lock, stop, chrono_of(next_renewal_ - clock_.now()), something);
      } else {
        changed_.wait(lock, stop, something);
      }
    }
  }
}

void LeasePort::acquire(Lock& lock) {
  const LeaseOptions options{gpus_,        options_.ttl,    options_.program,
                             options_.job, options_.socket, options_.guardian};
  auto lease = without(lock, [&] {
    return guardian_ ? acquire_lease(options, *guardian_, true) : open_lease(options);
  });
  if (!lease) {
    // A guardian that is gone is of no more use; the next claim looks for another way.
    if (lease.error().code == ErrorCode::kIo) guardian_.reset();
    problem_ = lease.error();
    state_ = PortState::kRefused;
    released_ = {};
    if (std::exchange(releasing_, false)) changed_.notify_all();
    return;
  }
  guardian_.reset();
  lease_ = std::move(lease).value();
  guarded_ = lease_->guarded();
  granted_ = lease_->granted();
  renewed_ = clock_.now();
  next_renewal_ = renewed_ + lease_->ttl() * (1 / kRenewalsPerTtl);
  state_ = PortState::kHeld;
}

void LeasePort::set_next(Lock& lock) {
  const auto [gpu, setting] = *wanted_.begin();
  wanted_.erase(wanted_.begin());
  // Not captured as structured bindings, which clang 14 refuses.
  const GpuUuid& which = gpu;
  const Setting& what = setting;
  auto applied = without(lock, [&] { return lease_->set(which, what); });
  if (applied && !applied->problems.empty()) {
    // Half a Setting is none: what was measured under it would be put down to another.
    const Error first = applied->problems.front();
    applied = without(lock, [&] { return lease_->set(which, Setting{}); });
    if (applied) applied = first;
  }
  if (applied) {
    answers_.push_back({gpu, setting, applied->setting});
  } else {
    answers_.push_back({gpu, setting, applied.error()});
    note_failure(applied.error());
  }
}

void LeasePort::renew(Lock& lock) {
  const auto renewed = without(lock, [this] { return lease_->renew(); });
  const Instant now = clock_.now();
  if (renewed) {
    renewed_ = now;
    next_renewal_ = now + lease_->ttl() * (1 / kRenewalsPerTtl);
    return;
  }
  // An answer that is late may still come; a lease whose time is over is gone on the other side.
  const bool late = renewed.error().code == ErrorCode::kTimeout;
  next_renewal_ = now + kRetryRenewal;
  if (!late || now - renewed_ >= lease_->ttl()) lose(renewed.error());
}

void LeasePort::give_back(Lock& lock) {
  wanted_.clear();
  released_ = lease_ ? without(lock, [this] { return lease_->release(); }) : Result<void>();
  lease_.reset();
  state_ = PortState::kUnclaimed;
  releasing_ = false;
  changed_.notify_all();
}

void LeasePort::note_failure(const Error& error) {
  // kNotFound: the lease is over. kIo, kParse: so is the connection, and with it the lease.
  if (error.code == ErrorCode::kNotFound || error.code == ErrorCode::kIo ||
      error.code == ErrorCode::kParse) {
    lose(error);
  }
}

void LeasePort::lose(Error why) {
  // A guardian outlives a lease that expired, and need not be started again.
  if (why.code == ErrorCode::kNotFound && lease_->guarded()) {
    guardian_ = std::move(*lease_).take_connection();
  }
  lease_.reset();
  wanted_.clear();
  problem_ = std::move(why);
  state_ = PortState::kLost;
}

}  // namespace hypermile
