// SPDX-License-Identifier: Apache-2.0
//
// For tests of the lease table: a GpuPort that works at once, on the caller's thread. An incomplete
// restore waits for try_again(); with `hold`, every order waits for carry_out().
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "lease/gpu_keeper.h"
#include "lease/gpu_port.h"

namespace hypermile {

class InlinePort final : public GpuPort {
 public:
  explicit InlinePort(std::unique_ptr<GpuKeeper> keeper)
      : keeper_(std::move(keeper)), uuid_(keeper_->identity().uuid) {}

  const GpuUuid& uuid() const override { return uuid_; }

  void set(SetRequest request, SetDone done) override {
    orders_.emplace_back([this, request = std::move(request), done = std::move(done)] {
      Result<SetReply> reply = keeper_->set(request);
      done(std::move(reply));
    });
    if (!hold) carry_out();
  }

  void restore(RestoreScope scope, RestoreDone done) override {
    orders_.emplace_back([this, scope, done = std::move(done)] {
      waiting_.push_back(done);
      try_restore(scope);
    });
    if (!hold) carry_out();
  }

  PortStatus status() const override {
    PortStatus status;
    status.identity = keeper_->identity();
    status.in_force = keeper_->in_force();
    status.restored = waiting_.empty() && status.in_force.empty();
    status.problem = problem_;
    return status;
  }

  // Carries out the waiting orders, in order.
  void carry_out(int most = std::numeric_limits<int>::max()) {
    while (!orders_.empty() && most-- > 0) {
      const auto order = std::move(orders_.front());
      orders_.pop_front();
      order();
    }
  }
  void try_again() {
    carry_out();
    if (!waiting_.empty()) try_restore(RestoreScope::kChanged);
  }

  bool hold = false;  // acts like a GPU whose call hangs

 private:
  void try_restore(RestoreScope scope) {
    const RestoreReport report = keeper_->restore(scope);
    problem_ = report.problem;
    if (report.problem) return;
    for (const RestoreDone& done : std::exchange(waiting_, {})) done(report);
  }

  std::unique_ptr<GpuKeeper> keeper_;
  GpuUuid uuid_;
  std::deque<std::function<void()>> orders_;
  std::vector<RestoreDone> waiting_;
  std::optional<Error> problem_;
};

}  // namespace hypermile
