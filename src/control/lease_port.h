// SPDX-License-Identifier: Apache-2.0
//
// A SettingPort over a lease of the daemon or of a guardian: the way of a living machine. Whatever
// takes time (acquiring, a driver's answer, renewing) happens on a thread of its own. A lease that
// is over, for whatever reason, is kLost with the reason; the GPUs are at their baseline then, and
// whether to claim again is the caller's decision.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "control/setting_port.h"
#include "lease/protocol/lease_client.h"

namespace hypermile {

struct LeasePortOptions {
  Seconds ttl = Seconds(10);  // asked for; renewed four times within what is granted
  std::string program = "hypermile run";
  std::string job = {};  // a batch system's job, or empty
  std::string socket = default_socket_path();
  std::optional<GuardianOptions> guardian = GuardianOptions{default_guardian_program(), false};
  // HYPERMILE_READ_ONLY: every claim is refused, and nobody is asked.
  bool read_only = false;
  Seconds release_deadline = Seconds(15);
};

// Used by one thread, the Controller's.
class LeasePort final : public SettingPort {
 public:
  // `clock` is a real one and must outlive this. `guardian` is one that was prepared
  // (prepare_guardian) and takes the place of whoever else would be asked.
  LeasePort(LeasePortOptions options, Clock& clock, std::optional<DaemonConnection> guardian = {});
  // Hangs up, which ends the lease; waits for a call that is under way, at most its own deadline.
  ~LeasePort() override;
  LeasePort(const LeasePort&) = delete;
  LeasePort& operator=(const LeasePort&) = delete;

  // Also after kRefused and kLost, which it ends.
  void claim(const std::vector<GpuUuid>& gpus) override;
  PortState state() const override;
  std::optional<Error> problem() const override;
  bool allows(const Setting& setting) const override;
  void ask(const GpuUuid& gpu, const Setting& setting) override;
  std::vector<PortAnswer> take_answers() override;
  Result<void> release() override;

  // Whether a guardian of our own serves the lease that is held, or was held last.
  bool guarded() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void serve(const std::stop_token& stop);
  void acquire(Lock& lock);
  void set_next(Lock& lock);
  void renew(Lock& lock);
  void give_back(Lock& lock);
  // What became of a call: a lease that is over is let go.
  void note_failure(const Error& error);
  void lose(Error why);
  bool due(Instant now) const { return lease_ && now >= next_renewal_; }

  const LeasePortOptions options_;
  Clock& clock_;

  mutable std::mutex mutex_;  // all that follows; never held during a call
  std::condition_variable_any changed_;
  PortState state_ = PortState::kUnclaimed;
  std::optional<Error> problem_;
  std::vector<GpuUuid> gpus_;
  wire::Granted granted_;  // of the lease that is held, or was held last
  std::map<GpuUuid, Setting> wanted_;
  std::vector<PortAnswer> answers_;
  bool releasing_ = false;
  Result<void> released_;
  bool guarded_ = false;

  // The thread's alone.
  std::optional<DaemonConnection> guardian_;
  std::unique_ptr<HeldLease> lease_;
  Instant renewed_, next_renewal_;

  std::jthread thread_;  // last: it uses everything above
};

}  // namespace hypermile
