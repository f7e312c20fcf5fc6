// SPDX-License-Identifier: Apache-2.0
//
// A thread that keeps one GPU: carries out what the table of leases orders, in order, and tries a
// restore again until it is complete. The daemon and the guardian have one for each GPU; a driver
// call that hangs holds up this thread alone.
//
// The work itself is GpuKeeper's; here are only the thread, its mailbox and its waiting.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "lease/gpu_keeper.h"
#include "lease/gpu_port.h"

namespace hypermile {

class GpuKeeperThread final : public GpuPort {
 public:
  // Hands a function to the loop that calls the table, to be called there soon. Called from this
  // thread; must not block.
  using ToLoop = std::function<void(std::function<void()>)>;

  // `clock` is a real one and outlives this.
  GpuKeeperThread(std::unique_ptr<GpuKeeper> keeper, Clock& clock, ToLoop to_loop);
  // Waits for the call under way, which a DeadlineGpu bounds. What is ordered and not begun is
  // dropped; what is changed then is given back in one attempt, and if that fails left to the next
  // start, by the journal.
  ~GpuKeeperThread() override;

  const GpuUuid& uuid() const override { return uuid_; }
  void set(SetRequest request, SetDone done) override;
  void restore(RestoreScope scope, RestoreDone done) override;
  PortStatus status() const override;

  // The pause after a failed attempt to restore, doubled each time.
  static constexpr Seconds kFirstPause = milliseconds(50);
  static constexpr Seconds kLongestPause = Seconds(5);

 private:
  struct SetOrder {
    SetRequest request;
    SetDone done;
  };
  struct RestoreOrder {
    RestoreScope scope;
    RestoreDone done;
  };
  using Order = std::variant<SetOrder, RestoreOrder>;

  void serve();
  void carry_out(SetOrder& order);
  void carry_out(RestoreOrder& order);
  void try_restore(RestoreScope scope);
  void begin_call();
  void note(const std::function<void(PortStatus&)>& change);
  void push(Order order);

  GpuUuid uuid_;
  std::unique_ptr<GpuKeeper> keeper_;  // the thread's
  Clock& clock_;
  ToLoop to_loop_;

  // The thread's own: a restore under way.
  std::vector<RestoreDone> waiting_;
  int attempts_ = 0;
  Seconds pause_ = kFirstPause;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  PortStatus status_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace hypermile
