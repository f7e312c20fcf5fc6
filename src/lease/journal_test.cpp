// SPDX-License-Identifier: Apache-2.0
#include "lease/journal.h"

#include <gtest/gtest.h>

#include "lease/frame.h"
#include "testing/faulty_files.h"

namespace hypermile {
namespace {

const MachineEpoch kNow{"boot-1", "driver-1"};
const std::string kPath = "/state/GPU-1.journal";

ChangeRecord change(Knob knob, double requested, std::optional<double> baseline = {}) {
  return {GpuUuid("GPU-1"), knob, baseline, requested, 7, "python3 (pid 42)", kNow, 1.5e9};
}

class JournalTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Journal> open(Files& files) {
    return Journal::open(files, "/state", GpuUuid("GPU-1"), kNow);
  }
  static Result<void> record(Journal& journal, const ChangeRecord& one) {
    return journal.record_changes(std::span(&one, 1));
  }
  static FaultyFiles::Disk with(std::string bytes) {
    FaultyFiles::Disk disk;
    disk.names[kPath] = std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{bytes, 0});
    return disk;
  }
  std::string bytes(const std::string& path = kPath) { return files_.read(path, 1U << 30).value(); }

  Fate fate_;
  FaultyFiles files_{{}, fate_};
};

TEST_F(JournalTest, GivesTheNextProcessWhatWasChangedAndNotWhatWasGivenBack) {
  const auto journal = open(files_);
  ASSERT_TRUE(record(*journal, change(Knob::kSmClock, 1410)));
  ASSERT_TRUE(record(*journal, change(Knob::kPowerLimit, 400, 650)));
  ASSERT_TRUE(record(*journal, change(Knob::kPowerLimit, 300, 400)));
  journal->record_restored(Knob::kSmClock);

  const auto next = open(files_);

  EXPECT_FALSE(next->damage());
  ASSERT_EQ(next->changes().size(), 1U);
  const KnobChange& limit = next->changes().at(Knob::kPowerLimit);
  EXPECT_EQ(limit.baseline, 650) << "the first baseline stays";
  EXPECT_EQ(limit.requested, (std::vector<double>{400, 300}));
  EXPECT_TRUE(limit.requested_known);
  EXPECT_EQ(limit.lease, 7U);
  EXPECT_EQ(limit.owner, "python3 (pid 42)");
  EXPECT_EQ(limit.epoch, kNow);
}

TEST_F(JournalTest, OpeningAndReadingWritesNothing) {
  ASSERT_TRUE(record(*open(files_), change(Knob::kSmClock, 1410)));
  const std::string before = bytes();

  for (int i = 0; i < 3; ++i) (void)open(files_);

  EXPECT_EQ(bytes(), before);
}

TEST_F(JournalTest, StaysShortHoweverManyChangesAreMade) {
  const auto journal = open(files_);

  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(record(*journal, change(Knob::kPowerLimit, 300 + i % 100, 650)));
    journal->note_applied(Knob::kPowerLimit);
    ASSERT_LE(bytes().size(), Journal::kCompactBytes + 1024);
  }
  const auto next = open(files_);

  EXPECT_FALSE(next->damage());
  EXPECT_EQ(next->changes().at(Knob::kPowerLimit).baseline, 650);
  EXPECT_EQ(next->changes().at(Knob::kPowerLimit).requested.back(), 399);
}

TEST_F(JournalTest, IsWholeUnderItsNameAtEveryInstantOfARewrite) {
  ASSERT_TRUE(record(*open(files_), change(Knob::kPowerLimit, 400, 650)));
  for (int step = 0; step < 200; ++step) {
    for (const bool names_kept : {false, true}) {
      Fate fate;
      FaultyFiles files(files_.after_kill(), fate);
      const auto journal = open(files);
      // Long enough to be rewritten several times.
      fate.dies_at = fate.operations + 1000 + step;
      while (!fate.dead()) {
        (void)record(*journal, change(Knob::kPowerLimit, 300, 650));
        journal->note_applied(Knob::kPowerLimit);
      }
      FaultyFiles found(files.after_power_loss(0, names_kept), fate_);
      const auto next = open(found);

      ASSERT_FALSE(next->damage()) << next->damage()->message;
      ASSERT_EQ(next->changes().at(Knob::kPowerLimit).baseline, 650);
    }
  }
}

TEST_F(JournalTest, ThatIsDamagedCountsEveryKnobAsChangedAndIsKept) {
  const auto journal = open(files_);
  ASSERT_TRUE(record(*journal, change(Knob::kPowerLimit, 400, 650)));
  std::string broken = bytes() + "tail";
  FaultyFiles files(with(broken), fate_);

  const auto next = open(files);

  ASSERT_TRUE(next->damage());
  EXPECT_NE(next->damage()->message.find(kPath), std::string::npos);
  ASSERT_EQ(next->changes().size(), 3U);
  EXPECT_EQ(next->changes().at(Knob::kPowerLimit).baseline, 650);
  EXPECT_FALSE(next->changes().at(Knob::kPowerLimit).requested_known);
  next->record_restored(Knob::kSmClock);
  EXPECT_EQ(files.read(kPath + ".damaged-1", 1U << 20).value(), broken);
  const auto third = open(files);
  EXPECT_FALSE(third->damage()) << third->damage()->message;
  EXPECT_EQ(third->changes().size(), 2U) << "what is not restored yet is carried over";
  EXPECT_FALSE(third->changes().at(Knob::kMemoryClock).requested_known);
}

TEST_F(JournalTest, KeepsEveryDamagedFileUnderItsOwnName) {
  FaultyFiles::Disk disk;
  for (int i = 0; i < 3; ++i) {
    disk.names[kPath] =
        std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{"rubbish " + std::to_string(i), 0});
    FaultyFiles files(disk, fate_);
    open(files)->record_restored(Knob::kSmClock);
    disk = files.after_kill();
  }

  EXPECT_EQ(disk.names.at(kPath + ".damaged-1")->data, "rubbish 0");
  EXPECT_EQ(disk.names.at(kPath + ".damaged-3")->data, "rubbish 2");
}

TEST_F(JournalTest, OfAnotherGpuOrVersionOrNothingAtAllIsDamaged) {
  const std::string other = to_frame(HeaderRecord{1, GpuUuid("GPU-2")});
  const std::string newer = to_frame(HeaderRecord{2, GpuUuid("GPU-1")});
  const std::string headless = to_frame(change(Knob::kSmClock, 1410));
  const std::string alien = FrameWriter().number(1, 99).text(2, "GPU-1").finish().value();

  for (const std::string& content : {std::string(), other, newer, headless, alien}) {
    FaultyFiles files(with(content), fate_);
    EXPECT_TRUE(open(files)->damage()) << content.size();
  }
}

TEST_F(JournalTest, ThatIsTooLargeOrCannotBeReadIsDamaged) {
  FaultyFiles large(with(std::string(Journal::kMostBytes + 1, 'x')), fate_);
  FaultyFiles unreadable(with(to_frame(HeaderRecord{1, GpuUuid("GPU-1")})), fate_);
  unreadable.fail({0, 1, "Input/output error"});

  EXPECT_TRUE(open(large)->damage());
  EXPECT_TRUE(open(unreadable)->damage());
}

TEST_F(JournalTest, RefusesAChangeWhileTheDiskIsFullAndTakesItAgainLater) {
  const auto journal = open(files_);
  ASSERT_TRUE(record(*journal, change(Knob::kSmClock, 1410)));
  files_.fail({files_.calls(), 5, "No space left on device", 9});

  const auto full = record(*journal, change(Knob::kMemoryClock, 3201));
  const auto still_full = record(*journal, change(Knob::kMemoryClock, 3201));
  const auto later = [&] {
    for (int i = 0; i < 5; ++i) {
      if (record(*journal, change(Knob::kMemoryClock, 3201))) return true;
    }
    return false;
  }();

  EXPECT_EQ(full.error().code, ErrorCode::kIo);
  EXPECT_FALSE(full.error().remedy.empty());
  EXPECT_FALSE(still_full);
  EXPECT_TRUE(later);
  EXPECT_FALSE(open(files_)->damage()) << "the torn record is gone";
  EXPECT_EQ(open(files_)->changes().size(), 2U);
}

TEST_F(JournalTest, RefusesToLoseCountOfRequestsThatMayBeInForce) {
  const auto journal = open(files_);
  int taken = 0;
  while (taken < 1000 && record(*journal, change(Knob::kPowerLimit, 300 + taken, 650))) ++taken;

  EXPECT_EQ(taken, static_cast<int>(Journal::kMostUncertain));
}

TEST(JournalRecord, SurvivesBeingWrittenAndRead) {
  const ChangeRecord full = change(Knob::kMemoryClock, 1593, 3201);
  ChangeRecord sparse = full;
  sparse.baseline.reset();
  sparse.requested.reset();

  for (const ChangeRecord& record : {full, sparse}) {
    const std::string frame = to_frame(record);
    const auto read = parse_record(cut_frame(frame).body);
    ASSERT_TRUE(read.ok()) << read.error().line();
    const auto& back = std::get<ChangeRecord>(*read);
    EXPECT_EQ(back.gpu, record.gpu);
    EXPECT_EQ(back.knob, record.knob);
    EXPECT_EQ(back.baseline, record.baseline);
    EXPECT_EQ(back.requested, record.requested);
    EXPECT_EQ(back.unix_time, record.unix_time);
  }
}

TEST(JournalRecord, FitsAFrameHoweverLongItsTexts) {
  ChangeRecord record = change(Knob::kSmClock, 1410);
  record.owner = record.epoch.driver = std::string(100000, 'x');

  const std::string frame = to_frame(record);

  EXPECT_TRUE(parse_record(cut_frame(frame).body).ok());
  EXPECT_LT(frame.size(), 4096U);
}

}  // namespace
}  // namespace hypermile
