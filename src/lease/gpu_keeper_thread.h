// SPDX-License-Identifier: Apache-2.0
//
// A thread that keeps one GPU: it carries out the orders of the lease table in sequence, repeats a
// restore until it is complete, and afterwards looks whether the clocks are really free. The daemon
// and the guardian run one per GPU, so a driver call that hangs blocks only this thread. GpuKeeper
// does the work and reports failures; this class adds the thread, its mailbox and its pauses.
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
  // Passes a function to the lease table's loop, which calls it soon. Called from this thread; must
  // not block.
  using ToLoop = std::function<void(std::function<void()>)>;

  // Told on this thread, for the log: why a restore has to be repeated, and what a clock that was
  // given back shows.
  using Complain = std::function<void(const Error&)>;

  // `clock` must be a real one and outlive this.
  GpuKeeperThread(std::unique_ptr<GpuKeeper> keeper, Clock& clock, ToLoop to_loop,
                  Complain complain = {});
  // Waits for the current call, which a DeadlineGpu bounds, and drops orders that have not begun.
  // Then tries once to restore what is changed; if that fails, the journal lets the next start do
  // it.
  ~GpuKeeperThread() override;

  const GpuUuid& uuid() const override { return uuid_; }
  void set(SetRequest request, SetDone done) override;
  void restore(RestoreScope scope, RestoreDone done) override;
  PortStatus status() const override;

  // Pause after a failed restore; it doubles each time.
  static constexpr Seconds kFirstPause = milliseconds(50);
  static constexpr Seconds kLongestPause = Seconds(5);
  // From a restore to the first look at the clocks, which act up to 150 ms after a request; the
  // pause doubles each time. A card that shows nothing, because it is idle, is looked at six times.
  static constexpr Seconds kFirstLook = milliseconds(500);
  static constexpr int kMostLooks = 6;

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
  void look_at_clocks();
  void begin_call();
  void note(const std::function<void(PortStatus&)>& change);
  void push(Order order);

  GpuUuid uuid_;
  std::unique_ptr<GpuKeeper> keeper_;  // used by the thread alone
  Clock& clock_;
  ToLoop to_loop_;
  Complain complain_;

  // State of the current restore; used by the thread alone.
  std::vector<RestoreDone> waiting_;
  int attempts_ = 0;
  Seconds pause_ = kFirstPause;  // until the next attempt, or the next look at the clocks
  int looks_left_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  PortStatus status_;
  bool stop_ = false;
  std::thread thread_;  // declared last because it uses all other members
};

}  // namespace hypermile
