// SPDX-License-Identifier: Apache-2.0
#include "lease/gpu_keeper.h"

#include <gtest/gtest.h>

#include "testing/faulty_gpu.h"
#include "testing/mortal_gpu.h"

namespace hypermile {
namespace {

Bounds all_allowed(bool clamp = false) {
  return Bounds{KnobRange{}, KnobRange{}, KnobRange{}, clamp};
}

class GpuKeeperTest : public ::testing::Test {
 protected:
  // A process that keeps the card; `script` lists the faults of its access to the card.
  std::unique_ptr<GpuKeeper> keeper(std::vector<ScriptedFault> script = {}) {
    auto gpu = std::make_unique<FaultyGpu>(std::make_unique<MortalGpu>(card_, fate_), clock_,
                                           std::move(script));
    return GpuKeeper::make(std::move(gpu), files_, clock_, options_).value();
  }
  std::unique_ptr<GpuKeeper> ready_keeper(std::vector<ScriptedFault> script = {}) {
    auto made = keeper(std::move(script));
    EXPECT_FALSE(made->restore(RestoreScope::kChanged).problem);
    return made;
  }
  static Result<SetReply> set(GpuKeeper& keeper, const char* setting, Bounds bounds = all_allowed(),
                              LeaseId lease = 1) {
    return keeper.set({lease, "owner", parse_setting(setting).value(), bounds});
  }
  static RestoreHow how(const RestoreReport& report, Knob knob) {
    for (const KnobRestore& one : report.knobs) {
      if (one.knob == knob) return one.result.value();
    }
    ADD_FAILURE() << "no " << to_string(knob) << " in the report";
    return RestoreHow::kUntouched;
  }

  VirtualClock clock_;
  FakeGpu card_{clock_, "GPU-1"};
  Fate fate_;
  FaultyFiles files_{{}, fate_};
  GpuKeeper::Options options_{"/state", "hypermiled (pid 12)",    {"boot-1", "driver-1"}, {},
                              {},       [](auto) { return true; }};
};

const Error kBroken{ErrorCode::kGpuLost, "GPU is lost"};

TEST_F(GpuKeeperTest, SetsAndGivesBack) {
  card_.held.power_limit = Watts(650);
  const auto keeper = ready_keeper();

  const auto reply = set(*keeper, "sm=1410,mem=3201,limit=400");

  ASSERT_TRUE(reply.ok()) << reply.error().line();
  EXPECT_EQ(to_string(reply->in_force), "sm=1410MHz mem=3201MHz limit=400W");
  EXPECT_EQ(card_.held, reply->in_force);
  EXPECT_EQ(keeper->in_force(), reply->in_force);
  const RestoreReport report = keeper->restore(RestoreScope::kChanged);
  EXPECT_FALSE(report.problem);
  EXPECT_EQ(to_string(card_.held), "limit=650W");
  EXPECT_EQ(how(report, Knob::kSmClock), RestoreHow::kReset);
  EXPECT_EQ(how(report, Knob::kPowerLimit), RestoreHow::kBaseline);
  EXPECT_TRUE(keeper->restore(RestoreScope::kChanged).knobs.empty());
}

TEST_F(GpuKeeperTest, GivesBackAKnobThatTheNextSettingDoesNotName) {
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=1410,limit=400").ok());

  const auto reply = set(*keeper, "limit=300");

  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(to_string(card_.held), "limit=300W");
  ASSERT_TRUE(set(*keeper, "default").ok());
  EXPECT_EQ(to_string(card_.held), "limit=700W");
}

TEST_F(GpuKeeperTest, ChangesAsOftenAsItIsAsked) {
  const auto keeper = ready_keeper();

  for (int i = 0; i < 100; ++i) {
    const std::string setting = "limit=" + std::to_string(300 + i);
    ASSERT_TRUE(set(*keeper, setting.c_str()).ok()) << i;
  }
}

TEST_F(GpuKeeperTest, LeavesAPowerLimitAloneThatSomebodyElseHasSetSince) {
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=1410,limit=400").ok());
  card_.held.power_limit = Watts(550);

  const RestoreReport report = keeper->restore(RestoreScope::kChanged);

  EXPECT_EQ(how(report, Knob::kPowerLimit), RestoreHow::kForeign);
  EXPECT_EQ(to_string(card_.held), "limit=550W");
}

TEST_F(GpuKeeperTest, LeavesAForeignPowerLimitAloneAlsoAfterItsPredecessorWasKilled) {
  ASSERT_TRUE(set(*ready_keeper(), "limit=400").ok());
  card_.held.power_limit = Watts(550);

  const RestoreReport report = keeper()->restore(RestoreScope::kChanged);

  EXPECT_EQ(how(report, Knob::kPowerLimit), RestoreHow::kForeign);
}

TEST_F(GpuKeeperTest, RestoresToWhatTheSiteDeclares) {
  options_.site = parse_setting("sm=1410,limit=600").value();
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=345,limit=300").ok());

  EXPECT_FALSE(keeper->restore(RestoreScope::kChanged).problem);

  EXPECT_EQ(to_string(card_.held), "sm=1410MHz limit=600W");
}

TEST_F(GpuKeeperTest, NeverGoesAboveTheSiteOrTheLimitThatItFound) {
  options_.site = parse_setting("sm=1410").value();
  card_.held.power_limit = Watts(500);
  const auto keeper = ready_keeper();

  EXPECT_EQ(set(*keeper, "sm=1980").error().code, ErrorCode::kPermission);
  EXPECT_EQ(set(*keeper, "limit=600").error().code, ErrorCode::kPermission);
  EXPECT_EQ(to_string(card_.held), "limit=500W") << "nothing was changed";
  const auto clamped = set(*keeper, "sm=1980,limit=600", all_allowed(true));
  ASSERT_TRUE(clamped.ok());
  EXPECT_EQ(to_string(clamped->in_force), "sm=1410MHz limit=500W");
}

TEST_F(GpuKeeperTest, ADeclaredValueThatTheCardRefusesForGoodBecomesTheDefault) {
  options_.site = parse_setting("sm=1111").value();
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=345").ok());

  const RestoreReport report = keeper->restore(RestoreScope::kChanged);

  EXPECT_FALSE(report.problem);
  EXPECT_EQ(how(report, Knob::kSmClock), RestoreHow::kReset);
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, HoldsEveryKnobToItsBounds) {
  const auto keeper = ready_keeper();
  const Bounds some{KnobRange{500, 1500}, {}, KnobRange{300, 650}};
  Bounds clamping = some;
  clamping.clamp = true;

  EXPECT_EQ(set(*keeper, "sm=345", some).error().code, ErrorCode::kPermission);
  EXPECT_EQ(set(*keeper, "mem=3201", some).error().code, ErrorCode::kPermission);
  EXPECT_EQ(set(*keeper, "mem=3201", clamping).error().code, ErrorCode::kPermission);
  EXPECT_TRUE(card_.held.empty());
  const auto clamped = set(*keeper, "sm=345,limit=100", clamping);
  ASSERT_TRUE(clamped.ok()) << clamped.error().line();
  EXPECT_EQ(to_string(clamped->in_force), "sm=1410MHz limit=300W") << "a clock of the card's";
}

TEST_F(GpuKeeperTest, GoesOnAfterAnErrorAndTriesOnlyTheRestAgain) {
  const auto keeper = ready_keeper({{GpuCall::kReset, fault::Fails{kBroken}, 0, 1}});
  ASSERT_TRUE(set(*keeper, "sm=1410,mem=3201,limit=400").ok());

  const RestoreReport first = keeper->restore(RestoreScope::kChanged);
  const std::string after_first = to_string(card_.held);
  const RestoreReport second = keeper->restore(RestoreScope::kChanged);

  ASSERT_TRUE(first.problem);
  EXPECT_EQ(first.problem->message, "sm: GPU is lost");
  EXPECT_EQ(after_first, "sm=1410MHz limit=700W");
  EXPECT_FALSE(second.problem);
  EXPECT_EQ(second.knobs.size(), 1U);
  EXPECT_EQ(to_string(card_.held), "limit=700W");
}

TEST_F(GpuKeeperTest, AKnobWhoseSettingFailedIsGivenBackToo) {
  const auto keeper = ready_keeper({{GpuCall::kApply, fault::Fails{kBroken}, 0, 1}});

  const auto reply = set(*keeper, "sm=1410");

  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(all_applied(reply->outcome));
  EXPECT_TRUE(reply->in_force.empty());
  card_.held.sm_clock = Mhz(1410);  // the failed call took effect after all
  EXPECT_FALSE(keeper->restore(RestoreScope::kChanged).problem);
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, IsNotDoneWhileAnAbandonedCallMayStillTakeEffect) {
  bool settled = true;
  options_.settled = [&] { return settled; };
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=1410").ok());
  settled = false;

  const RestoreReport early = keeper->restore(RestoreScope::kChanged);
  const bool restored_at_once = card_.held.empty();
  card_.held.sm_clock = Mhz(345);  // the abandoned call takes effect late
  settled = true;
  const RestoreReport late = keeper->restore(RestoreScope::kChanged);

  EXPECT_TRUE(early.problem);
  EXPECT_TRUE(restored_at_once);
  EXPECT_FALSE(late.problem);
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, HasNothingToUndoAfterTheMachineOrDriverWasRestarted) {
  for (const MachineEpoch& next : {MachineEpoch{"boot-2", "driver-1"}, {"boot-1", "driver-2"}}) {
    options_.epoch = {"boot-1", "driver-1"};
    ASSERT_TRUE(set(*ready_keeper(), "sm=1410,limit=400").ok());
    card_.held = parse_setting("sm=345").value();  // set by the administrator at boot
    options_.epoch = next;

    const RestoreReport report = keeper()->restore(RestoreScope::kChanged);

    EXPECT_EQ(how(report, Knob::kSmClock), RestoreHow::kGone);
    EXPECT_EQ(to_string(card_.held), "sm=345MHz");
  }
}

TEST_F(GpuKeeperTest, RestoresInDoubtWhetherTheDriverIsTheSame) {
  ASSERT_TRUE(set(*ready_keeper(), "sm=1410").ok());
  options_.epoch.driver = "";

  EXPECT_EQ(how(keeper()->restore(RestoreScope::kChanged), Knob::kSmClock), RestoreHow::kReset);
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, ResetsEverythingForTheAdministratorWhateverTheJournalSays) {
  card_.held = parse_setting("sm=345,mem=3201,limit=300").value();
  const auto keeper = ready_keeper({{GpuCall::kReset, fault::Fails{kBroken}, 0, 1}});

  const RestoreReport first = keeper->restore(RestoreScope::kEverything);
  const RestoreReport again = keeper->restore(RestoreScope::kChanged);

  EXPECT_TRUE(first.problem);
  EXPECT_FALSE(again.problem) << "what the order left over is done";
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, IgnoresAKnobThatTheCardLacks) {
  const Error lacking{ErrorCode::kUnsupported, "no memory lock"};
  const auto keeper = ready_keeper({{GpuCall::kReset, fault::Fails{lacking}, 1, 1}});

  EXPECT_FALSE(keeper->restore(RestoreScope::kEverything).problem);
}

TEST_F(GpuKeeperTest, IsTheOnlyOneForItsGpu) {
  const auto first = ready_keeper();

  const RestoreReport second = keeper()->restore(RestoreScope::kChanged);

  ASSERT_TRUE(second.problem);
  EXPECT_EQ(second.problem->code, ErrorCode::kBusy);
  EXPECT_EQ(second.problem->message, "hypermiled (pid 12)");
}

TEST_F(GpuKeeperTest, ALockWithoutAKeeperKeepsNobodyFromRestoring) {
  {
    const auto crashed = ready_keeper();
    ASSERT_TRUE(set(*crashed, "sm=1410").ok());
  }
  const auto stranger = files_.lock("/state/GPU-1.lock", "nobody that we know");
  options_.keeper_lives = [](std::string_view holder) { return holder != "nobody that we know"; };
  const auto next = keeper();

  EXPECT_FALSE(next->restore(RestoreScope::kChanged).problem);

  EXPECT_TRUE(card_.held.empty());
  EXPECT_EQ(set(*next, "sm=1410").error().code, ErrorCode::kIo) << "but nothing can be changed";
  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, RestoresWithoutAFileThatCanBeWritten) {
  {
    const auto crashed = ready_keeper();
    ASSERT_TRUE(set(*crashed, "sm=1410,limit=400").ok());
  }
  files_.fail({0, 1000, "Read-only file system"});
  files_.fail_only_writes = true;
  const auto next = keeper();

  EXPECT_FALSE(next->restore(RestoreScope::kChanged).problem);

  EXPECT_EQ(to_string(card_.held), "limit=700W") << "the limit that it found";
  EXPECT_FALSE(set(*next, "sm=1410").ok()) << "without a durable record nothing is changed";
}

TEST_F(GpuKeeperTest, SaysOnceThatItsJournalWasDamaged) {
  FaultyFiles::Disk disk;
  disk.names["/state/GPU-1.journal"] =
      std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{"rubbish", 7});
  FaultyFiles damaged(disk, fate_);
  auto gpu = std::make_unique<MortalGpu>(card_, fate_);
  const auto keeper = GpuKeeper::make(std::move(gpu), damaged, clock_, options_).value();

  const RestoreReport first = keeper->restore(RestoreScope::kChanged);
  const RestoreReport second = keeper->restore(RestoreScope::kChanged);

  ASSERT_TRUE(first.damage);
  EXPECT_NE(first.damage->line().find("GPU-1.journal"), std::string::npos);
  EXPECT_FALSE(first.problem) << "the GPU is given back all the same";
  EXPECT_FALSE(second.damage);
}

TEST_F(GpuKeeperTest, APowerLimitThatDoesNotReadBackIsNotRestored) {
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "limit=400").ok());
  card_.stuck_limit = true;

  const RestoreReport report = keeper->restore(RestoreScope::kChanged);

  ASSERT_TRUE(report.problem);
  EXPECT_EQ(report.problem->message,
            "limit: the power limit reads 400 W after it was set to 700 W");
  EXPECT_FALSE(keeper->restored());
  card_.stuck_limit = false;
  EXPECT_FALSE(keeper->restore(RestoreScope::kChanged).problem);
  EXPECT_TRUE(keeper->restored());
}

TEST_F(GpuKeeperTest, AClockThatStaysLowUnderLoadShowsThatAResetDidNothing) {
  using Verdict = GpuKeeper::ReadBack::Verdict;
  card_.busy = 0.9;
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=1410").ok());
  card_.deaf_resets = 1;
  ASSERT_FALSE(keeper->restore(RestoreScope::kChanged).problem) << "the driver said yes";

  const GpuKeeper::ReadBack seen = keeper->read_back();

  EXPECT_EQ(seen.verdict, Verdict::kStillLimited);
  EXPECT_EQ(
      seen.text,
      "sm reads 1410 MHz under load after it was reset from 1410 MHz; it was 1980 MHz before");
  ASSERT_TRUE(keeper->give_back_again().ok());
  EXPECT_EQ(keeper->read_back().verdict, Verdict::kAsExpected);
}

TEST_F(GpuKeeperTest, AClockThatASettingNoLongerNamesIsReadBackToo) {
  card_.busy = 0.9;
  const auto keeper = ready_keeper();
  ASSERT_TRUE(set(*keeper, "sm=1410,limit=400").ok());
  card_.deaf_resets = 1;
  ASSERT_TRUE(set(*keeper, "limit=400").ok());
  ASSERT_FALSE(keeper->restore(RestoreScope::kChanged).problem);

  EXPECT_EQ(keeper->read_back().verdict, GpuKeeper::ReadBack::Verdict::kStillLimited);
}

TEST_F(GpuKeeperTest, AnIdleCardShowsNothingAboutItsClocks) {
  using Verdict = GpuKeeper::ReadBack::Verdict;
  const auto keeper = ready_keeper();
  EXPECT_EQ(keeper->read_back().verdict, Verdict::kNothing);
  ASSERT_TRUE(set(*keeper, "sm=1410").ok());
  card_.deaf_resets = 1;
  card_.busy = 0.9;
  ASSERT_FALSE(keeper->restore(RestoreScope::kChanged).problem);

  EXPECT_EQ(keeper->read_back().verdict, Verdict::kCannotTell)
      << "it was not busy before, so nobody knows how fast it is";
}

TEST_F(GpuKeeperTest, SetsNothingBeforeItHasRestoredAndNothingForAnotherLease) {
  const auto keeper = this->keeper();

  EXPECT_EQ(set(*keeper, "sm=1410").error().code, ErrorCode::kNotReady);
  EXPECT_FALSE(keeper->restore(RestoreScope::kChanged).problem);
  EXPECT_TRUE(set(*keeper, "sm=1410", all_allowed(), 1).ok());
  EXPECT_EQ(set(*keeper, "sm=345", all_allowed(), 2).error().code, ErrorCode::kNotReady);
}

TEST_F(GpuKeeperTest, DoesNotSetAPowerLimitThatItCouldNotGiveBack) {
  const auto keeper = ready_keeper({{GpuCall::kRead, fault::Fails{kBroken}}});

  EXPECT_FALSE(set(*keeper, "sm=1410,limit=400").ok());

  EXPECT_TRUE(card_.held.empty());
}

TEST_F(GpuKeeperTest, RefusesAUuidThatLeadsOutOfItsFolder) {
  for (const char* uuid : {"", "../etc/passwd", "GPU 1", "a/b"}) {
    EXPECT_FALSE(
        GpuKeeper::make(std::make_unique<FakeGpu>(clock_, uuid), files_, clock_, options_).ok())
        << uuid;
  }
}

}  // namespace
}  // namespace hypermile
