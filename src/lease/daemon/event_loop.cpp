// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

namespace hypermile {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr int kLongestWaitMs = 60'000;

Error io_error(std::string_view what) {
  return Error{ErrorCode::kIo, fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

}  // namespace

EventLoop::EventLoop(Clock& clock, Descriptor epoll, std::shared_ptr<Mailbox> mailbox)
    : clock_(clock), epoll_(std::move(epoll)), mailbox_(std::move(mailbox)) {}

EventLoop::~EventLoop() {
  // Tasks may own objects that post to this loop, so destroy them outside the lock and before the
  // mailbox.
  std::vector<Task> dropped;
  const std::lock_guard lock(mailbox_->mutex);
  dropped.swap(mailbox_->tasks);
  mailbox_->wake.reset();
}

Result<std::unique_ptr<EventLoop>> EventLoop::make(Clock& clock) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return io_error("make an event loop");
  auto mailbox = std::make_shared<Mailbox>();
  mailbox->wake.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{EPOLLIN, {.u64 = 0}};
  if (!mailbox->wake || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, mailbox->wake.get(), &event) != 0) {
    return io_error("make an event loop");
  }
  return std::unique_ptr<EventLoop>(new EventLoop(clock, std::move(epoll), std::move(mailbox)));
}

Result<EventLoop::WatchId> EventLoop::watch(int fd, std::uint32_t events, Ready ready) {
  const WatchId id = next_id_++;
  epoll_event event{events, {.u64 = id}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return io_error("watch a descriptor");
  }
  watches_[id] = Watch{fd, std::make_shared<Ready>(std::move(ready))};
  return id;
}

void EventLoop::change(WatchId watch, std::uint32_t events) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  epoll_event event{events, {.u64 = watch}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, found->second.fd, &event);
}

void EventLoop::unwatch(WatchId watch) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.fd, nullptr);
  watches_.erase(found);
}

EventLoop::TimerId EventLoop::at(Instant when, Task task) {
  const TimerId id = next_id_++;
  timers_.emplace(std::pair(when, id), std::move(task));
  timer_times_.emplace(id, when);
  return id;
}

void EventLoop::cancel(TimerId timer) {
  const auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, timer});
  timer_times_.erase(found);
}

std::function<void(EventLoop::Task)> EventLoop::poster() const {
  return [mailbox = mailbox_](Task task) {
    const std::lock_guard lock(mailbox->mutex);
    if (!mailbox->wake) return;  // the loop is gone
    mailbox->tasks.push_back(std::move(task));
    const std::uint64_t one = 1;
    // Fails only when the eventfd's counter is full, in which case the loop wakes anyway.
    [[maybe_unused]] const auto written = ::write(mailbox->wake.get(), &one, sizeof(one));
  };
}

int EventLoop::wait_ms() const {
  if (timers_.empty()) return kLongestWaitMs;
  const double ms = std::ceil((timers_.begin()->first.first - clock_.now()).value() * 1e3);
  return static_cast<int>(std::clamp(ms, 0.0, static_cast<double>(kLongestWaitMs)));
}

void EventLoop::run_due_timers() {
  const Instant now = clock_.now();
  while (running_ && !timers_.empty() && timers_.begin()->first.first <= now) {
    auto node = timers_.extract(timers_.begin());
    timer_times_.erase(node.key().second);
    node.mapped()();
  }
}

void EventLoop::run_mail() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(mailbox_->wake.get(), &count, sizeof(count));
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mailbox_->mutex);
    tasks.swap(mailbox_->tasks);
  }
  for (Task& task : tasks) task();
}

void EventLoop::run() {
  running_ = true;
  epoll_event events[kEventsAtOnce];
  while (running_) {
    run_due_timers();
    if (!running_) return;
    const int count = ::epoll_wait(epoll_.get(), events, kEventsAtOnce, wait_ms());
    for (int i = 0; i < count && running_; ++i) {
      const WatchId id = events[i].data.u64;
      if (id == 0) {
        run_mail();
        continue;
      }
      const auto found = watches_.find(id);
      if (found == watches_.end()) continue;
      const std::shared_ptr<Ready> ready = found->second.ready;
      (*ready)(events[i].events);
    }
  }
}

}  // namespace hypermile
