// SPDX-License-Identifier: Apache-2.0
#include "record/serve/page_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/descriptor.h"

// Debian's library of HTTP is not built for the thread sanitizer, which sees its reads and writes
// but not the locks between them.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libcpp-httplib.so\n";
}

namespace hypermile {
namespace {

const std::string kToken = "0123456789abcdef";

std::unique_ptr<PageServer> serve(const std::string& token = "") {
  PageServerOptions options;
  options.address.port = 0;
  options.token = token;
  auto server = PageServer::bind(std::move(options));
  EXPECT_TRUE(server.ok()) << server.error().line();
  (*server)->start();
  return std::move(server).value();
}

httplib::Client client_of(const PageServer& server) {
  return httplib::Client("127.0.0.1", server.address().port);
}

TEST(PageServer, AnswersWithPageMetricsAndOverview) {
  const auto server = serve();
  httplib::Client client = client_of(*server);

  const auto metrics = client.Get("/metrics");
  const auto overview = client.Get("/api/overview");
  const auto nothing = client.Get("/api/run?id=none");
  const auto lost = client.Get("/elsewhere");

  ASSERT_TRUE(metrics && overview && nothing && lost);
  EXPECT_EQ(metrics->status, 200);
  EXPECT_NE(metrics->body.find("hypermile_build_info"), std::string::npos);
  EXPECT_EQ(overview->status, 200);
  EXPECT_EQ(nothing->status, 404);
  EXPECT_EQ(lost->status, 404);
  EXPECT_FALSE(lost->body.empty());
}

TEST(PageServer, SaysThatItsPortIsTaken) {
  const auto first = serve();
  PageServerOptions options;
  options.address.port = first->address().port;

  const auto second = PageServer::bind(options);

  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_FALSE(second.error().remedy.empty());
}

TEST(PageServer, RefusesWhoShowsNoTokenOrAWrongOne) {
  const auto server = serve(kToken);
  httplib::Client client = client_of(*server);

  EXPECT_EQ(client.Get("/metrics")->status, 401);
  EXPECT_EQ(client.Get("/metrics", {{"Authorization", "Bearer wrong"}})->status, 401);
  EXPECT_EQ(client.Get("/metrics", {{"Authorization", "Bearer " + kToken}})->status, 200);
}

TEST(PageServer, RefusesStrangeHosts) {
  const auto server = serve();
  httplib::Client client = client_of(*server);

  EXPECT_EQ(client.Get("/metrics", {{"Host", "evil.example"}})->status, 403);
}

TEST(PageServer, OutlivesClientsThatHangUpOrSayNothing) {
  const auto server = serve();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server->address().port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<Descriptor> silent;
  for (int i = 0; i < 3; ++i) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string half = "GET /api/overview HTTP/1.1\r\nHos";
    ASSERT_GT(::send(socket.get(), half.data(), half.size(), MSG_NOSIGNAL), 0);
    silent.push_back(std::move(socket));
  }
  silent.pop_back();  // hangs up in the middle of its request

  httplib::Client client = client_of(*server);

  EXPECT_EQ(client.Get("/metrics")->status, 200);
}

TEST(PageServer, AnswersEveryScrapeOfAStorm) {
  const auto server = serve();
  std::atomic<int> good = 0;

  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        for (int j = 0; j < 25; ++j) {
          httplib::Client client = client_of(*server);
          const auto answer = client.Get("/metrics");
          good += answer && answer->status == 200;
        }
      });
    }
  }

  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace hypermile
