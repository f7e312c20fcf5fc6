// SPDX-License-Identifier: Apache-2.0
#include "lease/gpu_keeper_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hypermile {

GpuKeeperThread::GpuKeeperThread(std::unique_ptr<GpuKeeper> keeper, Clock& clock, ToLoop to_loop,
                                 Complain complain)
    : uuid_(keeper->identity().uuid),
      keeper_(std::move(keeper)),
      clock_(clock),
      to_loop_(std::move(to_loop)),
      complain_(std::move(complain)) {
  status_.identity = keeper_->identity();
  thread_ = std::thread([this] { serve(); });
}

GpuKeeperThread::~GpuKeeperThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GpuKeeperThread::push(Order order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
    status_.restored = false;  // not known to be restored until the order is carried out
  }
  changed_.notify_all();
}

void GpuKeeperThread::set(SetRequest request, SetDone done) {
  push(SetOrder{std::move(request), std::move(done)});
}

void GpuKeeperThread::restore(RestoreScope scope, RestoreDone done) {
  push(RestoreOrder{scope, std::move(done)});
}

PortStatus GpuKeeperThread::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void GpuKeeperThread::note(const std::function<void(PortStatus&)>& change) {
  const std::lock_guard lock(mutex_);
  change(status_);
  status_.restored = orders_.empty() && keeper_->restored();
}

void GpuKeeperThread::serve() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!orders_.empty()) {
      Order order = std::move(orders_.front());
      orders_.pop_front();
      lock.unlock();
      std::visit([this](auto& o) { carry_out(o); }, order);
      lock.lock();
      continue;
    }
    const auto woken = [this] { return stop_ || !orders_.empty(); };
    if (waiting_.empty() && looks_left_ == 0) {
      changed_.wait(lock, woken);
    } else if (!changed_.wait_for(lock, std::chrono::duration<double>(pause_.value()), woken)) {
      pause_ = std::min(pause_ * 2, kLongestPause);
      lock.unlock();
      waiting_.empty() ? look_at_clocks() : try_restore(RestoreScope::kChanged);
      lock.lock();
    }
  }
  lock.unlock();
  // The owner may end this thread without having ordered a restore.
  if (!keeper_->restored()) try_restore(RestoreScope::kChanged);
}

void GpuKeeperThread::begin_call() {
  const std::lock_guard lock(mutex_);
  status_.since = clock_.now();
}

void GpuKeeperThread::carry_out(SetOrder& order) {
  looks_left_ = 0;
  begin_call();
  Result<SetReply> reply = keeper_->set(order.request);
  note([this](PortStatus& status) {
    status.since.reset();
    status.in_force = keeper_->in_force();
    status.read_back.clear();
  });
  to_loop_([done = std::move(order.done), reply = std::move(reply)] { done(reply); });
}

void GpuKeeperThread::carry_out(RestoreOrder& order) {
  waiting_.push_back(std::move(order.done));
  attempts_ = 0;
  pause_ = kFirstPause;
  try_restore(order.scope);
}

void GpuKeeperThread::try_restore(RestoreScope scope) {
  begin_call();
  RestoreReport report = keeper_->restore(scope);
  report.attempts = ++attempts_;
  const auto failed = std::count_if(report.knobs.begin(), report.knobs.end(),
                                    [](const KnobRestore& knob) { return !knob.result; });
  note([&](PortStatus& status) {
    status.since.reset();
    status.in_force = keeper_->in_force();
    status.problem = report.problem;
    status.attempts = attempts_;
    status.restores += report.problem ? 0 : 1;
    status.failures += static_cast<std::uint64_t>(failed);
  });
  if (complain_ && report.damage) complain_(*report.damage);
  if (report.problem) {
    // Often enough to be noticed, not often enough to fill a disk.
    const bool told_before = (attempts_ & (attempts_ - 1)) != 0;
    const bool kept = report.problem->code == ErrorCode::kBusy;
    if (complain_ && !told_before && !kept) complain_(*report.problem);
    return;
  }
  looks_left_ = kMostLooks;
  pause_ = kFirstLook;
  for (RestoreDone& done : std::exchange(waiting_, {})) {
    to_loop_([done = std::move(done), report] { done(report); });
  }
}

void GpuKeeperThread::look_at_clocks() {
  using Verdict = GpuKeeper::ReadBack::Verdict;
  begin_call();
  const GpuKeeper::ReadBack seen = keeper_->read_back();
  const bool limited = seen.verdict == Verdict::kStillLimited;
  // The first look comes half a second after the restore. A card that shows nothing is reset once
  // more then, in case the driver only said that it did: later, the lock could be another
  // program's.
  const bool unsure = seen.verdict == Verdict::kCannotTell && looks_left_ == kMostLooks;
  if (limited || unsure) (void)keeper_->give_back_again();
  looks_left_ = limited ? kMostLooks : seen.verdict == Verdict::kCannotTell ? looks_left_ - 1 : 0;
  bool is_new = false;
  note([&](PortStatus& status) {
    status.since.reset();
    is_new = limited && status.read_back.empty();
    // What the card has shown once stays true until it shows something else.
    if (limited || seen.verdict == Verdict::kAsExpected) status.read_back = seen.text;
    status.mismatches += limited ? 1 : 0;
    ++status.looks;
  });
  if (is_new && complain_) {
    complain_(Error{ErrorCode::kNotReady, seen.text, "it is reset again until the clock is free"});
  }
}

}  // namespace hypermile
