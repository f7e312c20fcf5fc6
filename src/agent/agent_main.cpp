// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_main.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <thread>

#include "agent/agent_options.h"
#include "agent/group_loop.h"
#include "base/clock.h"
#include "base/version.h"
#include "inject/stale_rings.h"
#include "run/clock_access.h"
#include "run/injection.h"
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
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

RunRequest request_of(const AgentOptions& options) {
  RunRequest request;
  request.program = "hypermile-agent";
  request.typed = {"hypermile-agent", "--job", options.job, "--node", options.nodes[options.self]};
  request.control.observe = options.observe;
  request.control.controller.objective = options.objective;
  request.control.controller.policy = options.policy;
  request.report.log = options.log;
  request.report.summary = options.summary;
  request.report.quiet = true;
  return request;
}

// This node's part in the group, while it lives.
class GroupPart {
 public:
  GroupPart(const AgentOptions& options, Clock& clock, JobReport& report)
      : credentials_(make_munge_credentials(options.munge_socket)),
        server_({agent_address(options, options.self), options.job, options.self}, *credentials_,
                seat_, clock) {
    plan_.course.policy = options.policy;
    plan_.course.objective = options.objective;
    plan_.nodes = options.nodes;
    plan_.job = options.job;
    plan_.self = options.self;
    for (std::size_t node = 0; node < options.nodes.size(); ++node) {
      plan_.addresses.push_back(agent_address(options, node));
    }
    if (const Result<void> listening = server_.listen(); !listening) {
      report.say(listening.error().line() + "; nobody can follow this node");
    }
    thread_ = std::jthread([this, &clock](const std::stop_token& stop) {
      run_group_loop(plan_, server_, *credentials_, seat_, clock, stop);
    });
  }

  Seat& seat() { return seat_; }
  std::string status() const { return server_.status(); }

 private:
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
  // The request is read while the run lasts, so what it holds is decided before.
  Seat* seat = nullptr;
  const bool joint = options.nodes.size() > 1 && !options.observe;
  if (joint) {
    // One decision for all nodes, and one guard of the bound: where that is made.
    request.control.controller.guard = false;
    request.control.controller.slack = false;
    request.control.joint = [&seat](const PhaseFacts& facts, PolicyContext context) {
      return seat->maker()(facts, std::move(context));
    };
  }
  WatchedRun run(request, world);
  if (const Result<void> begun = run.report().begin(/*shared_terminal=*/false); !begun) {
    std::cerr << "hypermile-agent: " << begun.error().line() << std::endl;
    return 1;
  }
  if (joint) seat = &group.emplace(options, *clock, run.report()).seat();
  const Instant begin = clock->now();
  JobToWatch job{*folder, after, ended.get_token()};
  job.interrupted = signals.token();
  JobOutcome outcome =
      run.watch(job, options.observe ? ClockAccess{} : open_clock_access(/*may_ask=*/false));
  outcome.summary.duration = clock->now() - begin;
  outcome.summary.attached = fmt::format("step {} on {}", options.job, options.nodes[options.self]);
  if (group) std::cerr << "hypermile-agent: " << group->status() << std::endl;
  run.report().finish(outcome, "the step ended");
  return 0;
}

}  // namespace

int agent_main(const std::vector<std::string>& arguments, StopSignals& signals) {
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::cout << kAgentHelp;
      return 0;
    }
    if (argument == "--version") {
      std::cout << "hypermile-agent " << kVersion << "\n";
      return 0;
    }
  }
  const Result<AgentOptions> options = parse_agent_options(arguments);
  if (!options) {
    std::cerr << "hypermile-agent: " << options.error().line() << std::endl;
    return 2;
  }
  // For the event log; Slurm sets it for tasks, and we are none.
  ::setenv("SLURMD_NODENAME", options->nodes[options->self].c_str(), 0);
  return follow_ranks(*options, signals);
}

}  // namespace hypermile
