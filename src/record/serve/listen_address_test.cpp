// SPDX-License-Identifier: Apache-2.0
#include "record/serve/listen_address.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(ListenAddress, IsReadInEveryUsualForm) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:80")->url(), "http://127.0.0.1:80/");
  EXPECT_EQ(parse_listen_address(":81")->url(), "http://127.0.0.1:81/");
  EXPECT_EQ(parse_listen_address("82")->url(), "http://127.0.0.1:82/");
  EXPECT_EQ(parse_listen_address("[::1]:83")->url(), "http://[::1]:83/");
  EXPECT_EQ(parse_listen_address("localhost:0")->port, 0);
}

TEST(ListenAddress, KnowsWhatOthersCanReach) {
  EXPECT_TRUE(parse_listen_address("127.3.0.1:1")->loopback());
  EXPECT_TRUE(parse_listen_address("localhost:1")->loopback());
  EXPECT_FALSE(parse_listen_address("0.0.0.0:1")->loopback());
  EXPECT_FALSE(parse_listen_address("[::]:1")->loopback());
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const char* text :
       {"", "here:80", "127.0.0.1", "127.0.0.1:", "1:99999", "1:-1", "::", ":x"}) {
    EXPECT_FALSE(parse_listen_address(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hypermile
