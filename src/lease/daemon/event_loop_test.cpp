// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace hypermile {
namespace {

class EventLoopTest : public ::testing::Test {
 protected:
  // A pipe with data in it.
  struct Full {
    Full() {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0 || ::write(ends[1], "x", 1) != 1) std::abort();
      out.reset(ends[0]);
      in.reset(ends[1]);
    }
    Descriptor out;
    Descriptor in;
  };

  std::unique_ptr<Clock> clock_ = make_real_clock();
  std::unique_ptr<EventLoop> loop_ = EventLoop::make(*clock_).value();
};

TEST_F(EventLoopTest, RunsWhatOtherThreadsPost) {
  int sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([post = loop_->poster(), &sum, this] {
      for (int k = 0; k < 100; ++k) {
        post([&sum, this] {
          if (++sum == 400) loop_->stop();
        });
      }
    });
  }

  loop_->run();

  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 400);
}

TEST_F(EventLoopTest, DropsWhatIsPostedWhenItIsGone) {
  const auto post = loop_->poster();
  bool ran = false;
  loop_.reset();

  post([&] { ran = true; });

  EXPECT_FALSE(ran);
}

TEST_F(EventLoopTest, RunsTimersInOrderAndNotThoseThatWereCancelled) {
  std::string order;
  const Instant now = clock_->now();
  loop_->at(now + milliseconds(2), [&] { order += 'b'; });
  loop_->at(now + milliseconds(1), [&] { order += 'a'; });
  const auto cancelled = loop_->at(now, [&] { order += 'x'; });
  loop_->at(now + milliseconds(3), [&] { loop_->stop(); });

  loop_->cancel(cancelled);
  loop_->run();

  EXPECT_EQ(order, "ab");
}

TEST_F(EventLoopTest, NeverCallsAWatchThatIsGone) {
  const Full first;
  const Full second;
  int calls = 0;
  EventLoop::WatchId one = 0;
  EventLoop::WatchId two = 0;
  // Both are ready; whichever is called first removes both.
  const auto remove_both = [&](std::uint32_t) {
    ++calls;
    loop_->unwatch(one);
    loop_->unwatch(two);
    loop_->at(clock_->now() + milliseconds(2), [&] { loop_->stop(); });
  };
  one = loop_->watch(first.out.get(), EPOLLIN, remove_both).value();
  two = loop_->watch(second.out.get(), EPOLLIN, remove_both).value();

  loop_->run();

  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, SaysWhenADescriptorCannotBeWatched) {
  EXPECT_EQ(loop_->watch(-1, EPOLLIN, [](std::uint32_t) {}).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace hypermile
