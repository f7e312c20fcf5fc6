// SPDX-License-Identifier: Apache-2.0
#include "kill_case.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace hypermile {
namespace {

constexpr Seconds kRestoreDeadline(1);
constexpr Seconds kCalm = milliseconds(30);
constexpr Seconds kLatest(10);         // after this time nobody is expected to restore
constexpr Seconds kStartDeadline(20);  // for a new process on a busy machine
constexpr Seconds kRunDeadline(20);

class Run {
 public:
  Run(const KillCase& which, const Moment& moment, const KillWorld::Programs& programs)
      : case_(which), moment_(moment), world_(programs) {}

  KillResult play() {
    if (!prepare()) return result_;
    strike_at_moment();
    result_.steps = world_.tracer.steps();
    judge();
    return result_;
  }

 private:
  bool server_is_struck() const { return case_.victim != Victim::kClient; }

  bool fail(const char* trouble) {
    result_.trouble = trouble;
    return false;
  }

  // Runs to the point where the GPU is changed and everybody waits.
  bool prepare() {
    if (case_.setup != Setup::kGuardian) {
      server_ = world_.start_daemon();
      if (!world_.await_daemon()) return fail("the daemon did not start");
    }
    client_ = world_.start_client(case_.setup == Setup::kGuardian);
    if (!world_.await_change()) return fail("nothing was changed");
    if (case_.setup == Setup::kGuardian) server_ = world_.guardian();
    if (server_ <= 0) return fail("there is no server");
    if (case_.setup == Setup::kRecovery) return prepare_recovery();
    victim_ = server_is_struck() ? server_ : client_;
    if (!moment_.at && !world_.tracer.attach(victim_)) return fail("the victim was gone early");
    return result_.changed = true;
  }

  bool prepare_recovery() {
    world_.signal(server_, SIGKILL);
    world_.wait(kStartDeadline, [&] { return world_.has_ended(server_); });
    if (world_.restored()) return fail("nothing was left changed");
    result_.changed = true;
    arm();
    victim_ = server_ = world_.start_daemon(!moment_.at);
    return true;
  }

  void arm() {
    world_.tracer.count([this](int step, pid_t) {
      if (!moment_.at && !struck_at_ && step == moment_.step) strike();
    });
  }

  void strike_at_moment() {
    if (case_.setup != Setup::kRecovery) {
      arm();
      world_.let_client_go_on();
    }
    const Instant begin = world_.clock->now();
    world_.wait(kRunDeadline, [&] {
      if (moment_.at && !struck_at_ && world_.clock->now() - begin >= *moment_.at) strike();
      const bool recovered = case_.setup == Setup::kRecovery && world_.restored() &&
                             world_.clock->now() - begin > Seconds(0.2);
      const bool over = case_.setup != Setup::kRecovery && world_.has_ended(client_);
      return struck_at_ || world_.has_ended(victim_) || recovered || over ||
             (!moment_.at && world_.client_cycles() >= 2);
    });
  }

  void strike() {
    result_.struck = true;
    struck_at_ = world_.clock->now();
    if (case_.blow != Blow::kFullDisk) world_.tracer.let_go();
    switch (case_.blow) {
      case Blow::kKill:
        world_.signal(victim_, SIGKILL);
        if (case_.victim == Victim::kBoth) world_.signal(client_, SIGKILL);
        return;
      case Blow::kTerminate:
        world_.signal(victim_, SIGTERM);
        // Stops the client, or it would start another guardian.
        if (server_is_struck()) world_.signal(client_, SIGSTOP);
        return;
      case Blow::kStop:
        world_.signal(victim_, SIGSTOP);
        // Stops the client too, or it would renew as soon as the server is back.
        world_.signal(client_, SIGSTOP);
        return;
      case Blow::kGroup:
        world_.signal_group(victim_, SIGKILL);
        return;
      case Blow::kTerminal:
        world_.close_terminal();
        return;
      case Blow::kFullDisk:
        world_.tracer.fill_disk(world_.folder / "state");
        return;
      case Blow::kNoDescriptors: {
        const rlimit none = {0, RLIM_INFINITY};
        ::prlimit(victim_, RLIMIT_NOFILE, &none, nullptr);
        return;
      }
    }
  }

  void judge() {
    if (!result_.struck) {
      // The victim ended undisturbed. The client is killed instead, and that must be restored too.
      world_.tracer.let_go();
      world_.signal(client_, SIGKILL);
      struck_at_ = world_.clock->now();
      if (server_is_struck() && world_.has_ended(server_)) return judge_next_start();
      return judge_alive(kRestoreDeadline);
    }
    if (!server_is_struck()) {
      if (case_.blow == Blow::kStop) return judge_stopped_client();
      return judge_alive(kRestoreDeadline);
    }
    if (case_.blow == Blow::kKill) return judge_next_start();
    if (case_.blow == Blow::kTerminate) return judge_terminated();
    if (case_.blow == Blow::kStop) return judge_stopped_server();
    judge_starved_server();
  }

  // For a case in which somebody who restores is alive. Requests from before the blow may still be
  // carried out after it, so a GPU counts as restored only if it stays so for a while.
  void judge_alive(Seconds deadline) {
    result_.left = result_.left || !world_.restored();
    std::optional<Instant> since;
    const Instant latest = world_.clock->now() + deadline;
    result_.restored = world_.wait(deadline + kLatest, [&] {
      const Instant now = world_.clock->now();
      if (!world_.restored()) {
        since.reset();
      } else if (!since) {
        since = now;
      }
      return since && now - *since >= kCalm;
    });
    result_.late = result_.late || (result_.restored && *since > latest);
    if (since) result_.took = *since - *struck_at_;
    if (!result_.restored) result_.trouble = world_.seen();
  }

  void judge_next_start() {
    world_.signal(client_, SIGKILL);
    world_.wait(kStartDeadline, [&] { return world_.has_ended(server_); });
    result_.left = result_.left || !world_.restored();
    world_.start_daemon();
    struck_at_ = world_.clock->now();
    result_.by_next_start = true;
    judge_alive(kStartDeadline);
  }

  // A server that ended in order has restored; if it ended before it could listen, the next start
  // does.
  void judge_terminated() {
    if (!world_.wait(kRunDeadline, [&] { return world_.has_ended(server_); })) {
      result_.trouble = "the server did not end";
      return;
    }
    const auto status = world_.tracer.ended().find(server_);
    const bool in_order = status != world_.tracer.ended().end() && status->second == 0;
    if (!in_order || case_.setup == Setup::kRecovery) return judge_next_start();
    const bool restored_first = world_.restored();
    judge_alive(kRestoreDeadline);
    result_.restored = result_.restored && restored_first;
    if (!restored_first) result_.trouble = "it ended before it had restored";
  }

  void let_pass(Seconds time) {
    const Instant later = world_.clock->now() + time;
    world_.wait(kRunDeadline, [&] { return world_.clock->now() > later; });
  }

  // The GPU may be at its baseline by chance while the lease still lives.
  void judge_stopped_client() {
    let_pass(KillWorld::kTtl / 2);
    judge_alive(KillWorld::kTtl / 2 + kRestoreDeadline);
  }

  void judge_stopped_server() {
    let_pass(KillWorld::kTtl + milliseconds(50));
    world_.signal(victim_, SIGCONT);
    struck_at_ = world_.clock->now();
    // Its last request before it stopped may be a new lease, which then expires.
    judge_alive(KillWorld::kTtl + kRestoreDeadline);
  }

  void judge_starved_server() {
    let_pass(milliseconds(20));
    world_.signal(client_, SIGKILL);
    struck_at_ = world_.clock->now();
    judge_alive(kRestoreDeadline);
    if (!result_.restored) return;
    const std::optional<Seconds> took = result_.took;
    world_.signal(server_, SIGKILL);
    judge_next_start();
    result_.took = took;
    result_.by_next_start = false;
  }

  const KillCase& case_;
  Moment moment_;
  KillWorld world_;
  KillResult result_;
  pid_t server_ = 0;
  pid_t client_ = 0;
  pid_t victim_ = 0;
  std::optional<Instant> struck_at_;
};

}  // namespace

KillResult run_case(const KillCase& which, const Moment& moment,
                    const KillWorld::Programs& programs) {
  // If the machine is so busy that the client cannot renew in time, the lease ends before the run
  // begins, and the run does not count. A late run is repeated once and counted separately.
  KillResult result;
  int late = 0;
  for (int tries = 0; tries < 5 && (!result.changed || (result.late && late < 2)); ++tries) {
    result = Run(which, moment, programs).play();
    late += result.late ? 1 : 0;
  }
  result.tries_late = late;
  return result;
}

}  // namespace hypermile
