// SPDX-License-Identifier: Apache-2.0
//
// How GPOEO measures a Setting: it samples power and utilisation until its detector names a period,
// which is its time per iteration; where a job has none, it samples for a fixed time and reads the
// rate of instructions instead. What the detector carries from one probe to the next lives here:
// the longest period considered, the first window, and the period at the last clock.
// `gpoeo-published` owns one. Cannot fail: a measurement that cannot be made says so.
#pragma once

#include <optional>
#include <string>

#include "policy/baselines/trials.h"
#include "progress/spectrum/gpoeo_period.h"

namespace hypermile {

class GpoeoMeter {
 public:
  // `static_power` is subtracted from every power, as the authors do on the cards that they had.
  explicit GpoeoMeter(Watts static_power) : static_power_(static_power) {}

  // Begins a measurement of a Setting with this SM clock, after `settle` at it.
  void begin(GpoeoStrictness strictness, Seconds settle, std::optional<Mhz> sm_clock);
  // How much longer the Setting must run.
  Seconds wanted() const { return wanted_; }

  enum class Outcome {
    kMore,       // sample for wanted() and add() again
    kDone,       // see result()
    kAperiodic,  // the detector gave up; from the next begin() on instructions are counted
    kBlind,      // no trace, or no rate of instructions where that is needed
  };
  Outcome add(const Window& window);
  const Measured& result() const { return result_; }
  Watts mean_power() const { return power_; }  // over the last period, of the newest measurement

  bool aperiodic() const { return aperiodic_; }
  // A new round: the job may have become periodic.
  void forget_aperiodic() { aperiodic_ = false; }
  // How long one look at power takes: the newest period, or the fixed window of an aperiodic job.
  Seconds look() const;
  // The GPU was idle for so much of what was sampled that the authors leave the job alone.
  bool mostly_waits() const;
  std::string text() const;  // "a period of 1.32 s", "no period: instructions are counted"

 private:
  Outcome detect(const SensorTrace& trace, std::size_t from);
  Outcome count_instructions(const Window& window, std::size_t from);
  void learn(Seconds period);
  // Over the last `last` of the newest trace, static power subtracted.
  Watts mean_of_last(const SensorTrace& trace, Seconds last) const;

  Watts static_power_;
  GpoeoStrictness strictness_ = GpoeoStrictness::kStrict;
  Seconds settle_, wanted_;
  std::optional<Instant> from_;  // samples before this belong to the settling
  std::optional<Mhz> sm_clock_, last_sm_clock_;
  Seconds longest_ = Seconds(15);
  Seconds first_ = kGpoeoFirstWindow;
  Seconds period_;
  bool aperiodic_ = false;
  double used_s_ = 0, unused_s_ = 0;
  Measured result_;
  Watts power_;
};

}  // namespace hypermile
