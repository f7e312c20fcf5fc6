// SPDX-License-Identifier: Apache-2.0
//
// The only event loop of the privileged process: it serves descriptors, timers and tasks posted by
// other threads, all on the thread that calls run(). All lease state is used there and nowhere
// else.
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

  // `clock` must be a real one and outlive the loop. kIo when the kernel has no descriptors left.
  static Result<std::unique_ptr<EventLoop>> make(Clock& clock);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Level-triggered. The descriptor must be unwatched before it is closed. A removed watch is never
  // called again, even for events that the kernel has already reported.
  Result<WatchId> watch(int fd, std::uint32_t events, Ready ready);
  void change(WatchId watch, std::uint32_t events);
  void unwatch(WatchId watch);

  TimerId at(Instant when, Task task);
  void cancel(TimerId timer);  // harmless for one that has already run

  // Returns a function with which other threads post a task to this loop. The function may outlive
  // the loop; tasks posted after that are dropped.
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
    std::shared_ptr<Ready> ready;  // shared, so that it survives unwatching itself
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
  std::uint64_t next_id_ = 1;  // 0 stands for the mailbox
  bool running_ = false;
};

}  // namespace hypermile
