// SPDX-License-Identifier: Apache-2.0
//
// These tests run in real time because threads take part; none waits longer than necessary.
#include "lease/gpu_keeper_thread.h"

#include <gtest/gtest.h>

#include <chrono>

#include "gpu/deadline_gpu.h"
#include "testing/faulty_files.h"
#include "testing/faulty_gpu.h"
#include "testing/mortal_gpu.h"

namespace hypermile {
namespace {

Bounds all_allowed() {
  return Bounds{KnobRange{}, KnobRange{}, KnobRange{}};
}

// A minimal event loop in place of the daemon's.
class Loop {
 public:
  GpuKeeperThread::ToLoop poster() {
    return [this](std::function<void()> job) {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
      changed_.notify_all();
    };
  }
  // Runs posted functions until `done` returns true, at most ten seconds.
  template <class Done>
  bool run_until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_until(lock, end, [this] { return !jobs_.empty(); })) return false;
      const auto jobs = std::exchange(jobs_, {});
      lock.unlock();
      for (const auto& job : jobs) job();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> jobs_;
};

class GpuKeeperThreadTest : public ::testing::Test {
 protected:
  std::unique_ptr<GpuKeeperThread> start(FakeGpu& card, std::vector<ScriptedFault> script = {}) {
    auto gpu = std::make_unique<FaultyGpu>(std::make_unique<MortalGpu>(card, fates_.emplace_back()),
                                           *clock_, std::move(script));
    disks_.push_back(std::make_unique<FaultyFiles>(FaultyFiles::Disk{}, fates_.back()));
    auto keeper = GpuKeeper::make(std::move(gpu), *disks_.back(), *clock_,
                                  {"/state", "test", {"boot", ""}, {}, {}});
    return std::make_unique<GpuKeeperThread>(std::move(keeper).value(), *clock_, loop_.poster());
  }
  static SetRequest request(const char* setting) {
    return {1, "owner", parse_setting(setting).value(), all_allowed()};
  }
  bool restore(GpuKeeperThread& port) {
    bool done = false;
    port.restore(RestoreScope::kChanged, [&](const RestoreReport&) { done = true; });
    return loop_.run_until([&] { return done; });
  }

  std::unique_ptr<Clock> clock_ = make_real_clock();
  std::deque<Fate> fates_;
  std::vector<std::unique_ptr<FaultyFiles>> disks_;
  FakeGpu one_{*clock_, "GPU-1"};
  FakeGpu two_{*clock_, "GPU-2"};
  Loop loop_;
};

TEST_F(GpuKeeperThreadTest, AnswersOnTheLoopAndRestores) {
  const auto port = start(one_);
  ASSERT_TRUE(restore(*port));
  std::string told;

  port->set(request("sm=1410"), [&](Result<SetReply> reply) {
    told = reply ? to_string(reply->in_force) : reply.error().line();
  });
  ASSERT_TRUE(loop_.run_until([&] { return !told.empty(); }));

  EXPECT_EQ(told, "sm=1410MHz");
  EXPECT_EQ(to_string(port->status().in_force), "sm=1410MHz");
  EXPECT_FALSE(port->status().restored);
  ASSERT_TRUE(restore(*port));
  EXPECT_TRUE(port->status().restored);
  EXPECT_EQ(port->status().restores, 2U);
  EXPECT_TRUE(one_.held.empty());
}

TEST_F(GpuKeeperThreadTest, LooksAtTheClocksAfterARestoreAndResetsThemAgain) {
  one_.busy = 0.9;
  const auto port = start(one_);
  ASSERT_TRUE(restore(*port));
  bool set = false;
  port->set(request("sm=1410"), [&](Result<SetReply> reply) { set = reply.ok(); });
  ASSERT_TRUE(loop_.run_until([&] { return set; }));
  one_.deaf_resets = 1;

  ASSERT_TRUE(restore(*port));
  for (int i = 0; i < 5000 && port->status().mismatches == 0; ++i) {
    clock_->sleep_for(milliseconds(1));
  }

  EXPECT_EQ(port->status().mismatches, 1U);
  EXPECT_FALSE(port->status().read_back.empty()) << "it stays visible until the clock is free";
  for (int i = 0; i < 5000 && !port->status().read_back.empty(); ++i) {
    clock_->sleep_for(milliseconds(1));
  }
  EXPECT_EQ(port->status().read_back, "");
  EXPECT_EQ(port->status().mismatches, 1U);
}

TEST_F(GpuKeeperThreadTest, ResetsAnIdleCardTwiceBecauseItShowsNothing) {
  const auto port = start(one_);
  ASSERT_TRUE(restore(*port));
  bool set = false;
  port->set(request("sm=1410"), [&](Result<SetReply> reply) { set = reply.ok(); });
  ASSERT_TRUE(loop_.run_until([&] { return set; }));
  one_.deaf_resets = 1;

  ASSERT_TRUE(restore(*port));
  EXPECT_FALSE(one_.held.empty()) << "the fault had no effect: nothing was proven";
  for (int i = 0; i < 5000 && port->status().looks == 0; ++i) clock_->sleep_for(milliseconds(1));

  EXPECT_TRUE(one_.held.empty());
  EXPECT_EQ(port->status().mismatches, 0U) << "nobody has seen anything wrong";
}

TEST_F(GpuKeeperThreadTest, TriesARestoreAgainUntilItIsComplete) {
  const Error lost{ErrorCode::kGpuLost, "GPU is lost"};
  const auto port = start(one_, {{GpuCall::kReset, fault::Fails{lost}, 0, 3}});
  ASSERT_TRUE(restore(*port));
  bool set = false;
  port->set(request("sm=1410"), [&](Result<SetReply> reply) { set = reply.ok(); });

  const bool restored = restore(*port);

  EXPECT_TRUE(set);
  ASSERT_TRUE(restored);
  EXPECT_EQ(port->status().attempts, 4);
  EXPECT_EQ(port->status().failures, 3U);
  EXPECT_TRUE(one_.held.empty());
}

TEST_F(GpuKeeperThreadTest, OneThatHangsDelaysNoOther) {
  const auto gate = std::make_shared<Gate>();
  const auto sick = start(one_, {{GpuCall::kApply, fault::Hangs{gate}}});
  const auto well = start(two_);
  ASSERT_TRUE(restore(*sick) && restore(*well));
  bool sick_answered = false;
  sick->set(request("sm=1410"), [&](const Result<SetReply>&) { sick_answered = true; });
  gate->await_visitors(1);

  bool well_set = false;
  well->set(request("sm=1410"), [&](Result<SetReply> reply) { well_set = reply.ok(); });
  const bool well_restored = restore(*well);

  EXPECT_TRUE(well_set && well_restored);
  EXPECT_TRUE(two_.held.empty());
  EXPECT_FALSE(sick_answered);
  EXPECT_TRUE(sick->status().since) << "that it hangs can be seen";
  gate->open();
  EXPECT_TRUE(restore(*sick));
  EXPECT_TRUE(one_.held.empty()) << "the late change is undone, because it came first";
}

TEST_F(GpuKeeperThreadTest, DoesNotCountAsRestoredWhileAnOrderWaits) {
  const auto gate = std::make_shared<Gate>();
  const auto port = start(one_, {{GpuCall::kApply, fault::Hangs{gate}, 0, 1}});
  ASSERT_TRUE(restore(*port));
  EXPECT_TRUE(port->status().restored);

  port->set(request("sm=1410"), [](const Result<SetReply>&) {});
  const bool at_once = port->status().restored;
  gate->await_visitors(1);
  const bool under_way = port->status().restored;
  gate->open();

  EXPECT_FALSE(at_once);
  EXPECT_FALSE(under_way);
  ASSERT_TRUE(restore(*port));
  EXPECT_TRUE(port->status().restored);
}

TEST_F(GpuKeeperThreadTest, GivesBackAtItsEndWhatNobodyHasOrdered) {
  auto port = start(one_);
  ASSERT_TRUE(restore(*port));
  bool set = false;
  port->set(request("sm=1410"), [&](Result<SetReply> reply) { set = reply.ok(); });
  ASSERT_TRUE(loop_.run_until([&] { return set; }));

  port.reset();

  EXPECT_TRUE(one_.held.empty());
}

TEST_F(GpuKeeperThreadTest, EndsWithARestoreThatCannotBeCompleted) {
  const Error lost{ErrorCode::kGpuLost, "GPU is lost"};
  auto port = start(one_, {{GpuCall::kReset, fault::Fails{lost}}});
  ASSERT_TRUE(restore(*port));
  port->set(request("sm=1410"), [](const Result<SetReply>&) {});
  port->restore(RestoreScope::kChanged, [](const RestoreReport&) { FAIL(); });
  while (port->status().attempts == 0 || !port->status().problem) std::this_thread::yield();

  port.reset();  // must return

  EXPECT_EQ(to_string(one_.held), "sm=1410MHz") << "left to the next start";
}

}  // namespace
}  // namespace hypermile
