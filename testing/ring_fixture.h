// SPDX-License-Identifier: Apache-2.0
//
// For tests: a ring that is written in this process and read back through a folder of its own, with
// ways to damage its file.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {

class RingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = RingFolder::make();
    ASSERT_TRUE(made.ok()) << made.error().line();
    folder_ = std::make_unique<RingFolder>(std::move(*made));
    ::setenv(kRingDirVariable, folder_->path().c_str(), 1);
    ASSERT_TRUE(writer_->open(RingSource::kLaunches, kLargeRing));
    const auto found = folder_->discover();
    ASSERT_EQ(found.size(), 1U);
    reader_ = found.front();
    file_ = Descriptor(
        ::open((folder_->path() + "/" + reader_->file_name()).c_str(), O_RDWR | O_CLOEXEC));
  }
  void TearDown() override { ::unsetenv(kRingDirVariable); }

  std::uint64_t launch(std::uint64_t time_ns, std::uint32_t kernel, std::uint32_t stream = 0) {
    return writer_->put(time_ns, pack_b(RecordKind::kLaunch, stream, kernel), 1);
  }

  RingBatch drain(Instant now = Instant::from_nanoseconds(1'000'000'000)) {
    RingBatch batch;
    const auto outcome = reader_->drain(now, batch);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().line());
    return batch;
  }

  template <class T>
  void overwrite(std::size_t offset, const T& value) {
    ASSERT_EQ(::pwrite(file_.get(), &value, sizeof value, static_cast<off_t>(offset)),
              static_cast<ssize_t>(sizeof value));
  }
  static std::size_t slot_at(std::uint64_t number) {
    return kLargeRing.slots_offset() + (number % kLargeRing.slots) * sizeof(RingSlot);
  }
  void overwrite_head(std::uint64_t head) { overwrite(offsetof(RingHeader, head), head); }

  std::unique_ptr<RingFolder> folder_;
  std::unique_ptr<RingWriter> writer_ = std::make_unique<RingWriter>();
  RingReader* reader_ = nullptr;
  Descriptor file_;
};

}  // namespace hypermile
