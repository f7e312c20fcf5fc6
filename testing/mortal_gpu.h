// SPDX-License-Identifier: Apache-2.0
//
// For tests: the Gpu through which a process with a Fate reaches a FakeGpu. The card outlives the
// process, and calls after the process's death do not reach the card.
#pragma once

#include <functional>

#include "testing/fake_gpu.h"
#include "testing/faulty_files.h"

namespace hypermile {

class MortalGpu final : public Gpu {
 public:
  // Both references must outlive this. `before` is called before each setter that reaches the card.
  MortalGpu(FakeGpu& card, Fate& fate, std::function<void(const Setting&)> before = {})
      : card_(card), fate_(fate), before_(std::move(before)) {}

  const GpuIdentity& identity() const override { return card_.identity(); }
  const Capabilities& capabilities() const override { return card_.capabilities(); }
  Result<Sample> read(SensorSet wanted) override {
    if (fate_.operation_fails()) return dead();
    return card_.read(wanted);
  }
  Result<std::vector<TimedPower>> power_history(Instant after) override {
    return card_.power_history(after);
  }
  Result<ActivityMetrics> activity() override { return card_.activity(); }
  Result<std::vector<GpuProcess>> processes() override { return card_.processes(); }

  ApplyOutcome apply(const Setting& setting) override {
    ApplyOutcome outcome;
    // Each knob is an operation of its own, so the process may die between two knobs.
    for (const Knob knob : kAllKnobs) {
      if (!setting.has(knob)) continue;
      Setting one;
      one.set(knob, *setting.value(knob));
      if (fate_.operation_fails()) {
        outcome.push_back({knob, dead()});
        continue;
      }
      if (before_) before_(one);
      outcome.push_back(card_.apply(one).front());
    }
    return outcome;
  }
  Result<void> reset(Knob knob) override {
    if (fate_.operation_fails()) return dead();
    return card_.reset(knob);
  }

 private:
  static Error dead() { return Error{ErrorCode::kInternal, "this process is dead"}; }

  FakeGpu& card_;
  Fate& fate_;
  std::function<void(const Setting&)> before_;
};

}  // namespace hypermile
