// SPDX-License-Identifier: Apache-2.0
#include "kill_world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "kill_client.h"

namespace hypermile {
namespace {

constexpr Mhz kAdministratorsLock(1200);
constexpr Seconds kStartPatience(20);  // on a busy machine

void set_environment(const std::filesystem::path& folder, const std::string& stand_in) {
  ::setenv("HYPERMILE_SIM_STATE", (folder / "sim").c_str(), 1);
  ::setenv("HYPERMILE_SIM_GPUS", "rtx3080ti,h200", 1);
  ::setenv("HYPERMILE_SIM_SPEED", "50", 1);
  ::setenv("HYPERMILE_NVML", stand_in.c_str(), 1);
  ::setenv("HYPERMILE_SOCKET", (folder / "socket").c_str(), 1);
  ::setenv("HYPERMILE_STATE", (folder / "state").c_str(), 1);
  ::unsetenv("HYPERMILE_SIM_FAULTS");
  ::unsetenv("HYPERMILE_READ_ONLY");
}

}  // namespace

KillWorld::KillWorld(const Programs& programs) : programs_(programs) {
  std::string name = "/dev/shm/hypermile-kill-XXXXXX";
  folder = ::mkdtemp(name.data());
  set_environment(folder, programs.stand_in);
  machine_ = Machine::open(machine_options_from_environment().value()).value();
  uuid_ = machine_->facts(0).uuid;
  // The second GPU belongs to somebody else, and no test may change it.
  (void)machine_->request_knob(1, Knob::kSmClock, kAdministratorsLock.value(), [](GpuRecord& gpu) {
    gpu.sm_lock = {345, static_cast<std::uint32_t>(kAdministratorsLock.value())};
  });
  // Guardians become children of this process when their own parents are gone.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

KillWorld::~KillWorld() {
  (void)guardian();
  for (const pid_t process : started_) signal(process, SIGKILL);
  for (const int fd : {terminal_, events_, orders_}) {
    if (fd >= 0) ::close(fd);
  }
  wait(Seconds(5), [this] {
    for (const pid_t process : started_) {
      if (!has_ended(process)) return false;
    }
    return true;
  });
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

pid_t KillWorld::spawn(const std::function<int()>& body, bool terminal) {
  const pid_t process = terminal ? ::forkpty(&terminal_, nullptr, nullptr, nullptr) : ::fork();
  if (process == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);  // as under a shell
    ::_exit(body());
  }
  if (process > 0) started_.insert(process);
  return process;
}

pid_t KillWorld::start_daemon(bool traced) {
  int gate[2] = {-1, -1};
  if (::pipe2(gate, O_CLOEXEC) != 0) return 0;
  const std::string log = folder / "daemon.log";
  const std::string config = folder / "none.toml";
  const pid_t process = spawn(
      [&]() -> int {
        char byte = 0;
        if (::read(gate[0], &byte, 1) != 1) return 3;
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::execl(programs_.daemon.c_str(), "hypermiled", "--config", config.c_str(), nullptr);
        return 4;
      },
      false);
  if (traced) tracer.attach(process);
  (void)!::write(gate[1], "g", 1);
  ::close(gate[0]);
  ::close(gate[1]);
  return process;
}

bool KillWorld::await_daemon() {
  return wait(kStartPatience, [] { return daemon_serves(); });
}

pid_t KillWorld::start_client(bool with_guardian) {
  int events[2] = {-1, -1};
  int orders[2] = {-1, -1};
  if (::pipe2(events, O_CLOEXEC | O_NONBLOCK) != 0 || ::pipe2(orders, O_CLOEXEC) != 0) return 0;
  const pid_t process = spawn(
      [&] {
        return kill_client(uuid_, with_guardian ? programs_.daemon : "", kTtl, events[1],
                           orders[0]);
      },
      true);
  ::close(events[1]);
  ::close(orders[0]);
  events_ = events[0];
  orders_ = orders[1];
  return client_ = process;
}

bool KillWorld::await_change() {
  wait(kStartPatience, [&] {
    (void)client_cycles();
    return changed_told_ || has_ended(client_);
  });
  return changed_told_ && !restored();
}

void KillWorld::let_client_go_on() {
  (void)!::write(orders_, "g", 1);
}

int KillWorld::client_cycles() {
  char byte = 0;
  while (::read(events_, &byte, 1) == 1) {
    if (byte == 'C') changed_told_ = true;
    if (byte == 'c') ++cycles_;
  }
  return cycles_;
}

void KillWorld::signal(pid_t process, int signal) const {
  if (process > 1 && started_.count(process) != 0 && !has_ended(process)) ::kill(process, signal);
}

void KillWorld::signal_group(pid_t leader, int signal) const {
  if (leader > 1 && started_.count(leader) != 0 && !has_ended(leader)) ::kill(-leader, signal);
}

void KillWorld::close_terminal() {
  ::close(terminal_);
  terminal_ = -1;
}

pid_t KillWorld::guardian() {
  std::ifstream lock(folder / "state" / (uuid_ + ".lock"));
  std::string text;
  std::getline(lock, text);
  const std::size_t at = text.find("guardian (pid ");
  if (at == text.npos) return 0;
  const auto process = static_cast<pid_t>(std::atoi(text.c_str() + at + 14));
  // A process that this one has not adopted is not part of the run, or has ended.
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string pid, name, state;
  pid_t parent = 0;
  if (!(stat >> pid >> name >> state >> parent) || parent != ::getpid()) return 0;
  started_.insert(process);
  return process;
}

bool KillWorld::restored() {
  const auto first = machine_->look(0);
  const auto second = machine_->look(1);
  if (!first || !second) return false;
  const Watts normal = machine_->constants(0).limit.normal;
  const Watts limit = first->record.sim.requested.power_limit.value_or(normal);
  return first->record.sm_lock.high == 0 && first->record.memory_lock.high == 0 &&
         limit == normal && second->record.sm_lock.high == kAdministratorsLock.value();
}

std::string KillWorld::seen() {
  const auto first = machine_->look(0);
  if (!first) return first.error().line();
  const auto limit = first->record.sim.requested.power_limit;
  return fmt::format("sm lock {} mem lock {} limit {}", first->record.sm_lock.high,
                     first->record.memory_lock.high, limit ? limit->value() : 0.0);
}

bool KillWorld::wait(Seconds most, const std::function<bool()>& done) {
  const Instant end = clock->now() + most;
  while (!done()) {
    if (clock->now() > end) return false;
    tracer.pump(1);
  }
  return true;
}

}  // namespace hypermile
