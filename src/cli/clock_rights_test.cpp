// SPDX-License-Identifier: Apache-2.0
#include "cli/clock_rights.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(ClockRights, AUserWhomTheDaemonAllowsNeedsNoRoot) {
  const RightsFacts facts{.daemon = true, .gpus = 2, .allowed = 2};
  EXPECT_EQ(to_line(judge_rights(facts)), "clocks can be changed by you: yes, through the daemon");
}

TEST(ClockRights, SaysOnHowManyGpus) {
  const RightsFacts facts{.daemon = true, .gpus = 8, .allowed = 1};
  EXPECT_EQ(judge_rights(facts).words, "through the daemon, on 1 of 8 GPUs");
}

TEST(ClockRights, ADaemonThatRefusesIsANoEvenForRoot) {
  EXPECT_FALSE(judge_rights({.root = true, .daemon = true, .gpus = 1, .guardian = true}).yes);
  EXPECT_FALSE(
      judge_rights({.root = true, .daemon = true, .gpus = 1, .allowed = 1, .closed = true}).yes);
}

TEST(ClockRights, ASudoThatAsksForAPasswordIsNotACleanYes) {
  RightsFacts facts{.guardian = true, .sudo = SudoManner::kAsks, .somebody_can_answer = true};
  EXPECT_EQ(to_line(judge_rights(facts)),
            "clocks can be changed by you: yes, if you can give sudo your password, which each run "
            "then asks for");

  facts.somebody_can_answer = false;
  EXPECT_EQ(to_line(judge_rights(facts)),
            "clocks can be changed by you: no, because no daemon runs, sudo asks for a password, "
            "and nobody is here to type it; run 'sudo -v' first, or let an administrator start the "
            "daemon");
}

TEST(ClockRights, WithoutDaemonSudoIsEnough) {
  EXPECT_TRUE(judge_rights({.guardian = true, .sudo = SudoManner::kFree}).yes);
  EXPECT_TRUE(judge_rights({.root = true, .guardian = true}).yes);
  EXPECT_FALSE(judge_rights({.guardian = true}).yes);
  EXPECT_FALSE(judge_rights({.root = true}).yes) << "hypermiled is not installed";
}

TEST(ClockRights, ReadOnlyOutranksEverything) {
  EXPECT_EQ(to_line(judge_rights({.read_only = true, .root = true, .guardian = true})),
            "clocks can be changed by you: no, because HYPERMILE_READ_ONLY is set; unset it");
}

TEST(ClockRights, TheControlLineOfAGpuFollowsThem) {
  Capabilities capabilities;
  const DoctorFinding allowed = diagnose_control(capabilities, {true, "through the daemon", ""});
  EXPECT_EQ(allowed.verdict, DoctorVerdict::kOk);
  EXPECT_EQ(allowed.detail, "clocks can be changed through the daemon");
  EXPECT_EQ(allowed.fix, "");

  const DoctorFinding refused =
      diagnose_control(capabilities, {false, "there is no sudo", "do it"});
  EXPECT_EQ(refused.verdict, DoctorVerdict::kWarn);
  EXPECT_EQ(refused.detail, "clocks cannot be changed: there is no sudo");

  capabilities.barrier = ControlBarrier::kMigEnabled;
  EXPECT_EQ(diagnose_control(capabilities, {true, "through the daemon", ""}).verdict,
            DoctorVerdict::kFail);
}

}  // namespace
}  // namespace hypermile
