// SPDX-License-Identifier: Apache-2.0
//
// For end-to-end tests of leases: simulated GPUs, a daemon, and clients as processes of any user.
// The tests run in real time because processes take part.
#pragma once

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/proc_file.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"
#include "process.h"
#include "testing/stand_in_fixture.h"

namespace hypermile {

// The address sanitizer reserves terabytes of address space and makes every process larger.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

class LeaseTest : public StandInTest {
 protected:
  LeaseTest() {
    // The group of the tests is the top for its processes, so that guardians, which leave every
    // group, stay where the tests are confined. Only root can do this, and only root needs it.
    ::unshare(CLONE_NEWCGROUP);
    ::setenv("HYPERMILE_NVML", NVML_STAND_IN, 1);
    ::setenv("HYPERMILE_SOCKET", (folder_ / "hypermiled.sock").c_str(), 1);
    ::setenv("HYPERMILE_STATE", (folder_ / "state.d").c_str(), 1);
    if (::geteuid() != 0) write(".permissions", std::to_string(::geteuid()) + "\n");
    // Copied to a place that other users can reach.
    client_ = (folder_ / "lease_client").string();
    std::filesystem::copy_file(LEASE_CLIENT, client_);
    // A guardian is looked up beside its client. Both are copies, because other users may not enter
    // the folder of the build.
    std::filesystem::copy_file(HYPERMILED, folder_ / "hypermiled");
  }

  void use_gpus(const std::string& names) {
    ::setenv("HYPERMILE_SIM_GPUS", names.c_str(), 1);
    machine_.reset();
  }

  static constexpr const char* kEverybody =
      "[[allow]]\neveryone = true\ngpus = ['all']\nsm_clock = [1, 9999]\n"
      "memory_clock = [1, 9999]\npower_limit = [1, 9999]\n";

  // Starts a daemon with this configuration and waits until it serves.
  Process start_daemon(const std::string& config = kEverybody) {
    const std::string path = (folder_ / "hypermiled.toml").string();
    std::ofstream(path) << config;
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    Process daemon({HYPERMILED, "--config", path});
    EXPECT_TRUE(eventually(20, [&] { return serving(); })) << "the daemon does not serve";
    return daemon;
  }

  // The daemon's status as this user sees it.
  static std::optional<wire::DaemonStatus> daemon_status() {
    auto connection = DaemonConnection::connect(default_socket_path());
    if (!connection) return std::nullopt;
    return connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, Seconds(5)).optional();
  }
  static bool serving() {
    const auto status = daemon_status();
    return status && status->trouble.empty() && !status->gpus.empty() &&
           std::ranges::all_of(status->gpus, [](const auto& gpu) { return gpu.trouble.empty(); });
  }

  Process start_client(std::optional<RunAs> as = {}) { return Process({client_}, std::move(as)); }

  std::string uuid(unsigned gpu) { return sim().facts(gpu).uuid; }

  // The requested ceiling; nullopt if there is none.
  std::optional<unsigned> sm_lock(unsigned gpu) {
    const auto view = sim().look(gpu);
    if (!view || view->record.sm_lock.high == 0) return std::nullopt;
    return view->record.sm_lock.high;
  }
  bool changed(unsigned gpu) {
    const auto view = sim().look(gpu);
    return !view || view->record.sm_lock.high != 0 || view->record.memory_lock.high != 0 ||
           view->record.sim.requested.power_limit.has_value();
  }

  // True once `condition` holds; checks every millisecond for up to `seconds`.
  bool eventually(double seconds, const std::function<bool()>& condition) {
    const Instant until = clock_->now() + Seconds(seconds);
    while (!condition()) {
      if (clock_->now() >= until) return false;
      clock_->sleep_for(milliseconds(1));
    }
    return true;
  }

  // The process that keeps the GPU, according to its lock file; -1 if none does.
  pid_t keeper(unsigned gpu) {
    std::ifstream lock(folder_ / "state.d" / (uuid(gpu) + ".lock"));
    const std::string text((std::istreambuf_iterator<char>(lock)), {});
    const std::size_t at = text.find("(pid ");
    return at == text.npos ? -1 : std::stoi(text.substr(at + 5));
  }
  // An orphan may stay a zombie, because its new parent may never wait for it.
  static bool gone(pid_t pid) {
    const std::string text = read_proc_file(pid, "stat").value_or("");
    const std::size_t at = text.rfind(')');
    return at == text.npos || text.substr(at).starts_with(") Z");
  }

  static bool root() { return ::geteuid() == 0; }

  std::string client_;

 private:
  Machine& sim() {
    if (!machine_) machine_ = machine();
    return *machine_;
  }
  std::unique_ptr<Machine> machine_;
};

// Other users are processes that change their user id, which only root can do.
#define REQUIRE_ROOT() \
  if (!root()) GTEST_SKIP() << "needs root to run clients as other users"

}  // namespace hypermile
