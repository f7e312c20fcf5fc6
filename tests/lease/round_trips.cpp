// SPDX-License-Identifier: Apache-2.0
#include "round_trips.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <vector>

#include "base/descriptor.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

using Timer = std::chrono::steady_clock;

constexpr int kRounds = 3000;
constexpr std::size_t kBytes = 96;  // about the size of an acquire

struct Spread {
  double median_us = 0;
  double p99_us = 0;
};

Spread spread(std::vector<double> us) {
  std::ranges::sort(us);
  return {us[us.size() / 2], us[us.size() * 99 / 100]};
}

double since_us(Timer::time_point start) {
  return std::chrono::duration<double, std::micro>(Timer::now() - start).count();
}

// A process that only sends back what it gets.
class Echo {
 public:
  Echo() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      char buffer[kBytes];
      while (::read(ends[1], buffer, sizeof(buffer)) > 0) {
        if (::write(ends[1], buffer, sizeof(buffer)) < 0) break;
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    socket_.reset(ends[0]);
  }
  ~Echo() {
    socket_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  double round_trip_us() const {
    char buffer[kBytes] = {};
    const auto start = Timer::now();
    if (::write(socket_.get(), buffer, sizeof(buffer)) < 0) return 0;
    for (std::size_t got = 0; got < sizeof(buffer);) {
      const ssize_t more = ::read(socket_.get(), buffer, sizeof(buffer));
      if (more <= 0) return 0;
      got += static_cast<std::size_t>(more);
    }
    return since_us(start);
  }

 private:
  pid_t pid_ = -1;
  Descriptor socket_;
};

}  // namespace

bool report_round_trips(const GpuUuid& gpu, double most) {
  const Echo echo;
  std::vector<double> bare;
  std::vector<double> acquire;
  std::vector<double> renew;
  std::vector<double> release;
  auto connection = DaemonConnection::connect(default_socket_path());
  if (!connection) return false;
  // The kinds alternate, so that other load on the machine affects all of them alike.
  for (int i = 0; i < kRounds; ++i) {
    bare.push_back(echo.round_trip_us());
    auto start = Timer::now();
    const auto lease = connection->ask<wire::Granted>(
        wire::AcquireRequest{{gpu}, Seconds(10), "round trips", ""}, Seconds(5));
    acquire.push_back(since_us(start));
    if (!lease) {
      fmt::print("FAILED: {}\n", lease.error().line());
      return false;
    }
    start = Timer::now();
    (void)connection->call(wire::RenewRequest{lease->lease}, Seconds(5));
    renew.push_back(since_us(start));
    start = Timer::now();
    (void)connection->call(wire::ReleaseRequest{lease->lease}, Seconds(5));
    release.push_back(since_us(start));
  }
  const Spread base = spread(bare);
  const auto line = [&](const char* name, const std::vector<double>& us) {
    const Spread s = spread(us);
    fmt::print(
        "{:<22} median {:7.1f} us  p99 {:7.1f} us  p99 is {:4.1f} bare ones' p99, {:4.1f} "
        "their median\n",
        name, s.median_us, s.p99_us, s.p99_us / base.p99_us, s.p99_us / base.median_us);
    return s.p99_us;
  };
  line("bare round trip", bare);
  const double p99 = line("acquire, idle GPU", acquire);
  line("renew", renew);
  line("release, unchanged GPU", release);
  if (p99 <= most * base.p99_us) return true;
  fmt::print("FAILED: an acquire takes more than {:g} round trips\n", most);
  return false;
}

}  // namespace hypermile
