// SPDX-License-Identifier: Apache-2.0
//
// Kills a process that changes a GPU between any two operations on its files and its GPU, with
// every loss that a disk may show. The next process must leave the GPU as it was found.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "lease/gpu_keeper.h"
#include "testing/faulty_files.h"
#include "testing/mortal_gpu.h"

namespace hypermile {
namespace {

constexpr Watts kAdministratorsLimit(650);
constexpr Watts kCardsLimit(700);

Bounds all_allowed() {
  return Bounds{KnobRange{}, KnobRange{}, KnobRange{}};
}

// One card with its disk, used by one process after another.
class CrashTest : public ::testing::Test {
 protected:
  CrashTest() { fresh_card(); }

  static GpuKeeper::Options options() {
    return {"/state", "test", MachineEpoch{"boot-1", "driver-1"}, {}, {}};
  }

  std::unique_ptr<GpuKeeper> keeper(FaultyFiles& files, Fate& fate,
                                    std::function<void(const Setting&)> before = {}) {
    return GpuKeeper::make(std::make_unique<MortalGpu>(card_, fate, std::move(before)), files,
                           clock_, options())
        .value();
  }

  void set(GpuKeeper& keeper, LeaseId lease, const char* setting) {
    const auto reply = keeper.set({lease, "owner", parse_setting(setting).value(), all_allowed()});
    if (!at_baseline()) changed_ = true;
    (void)reply;
  }

  // A typical life: two leases, several changes, and a knob restored in between.
  void live(GpuKeeper& keeper) {
    (void)keeper.restore(RestoreScope::kChanged);
    set(keeper, 1, "sm=1410,limit=400");
    set(keeper, 1, "sm=345,mem=3201,limit=500");
    set(keeper, 1, "sm=1410");
    (void)keeper.restore(RestoreScope::kChanged);
    set(keeper, 2, "limit=300");
    (void)keeper.restore(RestoreScope::kChanged);
  }

  // The next process starts with what the disk has kept.
  RestoreReport recover(const FaultyFiles::Disk& disk) {
    Fate fate;
    FaultyFiles files(disk, fate);
    return keeper(files, fate)->restore(RestoreScope::kChanged);
  }

  // The limit is as it was found or, after damage, the card's own default.
  bool at_baseline() const {
    const Watts limit = card_.held.power_limit.value_or(kCardsLimit);
    return !card_.held.sm_clock && !card_.held.memory_clock &&
           (limit == kAdministratorsLimit || limit == kCardsLimit);
  }

  void fresh_card() {
    card_.held = Setting{};
    card_.held.power_limit = kAdministratorsLimit;
    changed_ = false;
  }

  // Starts from a fresh disk and card and dies at `step`.
  std::unique_ptr<FaultyFiles> run_until(Fate& fate, int step, std::size_t torn_after) {
    fresh_card();
    fate = Fate{0, step, torn_after};
    auto files = std::make_unique<FaultyFiles>(FaultyFiles::Disk{}, fate);
    live(*keeper(*files, fate));
    return files;
  }

  int steps_of_a_life() {
    Fate fate;
    FaultyFiles files({}, fate);
    live(*keeper(files, fate));
    EXPECT_TRUE(at_baseline());
    return fate.operations;
  }

  VirtualClock clock_;
  FakeGpu card_{clock_, "GPU-1"};
  bool changed_ = false;
};

TEST_F(CrashTest, KilledBetweenAnyTwoOperationsTheNextStartRestores) {
  const int steps = steps_of_a_life();
  int left_changed = 0;

  for (int step = 0; step < steps; ++step) {
    Fate fate;
    const auto files = run_until(fate, step, 0);
    left_changed += at_baseline() ? 0 : 1;
    const RestoreReport report = recover(files->after_kill());

    EXPECT_FALSE(report.problem) << step << ": " << report.problem->line();
    EXPECT_TRUE(at_baseline()) << "died at step " << step;
    EXPECT_EQ(card_.held.power_limit, kAdministratorsLimit) << "died at step " << step;
  }
  EXPECT_GE(left_changed, steps / 2);
}

TEST_F(CrashTest, WritesTornAtAnyByteAreMadeGood) {
  const int steps = steps_of_a_life();
  int torn_writes = 0;

  for (int step = 0; step < steps; ++step) {
    Fate fate;
    (void)run_until(fate, step, 0);
    const std::size_t length = fate.last_append;
    for (std::size_t torn = 1; torn <= length; ++torn) {
      const auto files = run_until(fate, step, torn);
      ++torn_writes;
      const RestoreReport report = recover(files->after_kill());

      ASSERT_FALSE(report.problem) << report.problem->line();
      ASSERT_TRUE(at_baseline()) << "died at step " << step << " after " << torn << " bytes";
    }
  }
  EXPECT_GT(torn_writes, 800);
}

TEST_F(CrashTest, WhatWasNotSyncedMayBeLostInAnyPart) {
  const int steps = steps_of_a_life();

  for (int step = 0; step < steps; ++step) {
    for (const bool names_kept : {false, true}) {
      for (std::size_t kept = 0; kept < 400; kept += 7) {
        Fate fate;
        const auto files = run_until(fate, step, 0);
        // The card keeps its settings and its boot id here, which is harsher than losing power.
        (void)recover(files->after_power_loss(kept, names_kept));

        ASSERT_TRUE(at_baseline()) << "died at step " << step << ", kept " << kept;
      }
    }
  }
}

TEST_F(CrashTest, DyingWhileRecoveringIsMadeGoodByTheOneAfter) {
  const int steps = steps_of_a_life();

  for (int step = 0; step < steps; ++step) {
    for (int second = 0; second < 24; ++second) {
      Fate fate;
      const auto files = run_until(fate, step, 3);
      Fate next{0, second};
      FaultyFiles found(files->after_kill(), next);
      (void)keeper(found, next)->restore(RestoreScope::kChanged);
      (void)recover(found.after_kill());

      ASSERT_TRUE(at_baseline()) << "died at step " << step << ", then at " << second;
    }
  }
}

TEST_F(CrashTest, NoSetterIsReachedWithoutADurableRecordOfIt) {
  int setters = 0;
  for (int failing = 0; failing < 60; ++failing) {
    Fate fate;
    FaultyFiles files({}, fate);
    files.fail({failing, 1});
    const auto process = keeper(files, fate, [&](const Setting& setting) {
      Fate reader_fate;
      FaultyFiles disk(files.after_power_loss(0, false), reader_fate);
      const auto journal = Journal::open(disk, "/state", GpuUuid("GPU-1"), {});
      ++setters;
      for (const Knob knob : kAllKnobs) {
        EXPECT_TRUE(!setting.has(knob) || journal->changes().count(knob) == 1)
            << "call " << failing << " failed, then " << to_string(setting);
      }
    });
    live(*process);
  }
  EXPECT_GT(setters, 200);
}

TEST_F(CrashTest, ACallThatFailsOnceOrForEverLeavesNothingChanged) {
  int refused = 0;
  for (const char* why : {"No space left on device", "Input/output error", "Too many open files"}) {
    for (int failing = 0; failing < 60; ++failing) {
      for (const int times : {1, 1000000}) {
        for (const std::size_t torn : {std::size_t{0}, std::size_t{11}}) {
          Fate fate;
          FaultyFiles files({}, fate);
          files.fail({failing, times, why, torn});
          fresh_card();
          const auto process = keeper(files, fate);
          live(*process);
          refused += changed_ ? 0 : 1;
          EXPECT_TRUE(at_baseline()) << why << " at call " << failing << " times " << times;

          (void)recover(files.after_kill());
          EXPECT_TRUE(at_baseline()) << "after the next start";
        }
      }
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace hypermile
