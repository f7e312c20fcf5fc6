// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/job_progress.h"

#include <malloc.h>
#include <sys/mman.h>

#include <numeric>

#include "testing/session_fixture.h"

namespace hypermile {
namespace {

std::size_t allocated_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class ManyProcesses : public SessionTest {
 protected:
  // Processes that train for a tenth of a second each, one after another.
  void spawn(int count) {
    for (int i = 0; i < count; ++i) {
      RingJob job(clock_.now());
      const double until = (clock_.now() - begin_).value() + 0.1;
      run_until(until, [&](Instant now) { job.train_until(now, train_); });
      launched_ += job.launches_watched();
      RingHeader* ring = &job.writer().header();
      job.writer().end();
      run_until(until + 0.5, [](Instant) {});
      ::munmap(ring, ring->file_size);
    }
  }

  const std::vector<Iteration> train_ = {iteration_of("train_", 40, milliseconds(1))};
  std::uint64_t launched_ = 0;
};

TEST_F(ManyProcesses, CostNoMemoryOnceTheyHaveEnded) {
  spawn(40);
  const std::size_t before = allocated_bytes();

  spawn(160);

  // A process that is followed takes 5 MB. Those that ended in the last five seconds are kept
  // whole, but for what found their iterations.
  EXPECT_LT(allocated_bytes(), before + (std::size_t{2} << 20));
}

TEST_F(ManyProcesses, AreAllCountedThoughFewAreListed) {
  spawn(100);

  const RunSummary summary = finish();

  EXPECT_LE(summary.processes.size(), JobProgress::kKeptEnded + 12);
  EXPECT_GE(summary.processes.size(), JobProgress::kKeptEnded);
  const std::uint64_t listed =
      std::accumulate(summary.processes.begin(), summary.processes.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const ProcessReport& p) { return sum + p.launches; });
  ASSERT_EQ(summary.notes.size(), 1U);
  EXPECT_EQ(summary.notes[0], std::to_string(100 - summary.processes.size()) +
                                  " more processes that ended are not listed; they made " +
                                  std::to_string(launched_ - listed) + " launches");
  EXPECT_EQ(events("process").size(), 200U) << "each is told of when it starts and when it ends";
}

// A Window that nobody closes would collect readings for the rest of the run.
TEST_F(ManyProcesses, LeaveNoWindowOpenWhenTheyEnd) {
  {
    RingJob job(clock_.now());
    run_until(12, [&](Instant now) { job.train_until(now, train_); });
    job.writer().end();
  }
  run_until(20, [](Instant) {});
  const std::size_t before = allocated_bytes();

  run_until(620, [](Instant) {});

  // Ten minutes at 50 readings a second were 30,000 samples of 200 bytes.
  EXPECT_LT(allocated_bytes(), before + (std::size_t{1} << 20));
}

TEST_F(ManyProcesses, KeepTheOneThatDidMost) {
  RingJob job(clock_.now());
  run_until(15, [&](Instant now) { job.train_until(now, train_); });
  const std::uint64_t most = job.launches_watched();
  job.writer().end();

  spawn(60);

  const RunSummary summary = finish();
  EXPECT_EQ(summary.processes.front().launches, most);
  ASSERT_EQ(summary.processes.front().phases.size(), 1U);
  EXPECT_TRUE(summary.processes.front().phases[0].cost);
}

}  // namespace
}  // namespace hypermile
