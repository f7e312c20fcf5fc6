// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_folder.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "testing/ring_fixture.h"

namespace hypermile {
namespace {

using RingFolderTest = RingTest;

TEST_F(RingFolderTest, FindsEachProcessOnce) {
  auto second = std::make_unique<RingWriter>();
  ASSERT_TRUE(second->open(RingSource::kTicks));

  EXPECT_EQ(folder_->discover().size(), 1U);
  EXPECT_TRUE(folder_->discover().empty());
  EXPECT_EQ(folder_->rings().size(), 2U);
}

TEST_F(RingFolderTest, IsReadableByItsOwnerOnly) {
  struct stat status {};
  ASSERT_EQ(::stat(folder_->path().c_str(), &status), 0);

  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(RingFolderTest, IsRemovedWithItsContent) {
  const std::string path = folder_->path();

  folder_.reset();

  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RingFolderTest, IgnoresFilesThatAreNotRings) {
  const std::string path = folder_->path() + "/";
  const std::string ring = path + reader_->file_name();
  std::ofstream(path + "short.ring") << "no ring";
  std::ofstream(path + "unfinished") << "being made";
  ASSERT_EQ(::mkfifo((path + "fifo.ring").c_str(), 0600), 0);
  std::filesystem::create_symlink(ring, path + "link.ring");
  std::filesystem::copy_file(ring, path + "wrong_magic.ring");
  {
    std::fstream copy(path + "wrong_magic.ring");
    copy.put('x');
  }
  ASSERT_EQ(::mkdir((path + "folder.ring").c_str(), 0700), 0);

  EXPECT_TRUE(folder_->discover().empty());

  EXPECT_EQ(folder_->refused().size(), 5U);
  EXPECT_TRUE(folder_->discover().empty());
  ::rmdir((path + "folder.ring").c_str());
}

TEST_F(RingFolderTest, RefusesAFileWithASecondName) {
  const std::string ring = folder_->path() + "/" + reader_->file_name();
  ASSERT_EQ(::link(ring.c_str(), (folder_->path() + "/second.ring").c_str()), 0);

  EXPECT_TRUE(folder_->discover().empty());
  EXPECT_EQ(folder_->refused().size(), 1U);
}

TEST_F(RingFolderTest, HoldsABoundedNumberOfRings) {
  const std::string ring = folder_->path() + "/" + reader_->file_name();
  for (std::size_t i = 0; i < RingFolder::kMostRings + 10; ++i)
    std::ofstream(folder_->path() + "/" + std::to_string(i) + ".ring") << "no ring";

  folder_->discover();

  EXPECT_LE(folder_->refused().size() + folder_->rings().size(), RingFolder::kMostRings + 1);
}

TEST_F(RingFolderTest, ForgetsARingAndItsFile) {
  const std::string ring = folder_->path() + "/" + reader_->file_name();

  folder_->forget(reader_);

  EXPECT_FALSE(std::filesystem::exists(ring));
  EXPECT_TRUE(folder_->rings().empty());
}

TEST(RingFolder, RefusesAFolderThatOthersCanWriteTo) {
  std::string path = "/tmp/hypermile-test-XXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);

  const auto folder = RingFolder::open(path);

  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::kPermission);
  ::rmdir(path.c_str());
}

TEST(RingFolder, NamesTheMissingFolder) {
  const auto folder = RingFolder::open("/nowhere/at/all");

  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().line().find("/nowhere/at/all"), std::string::npos);
}

TEST(RingWriter, MakesNoRingWithoutAFolder) {
  auto writer = std::make_unique<RingWriter>();
  ::setenv(kRingDirVariable, "/nowhere/at/all", 1);

  EXPECT_FALSE(writer->open(RingSource::kTicks));
  EXPECT_FALSE(writer->is_open());

  ::unsetenv(kRingDirVariable);
  EXPECT_FALSE(writer->open(RingSource::kTicks));
}

TEST_F(RingFolderTest, AnAttachedFolderIsReadFromNowOnAndNotChanged) {
  for (std::uint64_t i = 0; i < kLargeRing.slots + 100; ++i) launch(i, 1);
  auto attached = RingFolder::open(folder_->path());
  ASSERT_TRUE(attached.ok()) << attached.error().line();
  const auto found = attached->discover();
  ASSERT_EQ(found.size(), 1U);

  RingBatch batch;
  ASSERT_TRUE(found.front()->drain(Instant::from_nanoseconds(1'000'000'000), batch).ok());

  EXPECT_EQ(batch.launches.size(), kLargeRing.slots);
  EXPECT_EQ(batch.lost, 0U) << "records from before attaching do not count as lost";
  const std::string file = folder_->path() + "/" + found.front()->file_name();
  attached->forget(found.front());
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(attached->discover().empty()) << "a forgotten ring is not found again";
}

TEST_F(RingFolderTest, TheFirstReaderControlsEventsUntilItIsClosed) {
  auto attached = RingFolder::open(folder_->path());
  ASSERT_TRUE(attached.ok());
  RingReader* second = attached->discover().front();
  ASSERT_TRUE(reader_->want_events(WantedEvents{17}).ok());

  ASSERT_TRUE(second->want_events(WantedEvents{23}).ok());
  EXPECT_EQ(writer_->control().kernel, 17U);

  folder_->forget(reader_);
  ASSERT_TRUE(second->want_events(WantedEvents{23}).ok());
  EXPECT_EQ(writer_->control().kernel, 23U);
  EXPECT_EQ(writer_->control().revision, 4U) << "revisions never repeat";
}

}  // namespace
}  // namespace hypermile
