// SPDX-License-Identifier: Apache-2.0
#include "run/watched_run.h"

#include <unistd.h>

#include <filesystem>

#include "base/data_file.h"
#include "base/resident_memory.h"
#include "inject/cupti_library.h"
#include "measure/job_sampling.h"
#include "run/expected_saving.h"
#include "run/phase_prediction.h"

namespace hypermile {
namespace {

// Unused memory is first returned to the system after so many seconds, and again after each
// doubling: most is touched while GPUs are opened, and a job that starts slowly opens them late.
constexpr int kFirstTrim = 15;

// A third of what a ring holds when the job launches most; records carry their own times, and each
// round costs the same however much there is to read.
constexpr Seconds kRound = milliseconds(40);

// The number that a batch system gave the job, for `hypermile leases`.
std::string batch_job(const Environment& environment) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}) {
    if (const auto value = environment.get(name)) return *value;
  }
  return "";
}

// Only the search of the GPOEO paper begins where a model says; hypermile's own search does no
// better with one (docs/evidence/predictors.md).
bool starts_from_prediction(const std::string& policy) {
  return policy == "gpoeo" || policy == "gpoeo-published";
}

}  // namespace

WatchedRun::WatchedRun(const RunRequest& request, const RunWorld& world)
    : request_(request),
      world_(world),
      report_(request, world),
      files_(make_real_files()),
      host_(powercap_folder()) {}

JobOutcome WatchedRun::watch(const JobToWatch& job, ClockAccess access) {
  if (!request_.control.observe) make_controller(job, std::move(access));
  const RunGpus gpus(request_.gpu, job.environment, world_.clock);
  Session session(session_parts(job, gpus), session_options(job, gpus));
  const std::stop_callback ended(job.ended, [this] { over_.request_stop(); });
  session.run(over_.get_token());
  host_.poll();
  give_back();
  remember();
  return outcome_of(session);
}

void WatchedRun::make_controller(const JobToWatch& job, ClockAccess access) {
  if (access.refused) {
    refused_ = std::move(access.refused);
    report_.say(refused_->line() + "; observing");
    return;
  }
  const ControlRequest& control = request_.control;
  LeasePortOptions port;
  port.program = request_.program;
  port.job = batch_job(job.environment);
  port_.emplace(std::move(port), world_.clock, std::move(access.guardian));
  ControllerParts parts{.port = *port_};
  if (starts_from_prediction(control.controller.policy)) parts.predict = predictor();
  // GPOEO's models are made for counters; where they may not be read, one line says so.
  if (control.counters || starts_from_prediction(control.controller.policy)) {
    parts.counters = &counters_.emplace(counter_program(job), world_.clock);
  }
  if (control.sweep) parts.make_policy = control.sweep->course->maker();
  // Other policies search as their authors say, and know nothing of earlier runs.
  if (control.cache && control.controller.policy == "hypermile") {
    open_cache(*control.cache);
    parts.make_policy = memory_->maker();
  }
  if (control.joint) parts.make_policy = control.joint;
  controller_.emplace(std::move(parts), control.controller);
}

// Empty where there is no model; one line says why, and the search begins without a prediction.
PredictForPhase WatchedRun::predictor() {
  const std::optional<std::string>& named = request_.control.model;
  const Result<std::string> path =
      named ? Result<std::string>(*named) : find_data_file("models/predictor.json");
  Result<PredictForPhase> made = path ? predict_by_model(*path) : path.error();
  if (!made) {
    report_.say(made.error().line() + "; the search begins without a prediction");
    return {};
  }
  return std::move(*made);
}

// This program again, with the job's CUPTI. It gets our own environment, not the job's, so that it
// sees all GPUs and is not taken for a process of the job.
CounterProgram WatchedRun::counter_program(const JobToWatch& job) const {
  Environment environment = Environment::from(environ);
  if (const auto cupti = job.environment.get(kCuptiVariable)) {
    environment.set(kCuptiVariable, *cupti);
  }
  return {"/proc/self/exe",
          {"hypermile", "counters", "--json", "--interval", "0.5s"},
          environment.strings()};
}

void WatchedRun::open_cache(const std::string& path) {
  // A folder that cannot be made fails again, with a message, when the cache is written.
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  cache_.emplace(*files_, path);
  if (!cache_->note().empty()) report_.say(cache_->note());
  const ControllerOptions& options = request_.control.controller;
  memory_.emplace(*cache_, JobMemory::Terms{options.policy, options.knobs, options.objective});
}

SessionParts WatchedRun::session_parts(const JobToWatch& job, const RunGpus& gpus) {
  return {.clock = world_.clock,
          .folder = job.folder,
          .open_gpu = gpus.opener(),
          .visible_devices = gpus.visible_devices(),
          .log = &report_.log(),
          .warn = [this](const std::string& line) { report_.say(line); },
          .each_second = each_second(),
          .interrupted = job.interrupted,
          .controller = controller_ ? &*controller_ : nullptr};
}

SessionOptions WatchedRun::session_options(const JobToWatch& job, const RunGpus& gpus) {
  SessionOptions options;
  options.only_gpu = gpus.only();
  options.also_watch = job.gpus;
  options.step = kRound;
  options.sampler = beside_a_job();
  return options;
}

std::function<void()> WatchedRun::each_second() {
  return [this, seconds = 0, trim_at = kFirstTrim]() mutable {
    host_.poll();
    if (request_.control.sweep) show_sweep();
    if (++seconds < trim_at) return;
    trim_at *= 2;
    give_back_unused_memory();
  };
}

// A sweep that is over lets go of the job, which runs on at the default.
void WatchedRun::show_sweep() {
  const SweepRequest& sweep = *request_.control.sweep;
  if (sweep.show) sweep.show(sweep.course->progress(world_.clock.now()));
  if (sweep.course->over()) over_.request_stop();
}

bool WatchedRun::sweep_complete() const {
  return request_.control.sweep && request_.control.sweep->course->complete();
}

// The Controller has given the GPUs back already, unless something went wrong.
void WatchedRun::give_back() {
  if (!port_) return;
  if (const Result<void> released = port_->release(); !released) {
    report_.say(released.error().line());
  }
}

void WatchedRun::remember() {
  if (!memory_) return;
  const Result<void> kept = memory_->keep(controller_->summary(), world_.clock.unix_time());
  if (!kept) report_.say(kept.error().line());
}

JobOutcome WatchedRun::outcome_of(const Session& session) const {
  const ControllerOptions& options = request_.control.controller;
  JobOutcome outcome;
  outcome.summary = session.summary();
  outcome.summary.host_energy = host_.used();
  outcome.objective = options.objective;
  if (controller_) {
    outcome.control = ControlOutcome{controller_->summary(), options.objective, {}};
  } else if (refused_) {
    ControlSummary nothing;
    nothing.state = ControlState::kRefused;
    nothing.reason = refused_->line();
    outcome.control = ControlOutcome{nothing, options.objective, {}};
  }
  outcome.summary.clocks_moved = outcome.control && outcome.control->summary.setting_changes > 0;
  if (outcome.summary.clocks_moved) return outcome;
  const auto expected = expected_saving(session, outcome.summary, options);
  (outcome.control ? outcome.control->expected : outcome.expected) = expected;
  return outcome;
}

}  // namespace hypermile
