// SPDX-License-Identifier: Apache-2.0
//
// A thread that keeps one GPU: carries out what the table of leases orders, in order, and tries a
// restore again until it is complete. The daemon and the guardian have one for each GPU; a driver
// call that hangs holds up this thread alone.
//
// The work itself is GpuKeeper's; here are only the thread, its mailbox and its waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

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
  // Waits for the call under way, at most `kFarewell`; a thread whose call hangs is left behind.
  ~GpuKeeperThread() override;

  const GpuUuid& uuid() const override { return uuid_; }
  void set(SetRequest request, SetDone done) override;
  void restore(RestoreScope scope, RestoreDone done) override;
  PortStatus status() const override;

  static constexpr Seconds kFarewell = Seconds(1);

 private:
  struct State;
  static void serve(const std::shared_ptr<State>& state);

  GpuUuid uuid_;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace hypermile
