// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_process.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "base/terminal_text.h"
#include "gpu/nvml/nvml_setters.h"
#include "lease/daemon/crash_recovery.h"
#include "lease/daemon/event_loop.h"
#include "lease/daemon/first_acquire.h"
#include "lease/daemon/job_rights.h"
#include "lease/daemon/kept_gpus.h"
#include "lease/daemon/notify.h"
#include "lease/daemon/server.h"
#include "lease/daemon/service.h"
#include "lease/daemon/system_log.h"

namespace hypermile {
namespace {

constexpr Seconds kFirstRetry = Seconds(1);
constexpr Seconds kLongestRetry = Seconds(30);
constexpr Seconds kRecoveryCheck = milliseconds(2);
constexpr Seconds kRecoveryPatience = Seconds(2);
constexpr int kLastAttempts = 5;

// Every signal that would end the process becomes a request to stop, which restores first. Crashes
// are crash_recovery.h's, and reset_inherited() ignores what must not end or stop anybody.
Result<Descriptor> take_signals(bool guardian) {
  // A closed terminal must not end the process that restores the GPU.
  if (guardian) ::signal(SIGHUP, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1,
                           SIGUSR2, SIGIO, SIGPWR, SIGSTKFLT}) {
    sigaddset(&set, signal);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&set, signal);
  if (!guardian) sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return Error{ErrorCode::kIo, "cannot watch for signals"};
  return signals;
}

// Each client needs two descriptors: its socket and its process handle.
void raise_descriptor_limit(std::size_t connections) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = 2 * (connections + Server::kReservedForRoot) + 256;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(wanted, limit.rlim_max));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class DaemonProcess {
 public:
  DaemonProcess(DaemonOptions options, DaemonConfig config, Log log, Descriptor signals,
                std::unique_ptr<EventLoop> loop, Clock& clock)
      : options_(std::move(options)),
        log_(std::move(log)),
        signals_(std::move(signals)),
        clock_(clock),
        loop_(std::move(loop)),
        service_(clock, std::move(config), service_options(), log_),
        server_(*loop_, clock, service_, log_) {}

  Result<void> run() {
    RETURN_IF_ERROR(loop_->watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { on_signal(); }));
    if (!options_.guardian) {
      RETURN_IF_ERROR(prepare_socket_folder(options_.socket));
      RETURN_IF_ERROR(server_.listen(options_.socket, options_.state + "/daemon.lock"));
    }
    if (options_.guardian) {
      await_owner();
    } else {
      start_on_a_thread({});
    }
    loop_->run();
    return {};
  }

 private:
  Service::Options service_options() const {
    Service::Options options{options_.guardian, read_only_mode()};
    options.job_allows = [state = options_.state](uid_t user, const GpuUuid& gpu) {
      return job_allows(state, user, gpu);
    };
    return options;
  }

  // A guardian starts before its job and learns its GPUs from its owner. Meanwhile it restores what
  // dead processes left, as at every start.
  void await_owner() {
    orphans_ = std::jthread([this, config = service_.config()](const std::stop_token&) {
      restore_orphans(keep_options(config, {}), *files_, clock_, log_);
    });
    await_first_acquire(*loop_, clock_, STDIN_FILENO, [this](Result<std::vector<GpuUuid>> gpus) {
      if (!gpus) return turn_owner_away(gpus.error());
      start_on_a_thread(std::move(gpus).value());
    });
  }

  // It keeps the GPUs of a first request and no other, so without one it keeps none and ends.
  void turn_owner_away(const Error& why) {
    log_(LogLevel::kNotice, "ends without having kept a GPU: " + why.line());
    FramedSocket owner{Descriptor(STDIN_FILENO)};
    if (const auto frame = wire::encode_reply({0, why})) owner.put(*frame);
    (void)owner.flush();
    stop();
  }

  // An empty list means all GPUs.
  void start_on_a_thread(std::vector<GpuUuid> gpus) {
    starter_ =
        std::jthread([this, config = service_.config(), gpus = std::move(gpus)](
                         const std::stop_token& stop) { start(keep_options(config, gpus), stop); });
  }

  KeepOptions keep_options(const DaemonConfig& config, const std::vector<GpuUuid>& gpus) const {
    return {options_.state,
            fmt::format("{} (pid {})", options_.guardian ? "a guardian" : "hypermiled", ::getpid()),
            {gpus.begin(), gpus.end()},
            &config};
  }

  // Runs on its own thread, so that a missing or hanging driver delays no client.
  void start(const KeepOptions& keep, const std::stop_token& stop) {
    const auto to_loop = loop_->poster();
    for (Seconds pause = kFirstRetry; !stop.stop_requested();
         pause = std::min(pause * 2, kLongestRetry)) {
      auto kept =
          std::make_shared<Result<KeptGpus>>(keep_gpus(keep, *files_, clock_, to_loop, log_));
      const bool found = kept->ok();
      to_loop([this, kept] { on_gpus(*kept); });
      if (found || options_.guardian) break;
      clock_.sleep_for(pause, stop);
    }
  }

  void on_gpus(Result<KeptGpus>& kept) {
    if (!kept) {
      service_.no_gpus_because(kept.error());
      log_(LogLevel::kWarning, kept.error().line());
      manager_.tell("STATUS=waiting for GPUs: " + kept.error().message);
      if (options_.guardian) serve_owner();
      return;
    }
    gpus_ = *std::move(kept);
    std::vector<GpuPort*> ports;
    for (const auto& gpu : gpus_) ports.push_back(gpu.get());
    service_.serve_gpus(std::move(ports));
    await_recovery(clock_.now() + kRecoveryPatience);
  }

  // Clients are served after a while even if one GPU cannot be restored.
  void await_recovery(Instant latest) {
    if (!service_.recovered() && clock_.now() < latest) {
      loop_->at(clock_.now() + kRecoveryCheck, [this, latest] { await_recovery(latest); });
      return;
    }
    if (options_.guardian) return serve_owner();
    log_(LogLevel::kNotice,
         fmt::format("serving {} at {}", counted(gpus_.size(), "GPU"), options_.socket));
    manager_.tell(fmt::format("READY=1\nSTATUS=serving {}", counted(gpus_.size(), "GPU")));
    if (manager_.watchdog()) feed_watchdog();
  }

  void serve_owner() {
    const Result<void> adopted = server_.adopt(Descriptor(STDIN_FILENO), [this] { stop(); });
    if (!adopted) {
      log_(LogLevel::kError, adopted.error().line());
      stop();
    }
  }

  void feed_watchdog() {
    manager_.tell("WATCHDOG=1");
    loop_->at(clock_.now() + *manager_.watchdog() * 0.3, [this] { feed_watchdog(); });
  }

  void on_signal() {
    signalfd_siginfo taken = {};
    while (::read(signals_.get(), &taken, sizeof(taken)) == sizeof(taken)) {
      if (taken.ssi_signo == SIGHUP) {
        reload();
      } else if (stopping_) {
        log_(LogLevel::kWarning, "not every GPU is restored yet; the process ends when they are");
      } else {
        log_(LogLevel::kNotice, fmt::format("asked to stop by signal {}", taken.ssi_signo));
        stop();
      }
    }
  }

  void reload() {
    Result<DaemonConfig> config = read_daemon_config(options_.config, machine_accounts());
    if (!config) {
      return log_(LogLevel::kError, "the configuration is not changed: " + config.error().line());
    }
    for (const std::string& warning : config->warnings) log_(LogLevel::kWarning, warning);
    service_.set_config(*std::move(config));
    log_(LogLevel::kNotice, "read " + options_.config + " again");
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    starter_.request_stop();
    manager_.tell("STOPPING=1");
    server_.stop_listening();
    service_.stop();
    await_rest();
  }

  void await_rest() {
    if (service_.at_rest()) return loop_->stop();
    loop_->at(clock_.now() + kRecoveryCheck, [this] { await_rest(); });
  }

  DaemonOptions options_;
  Log log_;
  Descriptor signals_;
  Clock& clock_;
  std::unique_ptr<Files> files_ = make_real_files();
  std::unique_ptr<EventLoop> loop_;
  KeptGpus gpus_;  // must outlive the service
  Service service_;
  Server server_;
  ServiceManager manager_;
  bool stopping_ = false;
  std::jthread orphans_, starter_;
};

Result<void> serve(const DaemonOptions& options, const Log& log) {
  ASSIGN_OR_RETURN(Descriptor signals, take_signals(options.guardian));
  Result<DaemonConfig> read = read_daemon_config(options.config, machine_accounts());
  // The administrator's to mend: kUsage, on which systemd does not start the daemon again.
  if (!read) return Error{ErrorCode::kUsage, read.error().message, read.error().remedy};
  DaemonConfig config = *std::move(read);
  for (const std::string& warning : config.warnings) log(LogLevel::kWarning, warning);
  RETURN_IF_ERROR(prepare_state_folder(options.state));
  raise_descriptor_limit(config.connections);
  // Never destroyed, because a driver call that hangs may use it after this function has returned.
  static const std::unique_ptr<Clock> clock = make_real_clock();
  ASSIGN_OR_RETURN(auto loop, EventLoop::make(*clock));
  DaemonProcess process(options, std::move(config), log, std::move(signals), std::move(loop),
                        *clock);
  return process.run();
}

}  // namespace

Result<void> run_daemon(const DaemonOptions& options) {
  const Log log = system_log(options.guardian);
  const Result<void> done = serve(options, log);
  // One that cannot serve, because of its configuration, its folders or its socket, restores all
  // the same. GPUs that another process keeps are left to it.
  if (!done) (void)recover(options, log, kLastAttempts);
  return done;
}

}  // namespace hypermile
