// SPDX-License-Identifier: Apache-2.0
#include "record/serve/page_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/descriptor.h"
#include "record/serve/http_server.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

using std::chrono::steady_clock;

const std::string kToken = "0123456789abcdef";

std::unique_ptr<PageServer> serve(const std::string& token = "",
                                  std::vector<std::string> logs = {}) {
  PageServerOptions options;
  options.address.port = 0;
  options.token = token;
  options.logs = std::move(logs);
  auto server = PageServer::bind(std::move(options));
  EXPECT_TRUE(server.ok()) << server.error().line();
  (*server)->start();
  return std::move(server).value();
}

Descriptor connect_to(const PageServer& server) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.address().port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{20, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

void say(const Descriptor& socket, const std::string& text) {
  ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

std::string heard_on(const Descriptor& socket) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

struct Answer {
  int status = 0;
  std::string head, body;
};

Answer get(const PageServer& server, const std::string& path, const std::string& headers = "",
           const std::string& host = "localhost", const std::string& method = "GET") {
  const Descriptor socket = connect_to(server);
  say(socket, method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n");
  const std::string text = heard_on(socket);
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == text.npos) return {};
  return {std::stoi(text.substr(9)), text.substr(0, end), text.substr(end + 4)};
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

TEST(PageServer, AnswersWithPageMetricsAndOverview) {
  const auto server = serve();

  const Answer metrics = get(*server, "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("hypermile_build_info"), std::string::npos);
  EXPECT_NE(metrics.head.find("text/plain; version=0.0.4"), std::string::npos);
  EXPECT_EQ(get(*server, "/api/overview").status, 200);
  EXPECT_EQ(get(*server, "/api/run?id=none").status, 404);
  EXPECT_EQ(get(*server, "/elsewhere").status, 404);
  EXPECT_FALSE(get(*server, "/elsewhere").body.empty());
}

TEST(PageServer, OnlyLetsPeopleRead) {
  const auto server = serve();

  EXPECT_EQ(get(*server, "/metrics", "", "localhost", "POST").status, 405);
  EXPECT_EQ(get(*server, "/metrics", "", "localhost", "HEAD").body, "");
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

  EXPECT_EQ(get(*server, "/metrics").status, 401);
  EXPECT_EQ(get(*server, "/metrics", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(get(*server, "/metrics", "authorization:  Bearer " + kToken + "\r\n").status, 200);
}

// A page elsewhere may give its own name an address of this machine, and then read what its
// visitor's browser can.
TEST(PageServer, RefusesStrangeHosts) {
  const auto server = serve();

  for (const char* host : {"evil.example", "127.evil.example", "127.0.0.1.evil.example", "", "127.",
                           "[::1].evil.example", "[::1]1"})
    EXPECT_EQ(get(*server, "/metrics", "", host).status, 403) << host;
  for (const char* host : {"127.0.0.1:9487", "localhost", "127.1.2.3", "[::1]:80"})
    EXPECT_EQ(get(*server, "/metrics", "", host).status, 200) << host;
}

TEST(PageServer, AnswersThoughManyClientsSayNothing) {
  const auto server = serve();
  const std::size_t before = open_descriptors();
  std::vector<Descriptor> silent;

  for (int i = 0; i < 200; ++i) {
    silent.push_back(connect_to(*server));
    if (i % 2 == 0) say(silent.back(), "GET /api/overview HTTP/1.1\r\nHos");
  }

  for (int i = 0; i < 10; ++i) EXPECT_EQ(get(*server, "/metrics").status, 200);
  EXPECT_LE(open_descriptors() - before - silent.size(), HttpServer::kMostConnections);
}

TEST(PageServer, EndsAtOnceThoughClientsHoldTheirConnections) {
  auto server = serve();
  std::vector<Descriptor> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(connect_to(*server));
  EXPECT_EQ(get(*server, "/metrics").status, 200);
  const auto begin = steady_clock::now();

  server.reset();

  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(PageServer, FollowsRegularFilesOnly) {
  const ScratchFolder scratch;
  const auto& folder = scratch.path();
  ASSERT_EQ(::mkfifo((folder / "pipe.jsonl").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "zero.jsonl");
  auto server = serve("", {folder.string()});

  EXPECT_EQ(get(*server, "/metrics").status, 200);
  std::string overview;
  while (overview.find("pipe.jsonl: is no regular file") == overview.npos ||
         overview.find("zero.jsonl: is no regular file") == overview.npos)
    overview = get(*server, "/api/overview").body;

  server.reset();
}

TEST(PageServer, AnswersEveryScrapeOfAStorm) {
  const auto server = serve();
  std::atomic<int> good = 0;

  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        for (int j = 0; j < 25; ++j) good += get(*server, "/metrics").status == 200;
      });
    }
  }

  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace hypermile
