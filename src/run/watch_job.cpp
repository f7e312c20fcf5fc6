// SPDX-License-Identifier: Apache-2.0
#include "run/watch_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/data_file.h"
#include "base/resident_memory.h"
#include "control/job_cache.h"
#include "control/job_memory.h"
#include "control/lease_port.h"
#include "control/session.h"
#include "gpu/setting_grid.h"
#include "inject/cupti_library.h"
#include "measure/job_sampling.h"
#include "predict/counters/counter_process.h"
#include "predict/model_file.h"
#include "predict/model_predictor.h"
#include "predict/ratio_prediction.h"
#include "run/run_gpus.h"

namespace hypermile {
namespace {

constexpr int kFirstGivingBack = 15;  // seconds; then after twice as long each time

// The number a batch system gave the job, for `hypermile leases`.
std::string batch_job(const Environment& environment) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"}) {
    if (const auto value = environment.get(name)) return *value;
  }
  return "";
}

// From what was seen at the default; only where the clocks never moved.
std::optional<Expectation> expectation(const Session& session, const RunSummary& summary,
                                       const ControllerOptions& options) {
  if (summary.processes.empty() || summary.processes.front().phases.empty()) return std::nullopt;
  const PhaseReport& phase = summary.processes.front().phases.front();
  const std::vector<const GpuWatch*> gpus = session.gpus();
  if (gpus.empty() || !gpus.front()->opened() || !phase.cost || !phase.cost->power_w ||
      !phase.cost->sm_mhz) {
    return std::nullopt;
  }
  const Mhz sm_clock(phase.cost->sm_mhz->value);
  const Capabilities& card = gpus.front()->capabilities();
  if (card.barrier != ControlBarrier::kNone) return std::nullopt;
  PolicyContext context;
  context.objective = options.objective;
  context.default_values.sm_clock = sm_clock;
  context.default_values.power_limit = card.default_power_limit;
  context.settings = setting_grid(card, context.default_values, options.knobs);
  Window window;
  window.power = Watts(phase.cost->power_w->value);
  window.sm_clock = sm_clock;
  return expect_saving(context, window);
}

// Whose search begins where a model says. hypermile's own does no better with one
// (docs/evidence/predictors.md).
bool starts_from_prediction(const std::string& policy) {
  return policy == "gpoeo";
}

class JobWatcher {
 public:
  JobWatcher(const JobToWatch& job, const ControlChoice& choice, ClockAccess access,
             const OptionValues& options, CommandContext& context, JobReport& report)
      : job_(job),
        choice_(choice),
        context_(context),
        report_(report),
        gpus_(options, job.environment, context.clock) {
    if (choice.observe) return;
    if (access.refused) {
      refused_ = std::move(access.refused);
      report.say(refused_->line() + "; observing");
      return;
    }
    LeasePortOptions port;
    port.program = job.program;
    port.job = batch_job(job.environment);
    port_.emplace(std::move(port), context.clock, std::move(access.guardian));
    ControllerParts parts{.port = *port_};
    if (starts_from_prediction(choice.controller.policy)) parts.predict = predictor();
    if (choice.counters) parts.counters = &counters_.emplace(counter_program(), context.clock);
    if (choice.sweep != nullptr) parts.make_policy = choice.sweep->maker();
    if (choice.cache) {
      open_cache(*choice.cache);
      parts.make_policy = memory_->maker();
    }
    controller_.emplace(std::move(parts), choice.controller);
  }

  JobOutcome watch() {
    Session session(parts(), session_options());
    const std::stop_callback ended(job_.ended, [this] { over_.request_stop(); });
    session.run(over_.get_token());
    if (port_) give_back();
    if (memory_) remember();
    JobOutcome outcome;
    outcome.summary = session.summary();
    outcome.objective = choice_.controller.objective;
    if (controller_) {
      outcome.control = ControlOutcome{controller_->summary(), choice_.controller.objective, {}};
    } else if (refused_) {
      ControlSummary nothing;
      nothing.state = ControlState::kRefused;
      nothing.reason = refused_->line();
      outcome.control = ControlOutcome{nothing, choice_.controller.objective, {}};
    }
    outcome.summary.clocks_moved = outcome.control && outcome.control->summary.setting_changes > 0;
    if (outcome.summary.clocks_moved) return outcome;
    const auto expected = expectation(session, outcome.summary, choice_.controller);
    (outcome.control ? outcome.control->expected : outcome.expected) = expected;
    return outcome;
  }

 private:
  SessionParts parts() {
    return {.clock = context_.clock,
            .folder = job_.folder,
            .open_gpu = gpus_.opener(),
            .visible_devices = gpus_.visible_devices(),
            .log = &report_.log(),
            .warn = [this](const std::string& line) { report_.say(line); },
            .each_second = each_second(),
            .follower = controller_ ? &*controller_ : nullptr};
  }

  std::function<void()> each_second() {
    return [this, seconds = 0, give_back_at = kFirstGivingBack]() mutable {
      if (choice_.sweep != nullptr) show_sweep();
      // Most is touched while GPUs are opened, and those of a job that starts slowly come late.
      if (++seconds < give_back_at) return;
      give_back_at *= 2;
      give_back_unused_memory();
    };
  }

  // A sweep that is over lets go of the job: what is left runs at the default.
  void show_sweep() {
    if (choice_.show_sweep) choice_.show_sweep(choice_.sweep->progress(context_.clock.now()));
    if (choice_.sweep->over()) over_.request_stop();
  }

  SessionOptions session_options() const {
    SessionOptions options;
    options.only_gpu = gpus_.only();
    options.also_watch = job_.gpus;
    // A third of what a ring holds of the busiest launching: records carry their own times, and
    // each round costs the same however much there is to read.
    options.step = milliseconds(40);
    options.sampler = beside_a_job();
    return options;
  }

  // Empty, with a line that says why, where there is no model: the search begins without one.
  std::function<PredictRatios(const PhaseFacts&, const PolicyContext&)> predictor() {
    Result<std::string> path = choice_.model ? Result<std::string>(*choice_.model)
                                             : find_data_file("models/predictor.json");
    Result<Model> model = path ? read_model(*path) : Result<Model>(path.error());
    if (!model) {
      report_.say(model.error().line() + "; the search begins without a prediction");
      return {};
    }
    auto asked = std::make_shared<const ModelPredictor>(std::move(*model));
    return [asked](const PhaseFacts& facts, const PolicyContext& context) {
      return make_ratio_prediction(asked, facts.gpus.front()->identity().name, context);
    };
  }

  // Ourselves, with the CUPTI that the job has; it must see all GPUs and not be watched as a job.
  CounterProgram counter_program() const {
    Environment environment = Environment::from(environ);
    if (const auto cupti = job_.environment.get(kCuptiVariable)) {
      environment.set(kCuptiVariable, *cupti);
    }
    return {"/proc/self/exe",
            {"hypermile", "counters", "--json", "--interval", "0.5s"},
            environment.strings()};
  }

  void open_cache(const std::string& path) {
    // What cannot be made here cannot be written later, which is said then.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    cache_.emplace(*files_, path);
    if (!cache_->note().empty()) report_.say(cache_->note());
    const ControllerOptions& options = choice_.controller;
    memory_.emplace(*cache_, JobMemory::Terms{options.policy, options.knobs, options.objective});
  }

  void remember() {
    const Result<void> kept = memory_->keep(controller_->summary(), context_.clock.unix_time());
    if (!kept) report_.say(kept.error().line());
  }

  // The Controller has done so already unless something went wrong.
  void give_back() {
    if (const Result<void> released = port_->release(); !released)
      report_.say(released.error().line());
  }

  const JobToWatch& job_;
  const ControlChoice& choice_;
  CommandContext& context_;
  JobReport& report_;
  RunGpus gpus_;
  std::stop_source over_;  // the job has ended, or nothing is left to do beside it
  std::optional<Error> refused_;
  std::unique_ptr<Files> files_ = make_real_files();
  std::optional<JobCache> cache_;
  std::optional<JobMemory> memory_;
  std::optional<LeasePort> port_;
  std::optional<CounterProcess> counters_;
  std::optional<Controller> controller_;
};

}  // namespace

JobOutcome watch_job(const JobToWatch& job, const ControlChoice& choice, ClockAccess access,
                     const OptionValues& options, CommandContext& context, JobReport& report) {
  return JobWatcher(job, choice, std::move(access), options, context, report).watch();
}

}  // namespace hypermile
