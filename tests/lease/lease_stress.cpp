// SPDX-License-Identifier: Apache-2.0
//
// Many clients that connect, acquire, change GPUs and die at random, on the NVML stand-in.
// Afterwards no lease, descriptor, memory or changed GPU may be left. Before that, it measures how
// long an acquire takes on an idle machine, as a multiple of a bare round trip through a socket.
//
//   lease_stress HYPERMILED STAND_IN [CLIENTS [SECONDS]]
//
// Exits 1 if a bound is exceeded, 77 (skipped) if not root, because clients run as many users.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"
#include "process.h"
#include "round_trips.h"
#include "sim/stand_in/machine.h"

namespace hypermile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostRoundTrips = 20;  // bare round trips, for the 99th percentile of an acquire
constexpr long kMostGrowthKib = 4096;   // growth of the daemon's memory, from warm to the end
constexpr std::size_t kAsking = 2;      // socket and process of the asking connection
constexpr double kRestoredWithin = 1;   // seconds after the last client's death
// A sanitizer keeps freed memory, so memory use means nothing then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryMeans = false;
#elif defined(__has_feature)
constexpr bool kMemoryMeans = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kMemoryMeans = true;
#endif
constexpr const char* kGpus = "h200,h200,h200,h200,h200,h200,h200,h200";

class Stress {
 public:
  Stress(std::string program, unsigned clients, double seconds)
      : clients_(clients), seconds_(seconds) {
    std::string name = "/tmp/hypermile-stress-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::filesystem::permissions(folder_,
                                 std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
    ::setenv("HYPERMILE_SIM_STATE", (folder_ / "sim").c_str(), 1);
    ::setenv("HYPERMILE_SIM_GPUS", kGpus, 1);
    ::setenv("HYPERMILE_SIM_SPEED", "20", 1);
    ::setenv("HYPERMILE_SOCKET", (folder_ / "s").c_str(), 1);
    ::setenv("HYPERMILE_STATE", (folder_ / "state").c_str(), 1);
    std::ofstream(folder_ / "h.toml") << "[[allow]]\neveryone = true\ngpus = ['all']\n"
                                         "sm_clock = [210, 1980]\n[limits]\nconnections = 4096\n";
    daemon_.emplace(std::vector<std::string>{std::move(program), "--config", folder_ / "h.toml"});
  }
  ~Stress() {
    daemon_.reset();
    std::filesystem::remove_all(folder_);
  }

  bool run() {
    if (!wait_until_serving()) return fail("the daemon does not serve");
    machine_ = Machine::open(machine_options_from_environment().value()).value();
    for (unsigned i = 0; i < machine_->gpu_count(); ++i) {
      gpus_.emplace_back(machine_->facts(i).uuid);
    }
    for (const GpuUuid& gpu : gpus_) {
      if (!change_once(gpu)) return fail("a GPU cannot be changed");
    }
    const bool fast = report_round_trips(gpus_.front(), kMostRoundTrips);
    return storm() && fast;
  }

 private:
  static bool fail(const std::string& why) {
    fmt::print("FAILED: {}\n", why);
    return false;
  }

  static std::optional<wire::LeaseList> leases() {
    auto connection = DaemonConnection::connect(default_socket_path());
    if (!connection) return std::nullopt;
    return connection->ask<wire::LeaseList>(wire::ListRequest{}, Seconds(5)).optional();
  }
  static bool wait_until_serving() {
    for (int i = 0; i < 2000; ++i) {
      auto connection = DaemonConnection::connect(default_socket_path());
      const auto status =
          connection ? connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(5))
                     : Result<wire::DaemonStatus>(connection.error());
      if (status && !status->gpus.empty() &&
          std::ranges::all_of(status->gpus, [](const auto& gpu) { return gpu.trouble.empty(); })) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  // Opens every journal before descriptors are counted.
  static bool change_once(const GpuUuid& gpu) {
    auto connection = DaemonConnection::connect(default_socket_path());
    const auto lease = connection->ask<wire::Granted>(
        wire::AcquireRequest{{gpu}, Seconds(10), "first", ""}, Seconds(5));
    return lease &&
           connection->ask<wire::Applied>(
               wire::SetRequest{lease->lease, gpu, {.sm_clock = Mhz(1410)}}, Seconds(5)) &&
           connection->ask<wire::Done>(wire::ReleaseRequest{lease->lease}, Seconds(5));
  }

  long daemon_rss_kib() const {
    std::ifstream status(fmt::format("/proc/{}/status", daemon_->pid()));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    }
    return -1;
  }
  std::size_t daemon_descriptors() const {
    const std::filesystem::directory_iterator all(fmt::format("/proc/{}/fd", daemon_->pid()));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  // The life of one client: some of acquire, set, renew, release; then death in one of three ways.
  [[noreturn]] void live(unsigned seed) const {
    std::mt19937 random(seed);
    const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
    const auto chance = [&](unsigned percent) { return below(100) < percent; };
    const uid_t user = 61000 + seed % 64;
    if (::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(9);
    auto connection = DaemonConnection::connect(default_socket_path());
    if (!connection) ::_exit(1);
    const GpuUuid& gpu = gpus_[below(static_cast<unsigned>(gpus_.size()))];
    const auto lease = connection->ask<wire::Granted>(
        wire::AcquireRequest{{gpu}, Seconds(0.2 + 0.001 * below(2000)), "stress", ""}, Seconds(30));
    if (lease && chance(80)) {
      const Setting setting{.sm_clock = Mhz(345.0 + 15.0 * below(100))};
      (void)connection->call(wire::SetRequest{lease->lease, gpu, setting}, Seconds(30));
    }
    if (lease && chance(30)) (void)connection->call(wire::RenewRequest{lease->lease}, Seconds(30));
    std::this_thread::sleep_for(std::chrono::milliseconds(below(400)));
    if (lease && chance(20)) {
      (void)connection->call(wire::ReleaseRequest{lease->lease}, Seconds(30));
    }
    if (chance(50)) ::kill(::getpid(), SIGKILL);
    if (chance(50)) ::_exit(0);
    ::pause();  // until the parent kills this process
    ::_exit(0);
  }

  void start_one() {
    const unsigned seed = ++started_;
    const pid_t child = ::fork();
    if (child == 0) live(seed);
    if (child > 0) alive_.insert(child);
  }
  void reap(int options) {
    for (pid_t pid = 0; (pid = ::waitpid(-1, nullptr, options)) > 0;) alive_.erase(pid);
  }

  bool storm() {
    const std::size_t descriptors = daemon_descriptors();
    long warm_kib = -1;
    std::mt19937 random(1);
    const auto start = Clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    while (elapsed() < seconds_) {
      for (int i = 0; i < 50 && alive_.size() < clients_; ++i) start_one();
      for (int i = 0; i < 10 && !alive_.empty(); ++i) {
        const auto span = static_cast<unsigned>(*alive_.rbegin() - *alive_.begin() + 1);
        ::kill(*alive_.lower_bound(*alive_.begin() + static_cast<pid_t>(random() % span)), SIGKILL);
      }
      reap(WNOHANG);
      if (warm_kib < 0 && elapsed() > seconds_ / 3) warm_kib = daemon_rss_kib();
      most_descriptors_ = std::max(most_descriptors_, daemon_descriptors());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const pid_t pid : alive_) ::kill(pid, SIGKILL);
    const auto dead = Clock::now();
    reap_all();
    return judge(descriptors, warm_kib, dead);
  }
  // Waits for all children except the daemon.
  void reap_all() {
    for (const pid_t pid : alive_) ::waitpid(pid, nullptr, 0);
    alive_.clear();
  }

  bool judge(std::size_t descriptors, long warm_kib, Clock::time_point dead) {
    const auto at_rest = [&] {
      const auto list = leases();
      return list && list->leases.empty() && none_changed() &&
             daemon_descriptors() <= descriptors + kAsking;
    };
    while (!at_rest() && Clock::now() - dead < std::chrono::seconds(20)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const double rest_s = std::chrono::duration<double>(Clock::now() - dead).count();
    const auto left = leases();
    const long kib = daemon_rss_kib();
    fmt::print(
        "{} clients lived and died in {:g} s, {} at a time; daemon: {} descriptors at most, "
        "{} before, {} after; {} KiB warm, {} KiB at the end; at rest {:.3f} s after the "
        "last death\n",
        started_, seconds_, clients_, most_descriptors_, descriptors, daemon_descriptors(),
        warm_kib, kib, rest_s);
    if (!left || !left->leases.empty()) return fail("leases are left");
    if (!none_changed()) return fail("a GPU is left changed");
    if (daemon_descriptors() > descriptors + kAsking) return fail("descriptors are left");
    if (kMemoryMeans && kib - warm_kib > kMostGrowthKib) return fail("the daemon's memory grows");
    if (rest_s > kRestoredWithin + 0.002 * clients_) return fail("restoring took too long");
    return true;
  }

  bool none_changed() {
    for (unsigned i = 0; i < machine_->gpu_count(); ++i) {
      const auto view = machine_->look(i);
      if (!view || view->record.sm_lock.high != 0) return false;
    }
    return true;
  }

  unsigned clients_;
  double seconds_;
  std::filesystem::path folder_;
  std::optional<Process> daemon_;
  std::unique_ptr<Machine> machine_;
  std::vector<GpuUuid> gpus_;
  std::set<pid_t> alive_;
  unsigned started_ = 0;
  std::size_t most_descriptors_ = 0;
};

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: lease_stress HYPERMILED STAND_IN [CLIENTS [SECONDS]]\n");
    return 2;
  }
  if (::geteuid() != 0) {
    fmt::print("needs root to run clients as other users\n");
    return 77;
  }
  ::setenv("HYPERMILE_NVML", argv[2], 1);
  const unsigned clients = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1000;
  const double seconds = argc > 4 ? std::atof(argv[4]) : 60;
  return hypermile::Stress(argv[1], clients, seconds).run() ? 0 : 1;
}
