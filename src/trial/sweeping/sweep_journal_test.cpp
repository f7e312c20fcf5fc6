// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_journal.h"

#include <gtest/gtest.h>

#include "testing/faulty_files.h"

namespace hypermile {
namespace {

constexpr const char* kPath = "out/F.csv.journal";

SweepHeader header() {
  SweepHeader made{"Card \"X\", 80 GB", "GPU-1", "train --lr 0,1", "grid sm=2", {}};
  for (const double mhz : {1410.0, 705.0}) {
    made.settings.emplace_back();
    made.settings.back().sm_clock = Mhz(mhz);
  }
  return made;
}

SweepEntry entry(std::size_t step) {
  SweepEntry made;
  made.step = step;
  made.setting = sweep_order(header().settings)[step];
  made.time_s = 0.1 / 3;
  made.power_w = 301.7;
  made.time_error = 0.004;
  made.iterations = 120;
  made.sm_mhz = 1409.7;
  if (step == 0) made.features = {{"dram_active", 1.0 / 7}};
  return made;
}

FaultyFiles::Disk disk_with(const std::string& text) {
  FaultyFiles::Disk disk;
  disk.names[kPath] = std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{text, text.size()});
  return disk;
}

TEST(SweepJournal, GivesBackExactlyWhatWasWritten) {
  Fate fate;
  FaultyFiles files({}, fate);
  SweepEntry refused = entry(1);
  refused.time_s = refused.power_w = std::nullopt;
  refused.refused = "the clock was not reached";
  {
    SweepJournal journal = SweepJournal::open(files, kPath).value();
    ASSERT_TRUE(journal.begin(header()));
    ASSERT_TRUE(journal.add(entry(0)));
    ASSERT_TRUE(journal.add(refused));
  }

  const SweepJournal again = SweepJournal::open(files, kPath).value();

  EXPECT_EQ(again.header(), header());
  EXPECT_EQ(again.entries(), (std::vector<SweepEntry>{entry(0), refused}));
}

TEST(SweepJournal, LosesNoReportedEntryWhereverTheProcessDies) {
  for (int dies_at = 0; dies_at < 40; ++dies_at) {
    for (const std::size_t torn : {0U, 1U, 40U}) {
      Fate fate{.dies_at = dies_at, .torn_after = torn};
      FaultyFiles files({}, fate);
      std::size_t reported = 0;
      auto journal = SweepJournal::open(files, kPath);
      if (journal && journal->begin(header())) {
        while (reported < 3 && journal->add(entry(reported))) ++reported;
      }
      for (const FaultyFiles::Disk& disk : {files.after_kill(), files.after_power_loss(0, false)}) {
        Fate next;
        FaultyFiles found(disk, next);

        auto again = SweepJournal::open(found, kPath);
        ASSERT_TRUE(again) << dies_at << ": " << again.error().line();
        ASSERT_GE(again->entries().size(), reported) << dies_at;
        const std::size_t there = again->entries().size();
        ASSERT_TRUE(again->begin(header())) << dies_at;
        ASSERT_TRUE(again->add(entry(there)));

        const SweepJournal last = SweepJournal::open(found, kPath).value();
        ASSERT_EQ(last.entries().size(), there + 1) << dies_at;
        for (std::size_t i = 0; i <= there; ++i) EXPECT_EQ(last.entries()[i], entry(i));
      }
    }
  }
}

TEST(SweepJournal, RefusesAnotherSweepByName) {
  Fate fate;
  FaultyFiles files({}, fate);
  {
    SweepJournal journal = SweepJournal::open(files, kPath).value();
    ASSERT_TRUE(journal.begin(header()));
  }
  SweepJournal journal = SweepJournal::open(files, kPath).value();
  SweepHeader other = header();
  other.workload = "another";

  const Result<void> begun = journal.begin(other);

  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, ErrorCode::kUsage);
  EXPECT_NE(begun.error().line().find("train --lr 0,1"), std::string::npos);
}

TEST(SweepJournal, NamesFileAndLineOfAJournalThatIsBroken) {
  const std::string good =
      R"({"gpu":"g","settings":[],"sweep":1,"terms":"","uuid":"","workload":""})";
  const std::pair<std::string, std::string> cases[] = {
      {"gpu,workload\n", ":1:"},
      {R"({"sweep":2})"
       "\n",
       ":1:"},
      {good + "\n{\"step\":-1}\n", ":2:"},
      {good + "\nnonsense\n{}\n", ":2:"},
      {R"({"gpu":"g","settings":["fast"],"sweep":1,"terms":"","uuid":"","workload":""})"
       "\n",
       ":1:"},
  };
  for (const auto& [text, line] : cases) {
    Fate fate;
    FaultyFiles files(disk_with(text), fate);

    const auto journal = SweepJournal::open(files, kPath);

    ASSERT_FALSE(journal.ok()) << text;
    EXPECT_NE(journal.error().line().find(kPath + line), std::string::npos)
        << journal.error().line();
  }
}

TEST(SweepJournal, SaysThatTheDiskIsFull) {
  Fate fate;
  FaultyFiles files({}, fate);
  SweepJournal journal = SweepJournal::open(files, kPath).value();
  ASSERT_TRUE(journal.begin(header()));
  files.fail({.first = files.calls(), .times = 100, .torn_after = 5});

  const Result<void> added = journal.add(entry(0));

  ASSERT_FALSE(added);
  EXPECT_NE(added.error().line().find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
