// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_main.h"

#include <absl/synchronization/mutex.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <thread>

#include "agent/agent_options.h"
#include "agent/group_loop.h"
#include "agent/job_comment.h"
#include "base/clock.h"
#include "base/job_end.h"
#include "base/version.h"
#include "inject/stale_rings.h"
#include "run/clock_access.h"
#include "run/injection.h"
#include "run/run_job.h"
#include "run/watched_run.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace hypermile {
namespace {

// Requests `ended` when standard input ends: whoever started us says that the ranks are gone, or is
// gone itself.
class InputEnd {
 public:
  explicit InputEnd(std::stop_source ended)
      : thread_([ended](const std::stop_token& stop) mutable {
          pollfd input{STDIN_FILENO, POLLIN, 0};
          char ignored[64];
          while (!stop.stop_requested()) {
            if (::poll(&input, 1, 100) <= 0) continue;
            if (::read(STDIN_FILENO, ignored, sizeof ignored) <= 0) break;
          }
          ended.request_stop();
        }) {}

 private:
  std::jthread thread_;
};

// The variables that inject() added or changed, one a line; then nothing more comes.
void print_environment(const Environment& before, const Environment& after) {
  for (const std::string& variable : after.strings()) {
    const std::size_t equals = variable.find('=');
    if (before.get(variable.substr(0, equals)) == variable.substr(equals + 1)) continue;
    std::cout << variable << "\n";
  }
  std::cout << std::flush;
  // Whoever reads sees the end; what is printed later by mistake goes nowhere.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0) ::close(STDOUT_FILENO);
  if (nowhere >= 0) ::close(nowhere);
}

// For the other agents to get the last report of this one, and for this one to get theirs.
constexpr Seconds kLastWords = milliseconds(200);
constexpr Seconds kOthersEnd = Seconds(2);

// Others may use the same GPUs at the same time, so this job changes nothing: Slurm hands out parts
// of GPUs as shards or as shares of MPS.
bool shares_gpus(const Environment& environment) {
  return environment.has("SLURM_SHARDS_ON_NODE") ||
         environment.has("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
}

RunRequest request_of(const AgentOptions& options) {
  RunRequest request;
  request.program = "hypermile-agent";
  request.typed = {"hypermile-agent", "--job", options.job, "--node", options.nodes[options.self]};
  request.typed.insert(request.typed.end(), options.command.begin(), options.command.end());
  request.control.observe = options.observe;
  request.control.controller.objective = options.objective;
  request.control.controller.policy = options.policy;
  request.report.log = options.log;
  request.report.summary = options.summary;
  request.report.quiet = options.command.empty() || options.quiet;
  return request;
}

bool decides_jointly(const AgentOptions& options) {
  return options.nodes.size() > 1 && !options.observe;
}

Result<std::unique_ptr<Credentials>> credentials_for(const AgentOptions& options) {
  if (!options.under_torchrun()) return make_munge_credentials(options.munge_socket);
  if (options.secret_file.empty()) return make_loopback_credentials();
  return make_secret_credentials(options.secret_file);
}

NodeTotals totals_of(const JobOutcome& outcome) {
  const JobTotals job = outcome.summary.figures.job();
  NodeTotals totals;
  for (const GpuReport& gpu : outcome.summary.gpus) {
    if (gpu.energy) totals.joules += gpu.energy->value();
  }
  if (job.saved_j) totals.saved_j = job.saved_j->value;
  if (job.time_change) totals.time_change = job.time_change->value;
  return totals;
}

// This node's part in the group, while it lives.
class GroupPart {
 public:
  GroupPart(const AgentOptions& options, std::unique_ptr<Credentials> credentials, Clock& clock)
      : clock_(clock),
        credentials_(std::move(credentials)),
        server_({listening_address(options), options.job, options.self, options.under_torchrun()},
                *credentials_, seat_, clock) {
    plan_.course.policy = options.policy;
    plan_.course.objective = options.objective;
    plan_.nodes = options.nodes;
    plan_.job = options.job;
    plan_.self = options.self;
    for (std::size_t node = 0; node < options.nodes.size(); ++node) {
      plan_.addresses.push_back(agent_address(options, node));
    }
    if (options.under_torchrun()) {
      plan_.address_at = [&options](NodeNumber node, const std::string& host) {
        return address_at(options, node, host);
      };
    }
  }

  // One decision for all nodes, and one guard of the bound: where that is made. The request is read
  // while the run lasts, so this comes before.
  void prepare(RunRequest& request) {
    request.control.controller.guard = false;
    request.control.controller.slack = false;
    request.control.controller.changes = false;
    request.control.joint = [this](const PhaseFacts& facts, PolicyContext context) {
      return seat_.maker()(facts, std::move(context));
    };
  }

  void begin(const std::function<void(const std::string&)>& say) {
    if (const Result<void> listening = server_.listen(); !listening) {
      say(listening.error().line() + "; nobody can follow this node");
    }
    thread_ = std::jthread([this](const std::stop_token& stop) {
      run_group_loop(plan_, server_, *credentials_, seat_, clock_, stop);
    });
  }

  // Called when the ranks of this node have ended. Where this node coordinates, it waits for a
  // while for the other nodes and returns the totals of all that reported; elsewhere it returns
  // nothing.
  std::map<NodeNumber, NodeTotals> last_words(const NodeTotals& totals) {
    seat_.farewell(totals);
    clock_.sleep_for(kLastWords);
    const Instant until = clock_.now() + kOthersEnd;
    while (server_.coordinates() && server_.totals().size() < plan_.nodes.size() &&
           clock_.now() < until) {
      clock_.sleep_for(kLastWords / 4);
    }
    return server_.totals();
  }

  std::string status() const { return server_.status(); }

 private:
  Clock& clock_;
  Seat seat_;
  std::unique_ptr<Credentials> credentials_;
  GroupPlan plan_;
  AgentServer server_;
  std::jthread thread_;
};

int follow_ranks(const AgentOptions& options, StopSignals& signals) {
  const auto clock = make_real_clock();
  std::stop_source ended;
  const std::stop_callback stopped(signals.token(), [&ended] { ended.request_stop(); });
  const RunWorld world{.out = std::cout,
                       .err = std::cerr,
                       .terminal = false,
                       .clock = *clock,
                       .stop = signals.token(),
                       .signals = nullptr};
  RunRequest request = request_of(options);
  remove_stale_rings();
  Result<RingFolder> folder = RingFolder::make();
  if (!folder) {
    std::cout << "!hypermile: " << folder.error().line() << "; the job runs unobserved"
              << std::endl;
    return 1;
  }
  const Environment before = Environment::from(environ);
  Environment after = before;
  Injection injection;
  injection.ring_folder = folder->path();
  const Result<std::string> library = find_injected_library();
  if (library) injection.library = *library;
  for (const std::string& note : inject(injection, after)) {
    std::cout << "!hypermile: " << note << "\n";
  }
  print_environment(before, after);

  const InputEnd input(ended);
  std::optional<GroupPart> group;
  if (decides_jointly(options)) {
    group.emplace(options, make_munge_credentials(options.munge_socket), *clock);
    group->prepare(request);
  }
  WatchedRun run(request, world);
  if (const Result<void> begun = run.report().begin(/*shared_terminal=*/false); !begun) {
    std::cerr << "hypermile-agent: " << begun.error().line() << std::endl;
    return 1;
  }
  if (group) group->begin([&run](const std::string& line) { run.report().say(line); });
  const Instant begin = clock->now();
  JobToWatch job{*folder, after, ended.get_token()};
  job.interrupted = signals.token();
  JobOutcome outcome =
      run.watch(job, options.observe ? ClockAccess{} : open_clock_access(/*may_ask=*/false));
  outcome.summary.duration = clock->now() - begin;
  outcome.summary.attached = fmt::format("step {} on {}", options.job, options.nodes[options.self]);
  run.report().finish(outcome, group ? "the step ended: " + group->status() : "the step ended");
  // Every GPU is given back by now; what follows only reports.
  const NodeTotals totals = totals_of(outcome);
  std::map<NodeNumber, NodeTotals> all;
  if (options.nodes.size() == 1) all.emplace(0, totals);
  if (group) all = group->last_words(totals);
  if (options.comment) write_job_comment(options.job, all, options.nodes.size());
  return 0;
}

// `hypermile run` on each host of a job: starts the command there and decides with the others.
Result<JobEnd> run_command(const AgentOptions& options, StopSignals& signals) {
  const auto clock = make_real_clock();
  ASSIGN_OR_RETURN(JobCommand job, describe_job(options.command));
  RunRequest request = request_of(options);
  std::optional<GroupPart> group;
  if (decides_jointly(options)) {
    ASSIGN_OR_RETURN(std::unique_ptr<Credentials> credentials, credentials_for(options));
    group.emplace(options, std::move(credentials), *clock);
    group->prepare(request);
    group->begin([](const std::string& line) { std::cerr << "hypermile: " << line << std::endl; });
  }
  const FinishedRun result = run_job(std::move(job), request,
                                     {.out = std::cout,
                                      .err = std::cerr,
                                      .terminal = ::isatty(STDERR_FILENO) == 1,
                                      .clock = *clock,
                                      .stop = signals.token(),
                                      .signals = &signals});
  if (group && !options.quiet) std::cerr << "hypermile: " << group->status() << std::endl;
  if (!result.end) return result.outcome.error();
  if (!result.outcome) std::cerr << "hypermile: " << result.outcome.error().line() << std::endl;
  return *result.end;
}

// For the event log, as Slurm tells tasks. We are none: what we inherit is the batch script's,
// which runs on another node.
void tell_event_log(const AgentOptions& options) {
  const std::size_t dot = options.job.find('.');
  ::setenv("SLURMD_NODENAME", options.nodes[options.self].c_str(), 1);
  ::setenv("SLURM_JOB_ID", options.job.substr(0, dot).c_str(), 1);
  if (dot != options.job.npos) ::setenv("SLURM_STEP_ID", options.job.substr(dot + 1).c_str(), 1);
  if (const passwd* user = ::getpwuid(::geteuid())) ::setenv("SLURM_JOB_USER", user->pw_name, 1);
}

}  // namespace

int agent_main(const std::vector<std::string>& arguments, StopSignals& signals) {
  // gRPC's locks would look for deadlocks among hundreds of connections.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::cout << kAgentHelp;
      return 0;
    }
    if (argument == "--") break;
    if (argument == "--clean") {
      remove_stale_rings();
      return 0;
    }
    if (argument == "--version") {
      std::cout << "hypermile-agent " << kVersion << "\n";
      return 0;
    }
  }
  const Environment environment = Environment::from(environ);
  Result<AgentOptions> options = parse_agent_options(
      arguments, [&environment](std::string_view name) { return environment.get(name); });
  if (!options) {
    std::cerr << "hypermile-agent: " << options.error().line() << std::endl;
    return 2;
  }
  options->observe = options->observe || shares_gpus(environment);
  if (options->command.empty()) {
    tell_event_log(*options);
    return follow_ranks(*options, signals);
  }
  const Result<JobEnd> end = run_command(*options, signals);
  if (end) return end_like(*end);
  std::cerr << "hypermile: " << end.error().line() << std::endl;
  return 2;
}

}  // namespace hypermile
