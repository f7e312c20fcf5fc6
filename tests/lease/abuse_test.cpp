// SPDX-License-Identifier: Apache-2.0
//
// Clients that break the rules: in what they send, in what they do not send, and in how often they
// come.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <vector>

#include "lease/frame.h"
#include "lease/protocol/socket_address.h"
#include "lease_fixture.h"

namespace hypermile {
namespace {

class AbuseTest : public LeaseTest {
 protected:
  static Descriptor raw_connection() {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = socket_address(default_socket_path());
    EXPECT_EQ(::connect(socket.get(), address->get(), address->length()), 0);
    return socket;
  }

  static void send(const Descriptor& socket, std::string_view bytes) {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // The error message that the daemon sends before it hangs up; "" if it only hangs up; "silence"
  // if it does neither within `seconds`.
  static std::string last_words(const Descriptor& socket, double seconds) {
    std::string bytes;
    for (;;) {
      pollfd watched{socket.get(), POLLIN, 0};
      if (::poll(&watched, 1, static_cast<int>(seconds * 1e3)) <= 0) return "silence";
      char buffer[1024];
      const ssize_t got = ::recv(socket.get(), buffer, sizeof(buffer), 0);
      if (got <= 0) break;
      bytes.append(buffer, static_cast<std::size_t>(got));
    }
    const CutFrame cut = cut_frame(bytes);
    if (cut.state != CutFrame::State::kWhole) return "";
    const auto reply = wire::decode_reply(cut.body);
    const auto* error = reply ? std::get_if<Error>(&reply->message) : nullptr;
    return error != nullptr ? error->message : "not an error";
  }

  // The sockets of the daemon, less the one on which it listens.
  static int connections(pid_t daemon) {
    int sockets = -1;
    std::error_code ignored;
    for (const auto& fd :
         std::filesystem::directory_iterator("/proc/" + std::to_string(daemon) + "/fd", ignored)) {
      const auto target = std::filesystem::read_symlink(fd.path(), ignored).string();
      sockets += target.starts_with("socket:") ? 1 : 0;
    }
    return sockets;
  }

  static std::string status_frame() {
    return wire::encode_request({1, wire::StatusRequest{}}).value();
  }
};

TEST_F(AbuseTest, AnOversizedFrameIsRefusedByItsHeader) {
  const Process daemon = start_daemon();
  const Descriptor socket = raw_connection();

  send(socket, std::string("\xFF\xFF\xFF\x7F\0\0\0\0", 8));

  EXPECT_EQ(last_words(socket, 1), "a message is too large");
  EXPECT_TRUE(serving());
}

TEST_F(AbuseTest, NoiseAndWrongChecksumsAreRefused) {
  const Process daemon = start_daemon();
  std::string damaged = status_frame();
  damaged.back() = static_cast<char>(damaged.back() ^ 1);

  for (const std::string& bytes :
       {damaged, std::string(64, '\0'), std::string("GET / HTTP/1.1\r\n\r\n")}) {
    const Descriptor socket = raw_connection();
    send(socket, bytes);
    const std::string words = last_words(socket, 1);
    EXPECT_TRUE(words.starts_with("a message is") || words.starts_with("a checksum")) << words;
  }
  EXPECT_TRUE(serving());
}

TEST_F(AbuseTest, AFrameThatIsNotCompletedInTimeEndsTheConnection) {
  const Process daemon = start_daemon();
  const Descriptor idle = raw_connection();
  const Descriptor slow = raw_connection();
  const std::string frame = status_frame();

  // A byte now and then does not buy more time.
  const Instant start = clock_->now();
  for (std::size_t i = 0; i < 3; ++i) {
    send(slow, frame.substr(i, 1));
    clock_->sleep_for(milliseconds(600));
  }
  EXPECT_EQ(last_words(slow, 3), "");
  EXPECT_LT((clock_->now() - start).value(), 3.0);

  EXPECT_EQ(last_words(idle, 0.05), "silence") << "a client that has begun no frame may wait";
}

TEST_F(AbuseTest, AClientThatReadsNoRepliesCostsNothing) {
  const Process daemon = start_daemon();
  const Descriptor deaf = raw_connection();
  const std::string frame = status_frame();

  // Sends until the daemon stops reading because its replies are not taken.
  std::size_t accepted = 0;
  while (accepted < (64U << 20U)) {
    const ssize_t sent =
        ::send(deaf.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) break;
      if (!eventually(0.2, [&] {
            pollfd watched{deaf.get(), POLLOUT, 0};
            return ::poll(&watched, 1, 0) > 0;
          })) {
        break;
      }
      continue;
    }
    accepted += static_cast<std::size_t>(sent);
  }

  EXPECT_LT(accepted, 4U << 20U) << "the daemon takes any number of requests";
  EXPECT_TRUE(serving()) << "the daemon must answer others meanwhile";
}

TEST_F(AbuseTest, AUserHasABoundedNumberOfConnections) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon("[limits]\nconnections_per_user = 3\n");
  const int status = in_child([&] {
    if (::setgid(60001) != 0 || ::setuid(60001) != 0) return 1;
    std::vector<Descriptor> open;
    for (int i = 0; i < 3; ++i) open.push_back(raw_connection());
    auto fourth = DaemonConnection::connect(default_socket_path());
    if (!fourth) return 2;
    const auto refused = fourth->ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(2));
    if (refused.ok() || refused.error().code != ErrorCode::kBusy) return 3;
    open.pop_back();
    ::usleep(100'000);
    auto again = DaemonConnection::connect(default_socket_path());
    return again && again->ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(2)) ? 0 : 4;
  });

  EXPECT_EQ(status, 0);
  EXPECT_TRUE(serving()) << "others are not affected";
}

TEST_F(AbuseTest, IdleConnectionsOfManyUsersShutNobodyOut) {
  REQUIRE_ROOT();
  const Process daemon = start_daemon(
      std::string("[limits]\nconnections = 40\nconnections_per_user = 8\n") + kEverybody);
  std::vector<pid_t> crowd;
  for (uid_t user = 60010; user < 60015; ++user) {
    crowd.push_back(start_child([user] {
      if (::setgid(user) != 0 || ::setuid(user) != 0) return 1;
      std::vector<Descriptor> open;
      for (int i = 0; i < 8; ++i) open.push_back(raw_connection());
      ::pause();
      return 0;
    }));
  }
  ASSERT_TRUE(eventually(5, [&] { return connections(daemon.pid()) >= 40; }));

  Process late = start_client(RunAs{60001});

  EXPECT_TRUE(late.ask("acquire " + uuid(0) + " 30s").starts_with("ok"));
  for (const pid_t pid : crowd) {
    ::kill(pid, SIGKILL);
    wait_for(pid);
  }
}

TEST_F(AbuseTest, WithoutDescriptorsClientsAreTurnedAwayAndLeasesStillEnd) {
  if (kSanitized) GTEST_SKIP() << "UBSan opens a pipe to look at an object's memory";
  const Process daemon = start_daemon();
  const rlimit few{80, 80};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  Process client = start_client();
  ASSERT_TRUE(client.ask("acquire " + uuid(0) + " 30s").starts_with("ok"));
  ASSERT_EQ(client.ask("set " + uuid(0) + " sm=1410"), "ok sm=1410MHz");

  std::vector<Descriptor> flood;
  for (int i = 0; i < 100; ++i) flood.push_back(raw_connection());
  int turned_away = 0;
  for (const Descriptor& socket : flood) turned_away += last_words(socket, 0.02) != "silence";
  EXPECT_GT(turned_away, 20) << "the flood did not use the descriptors up: nothing was proven";
  client.signal(SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
  flood.clear();
  EXPECT_TRUE(eventually(5, [&] { return serving(); })) << "the daemon must recover";
}

TEST_F(AbuseTest, ADescriptorPassedOnDoesNotOutliveItsOwnersLease) {
  const Process daemon = start_daemon();
  const std::string gpu = uuid(0);
  const pid_t test = ::getpid();
  const pid_t owner = start_child([&] {
    auto connection = DaemonConnection::connect(default_socket_path());
    const auto lease = connection->ask<wire::Granted>(
        wire::AcquireRequest{{GpuUuid(gpu)}, Seconds(30), "owner", ""}, Seconds(5));
    if (!lease) return 1;
    // The child holds the socket of its parent's lease and outlives the test.
    start_child([&] {
      while (::kill(test, 0) == 0 && std::filesystem::exists(folder_)) ::usleep(10'000);
      return 0;
    });
    const auto set = connection->ask<wire::Applied>(
        wire::SetRequest{lease->lease, GpuUuid(gpu), {.sm_clock = Mhz(1410)}}, Seconds(5));
    if (!set) return 2;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually(5, [&] { return changed(0); }));

  ::kill(owner, SIGKILL);

  EXPECT_TRUE(eventually(1, [&] { return !changed(0); }));
  wait_for(owner);
}

}  // namespace
}  // namespace hypermile
