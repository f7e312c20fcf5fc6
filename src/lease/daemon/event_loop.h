// SPDX-License-Identifier: Apache-2.0
//
// The one loop of the privileged process: descriptors, timers and functions handed over by other
// threads, all served on the thread that calls run(). Everything that touches leases happens there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"

namespace hypermile {

class EventLoop {
 public:
  using WatchId = std::uint64_t;
  using TimerId = std::uint64_t;
  using Ready = std::function<void(std::uint32_t events)>;  // EPOLLIN and so on
  using Task = std::function<void()>;

  // `clock` is a real one and must outlive the loop. kIo when the kernel has no descriptors left.
  static Result<std::unique_ptr<EventLoop>> make(Clock& clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Level-triggered. The descriptor must be unwatched before it is closed; a watch that is gone is
  // never called again, not even for what the kernel has reported already.
  Result<WatchId> watch(int fd, std::uint32_t events, Ready ready);
  void change(WatchId watch, std::uint32_t events);
  void unwatch(WatchId watch);

  TimerId at(Instant when, Task task);
  void cancel(TimerId timer);  // also of one that has run

  // A function that other threads call to have a task run here soon. It may outlive the loop; what
  // comes then is dropped.
  std::function<void(Task)> poster() const;

  void run();
  void stop() { running_ = false; }

 private:
  struct Mailbox {
    std::mutex mutex;
    std::vector<Task> tasks;
    Descriptor wake;
  };
  struct Watch {
    int fd = -1;
    std::shared_ptr<Ready> ready;  // survives being unwatched by itself
  };

  EventLoop(Clock& clock, Descriptor epoll, std::shared_ptr<Mailbox> mailbox);
  int wait_ms() const;
  void run_due_timers();
  void run_mail();

  Clock& clock_;
  Descriptor epoll_;
  std::shared_ptr<Mailbox> mailbox_;
  std::map<WatchId, Watch> watches_;
  std::map<std::pair<Instant, TimerId>, Task> timers_;
  std::map<TimerId, Instant> timer_times_;
  std::uint64_t next_id_ = 1;  // 0 is the mailbox
  bool running_ = false;
};

}  // namespace hypermile
