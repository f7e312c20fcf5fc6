// SPDX-License-Identifier: Apache-2.0
//
// A whole run beside each kind of sensor that lies: the job keeps its bound, nothing is claimed
// that is not true, and people are told once.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>

#include "record/run_figures.h"
#include "testing/control_fixture.h"

namespace hypermile {
namespace {

constexpr double kRun = 420;    // seconds
constexpr double kLater = 150;  // when a sensor that was well begins to lie

// Changes a sample, `seconds` after the start of the run.
using Lie = std::function<void(Sample& sample, double seconds)>;

struct LyingSensor {
  const char* name;
  std::function<Lie()> make;
};

void show(Sample& sample, double watts) {
  sample.power_instant = sample.power_average = Watts(watts);
}

Lie scaled_counter(double by) {
  return [by](Sample& sample, double) {
    if (sample.energy) sample.energy = *sample.energy * by;
  };
}

// The counter minus a fixed amount for each whole `every` seconds.
Lie falling_counter(double every, double by) {
  return [=](Sample& sample, double seconds) {
    if (sample.energy)
      sample.energy = *sample.energy + Joules(1e6 - by * std::floor(seconds / every));
  };
}

const LyingSensor kSensors[] = {
    {"CounterStuck", [] { return [](Sample& s, double) { s.energy = Joules(77); }; }},
    {"CounterStuckLater",
     [] {
       return [at = Joules()](Sample& s, double seconds) mutable {
         if (seconds < kLater) at = *s.energy;
         s.energy = at;
       };
     }},
    {"Counter160TimesTooFast", [] { return scaled_counter(160); }},
    {"Counter3TimesTooFast", [] { return scaled_counter(3); }},
    {"CounterInMillijoules", [] { return scaled_counter(1000); }},
    {"CounterInKilojoules", [] { return scaled_counter(1e-3); }},
    {"CounterJumpsBackOnce",
     [] {
       return [](Sample& s, double seconds) {
         if (seconds < kLater) s.energy = *s.energy + Joules(1e6);
       };
     }},
    {"CounterJumpsBackAgainAndAgain", [] { return falling_counter(20, 9000); }},
    {"CounterNegative", [] { return scaled_counter(-1); }},
    {"CounterNotANumber",
     [] {
       return
           [](Sample& s, double) { s.energy = Joules(std::numeric_limits<double>::quiet_NaN()); };
     }},
    {"CounterNotANumberNowAndThen",
     [] {
       return [n = 0](Sample& s, double) mutable {
         if (++n % 7 == 0) s.energy = Joules(std::numeric_limits<double>::infinity());
       };
     }},
    {"CounterWrapsAt32Bits",
     [] {
       return [](Sample& s, double) {
         s.energy = Joules(std::fmod(s.energy->value() + 4294967.296 - 30000, 4294967.296));
       };
     }},
    {"CounterJumpsAhead",
     [] {
       return [](Sample& s, double seconds) {
         if (seconds > kLater) s.energy = *s.energy + Joules(1e6);
       };
     }},
    {"CounterComesAndGoes",
     [] {
       return [n = 0](Sample& s, double) mutable {
         if (++n % 3 == 0) s.energy.reset();
       };
     }},
    {"CounterMovesEveryThreeSeconds",
     [] {
       return [at = Joules(), next = 0.0](Sample& s, double seconds) mutable {
         if (seconds >= next) {
           at = *s.energy;
           next = seconds + 3;
         }
         s.energy = at;
       };
     }},
    {"CounterTwoSecondsLate",
     [] {
       return [past = std::deque<std::pair<double, Joules>>()](Sample& s, double seconds) mutable {
         past.emplace_back(seconds, *s.energy);
         while (past.size() > 1 && past[1].first <= seconds - 2) past.pop_front();
         s.energy = past.front().second;
       };
     }},
    {"PowerFrozen", [] { return [](Sample& s, double) { show(s, 300); }; }},
    {"PowerFrozenLow", [] { return [](Sample& s, double) { show(s, 42); }; }},
    {"PowerZero", [] { return [](Sample& s, double) { show(s, 0); }; }},
    {"PowerNotANumber",
     [] { return [](Sample& s, double) { show(s, std::numeric_limits<double>::quiet_NaN()); }; }},
    {"PowerNegative", [] { return [](Sample& s, double) { show(s, -300); }; }},
    {"PowerAboveTheLimit",
     [] { return [](Sample& s, double) { show(s, 160 * s.power_instant->value()); }; }},
    {"PowerOfAnotherGpu", [] { return [](Sample& s, double) { show(s, 61); }; }},
    {"PowerAndCounterStuck",
     [] {
       return [](Sample& s, double) {
         show(s, 300);
         s.energy = Joules(77);
       };
     }},
    {"PowerAndCounterAbsurd",
     [] {
       return [](Sample& s, double) {
         show(s, -1);
         s.energy = Joules(-1);
       };
     }},
    {"TimesGoBack",
     [] {
       return [n = 0](Sample& s, double) mutable {
         if (++n % 11 == 0) s.time = s.time - Seconds(1);
       };
     }},
    {"ClockNotANumber",
     [] {
       return [](Sample& s, double) { s.sm_clock = Mhz(std::numeric_limits<double>::quiet_NaN()); };
     }},
    {"ClockZero", [] { return [](Sample& s, double) { s.sm_clock = Mhz(0); }; }},
};

class LyingSensorTest : public ControllerTest, public ::testing::WithParamInterface<LyingSensor> {
 protected:
  RunFigures figures() const {
    RunFigures figures;
    for (const std::string& line : lines_) figures.add(parse_event(line).value());
    return figures;
  }
};

TEST_P(LyingSensorTest, CostsNeitherTimeNorTruth) {
  options_.job_iterations = kRun / 0.040;
  card_->lie = [this, lie = GetParam().make()](Sample& sample) mutable {
    lie(sample, (clock_.now() - begin_).value());
  };
  begin();

  train(kRun);
  session_->finish();

  const auto iterations = static_cast<double>(job_->iterations());
  EXPECT_LT(kRun / (0.040 * iterations) - 1, 0.051);
  EXPECT_TRUE(card_->held.empty());

  EXPECT_LE(warnings_.size(), 2U) << warnings_.back();
  EXPECT_LE(events("state").size(), 80U);

  const JobTotals job = figures().job();
  const double drawn = card_->drawn.value();
  const double at_default = 300 * 0.040 * iterations;
  if (job.joules) {
    EXPECT_NEAR(*job.joules / drawn, 1, 0.15);
  }
  if (job.saved_j) {
    EXPECT_LT(job.saved_j->value, at_default - drawn + 0.02 * at_default) << "more than was saved";
    EXPECT_GT(job.saved_j->value, at_default - drawn - 0.2 * at_default);
  }
}

std::string name_of(const ::testing::TestParamInfo<LyingSensor>& sensor) {
  return sensor.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, LyingSensorTest, ::testing::ValuesIn(kSensors), name_of);

}  // namespace
}  // namespace hypermile
