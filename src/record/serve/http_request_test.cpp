// SPDX-License-Identifier: Apache-2.0
#include "record/serve/http_request.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(HttpRequest, IsReadWhenItsHeadIsComplete) {
  const std::string text =
      "GET /api/run?id=a%2Fb%23c&seen=1+2 HTTP/1.1\r\nhOST: localhost:1\r\nX: y\r\n"
      "Authorization:\t Bearer t \r\n\r\nrest";
  for (std::size_t cut = 0; cut < text.size() - 4; ++cut)
    EXPECT_FALSE(parse_head(text.substr(0, cut)).complete) << cut;

  const ParsedHead head = parse_head(text);

  ASSERT_TRUE(head.complete);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.request.method, "GET");
  EXPECT_EQ(head.request.path, "/api/run");
  EXPECT_EQ(head.request.query.at("id"), "a/b#c");
  EXPECT_EQ(head.request.query.at("seen"), "1 2");
  EXPECT_EQ(head.request.host, "localhost:1");
  EXPECT_EQ(head.request.authorization, "Bearer t");
}

TEST(HttpRequest, IsRefusedWhereItIsNone) {
  const auto status_of = [](const std::string& text) { return parse_head(text).status; };

  EXPECT_EQ(status_of("\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://elsewhere/ HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nno colon\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string("GET /\0 HTTP/1.1\r\n\r\n", 20)), 400);
}

TEST(HttpRequest, IsRefusedBeforeItGrowsLarge) {
  EXPECT_FALSE(parse_head(std::string(kMostHeadBytes - 1, 'x')).complete);
  EXPECT_EQ(parse_head(std::string(kMostHeadBytes, 'x')).status, 431);
  EXPECT_EQ(parse_head("GET /" + std::string(2 * kMostHeadBytes, 'x') + "\r\n\r\n").status, 431);
}

TEST(HttpRequest, KeepsEscapesThatAreNone) {
  EXPECT_EQ(parse_head("GET /?a=%&b=%4&c=%zz HTTP/1.0\r\n\r\n").request.query.at("c"), "%zz");
}

}  // namespace
}  // namespace hypermile
