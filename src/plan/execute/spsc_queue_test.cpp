// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/spsc_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace hypermile {
namespace {

TEST(SpscQueue, ReturnsItemsInOrderAndReportsAFullQueue) {
  SpscQueue<int, 4> queue;

  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.post(i));
  EXPECT_FALSE(queue.post(4));

  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.take(), i);
  EXPECT_EQ(queue.take(), std::nullopt);
  EXPECT_TRUE(queue.post(5));
  EXPECT_EQ(queue.take(), 5);
}

TEST(SpscQueue, LosesNothingBetweenTwoThreads) {
  SpscQueue<int, 64> queue;
  constexpr int kItems = 200'000;

  std::thread writer([&queue] {
    for (int i = 0; i < kItems; ++i) {
      while (!queue.post(i)) std::this_thread::yield();
    }
  });
  int expected = 0;
  while (expected < kItems) {
    if (const auto item = queue.take()) {
      ASSERT_EQ(*item, expected++);
    } else {
      std::this_thread::yield();
    }
  }
  writer.join();

  EXPECT_EQ(queue.take(), std::nullopt);
}

}  // namespace
}  // namespace hypermile
