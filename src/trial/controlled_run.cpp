// SPDX-License-Identifier: Apache-2.0
#include "trial/controlled_run.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "base/random.h"
#include "control/controller.h"
#include "control/direct_port.h"
#include "control/session.h"
#include "policy/policies.h"
#include "sim/sim_gpu.h"
#include "trial/judge/truth.h"
#include "trial/ring_training.h"
#include "trial/run_log.h"
#include "trial/window_tap.h"

namespace hypermile {
namespace {

// The entry of `settings` that comes nearest to `wanted`: same memory clock and limit, SM clock
// next to it.
std::size_t nearest(const std::vector<Setting>& settings, const Setting& wanted) {
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& each = settings[i];
    if (each.memory_clock != wanted.memory_clock || each.power_limit != wanted.power_limit) {
      continue;
    }
    const double off = std::abs(each.sm_clock.value_or(Mhz(1e6)).value() -
                                wanted.sm_clock.value_or(Mhz(1e6)).value());
    if (off < least) {
      least = off;
      best = i;
    }
  }
  return best;
}

class ControlledPlayer {
 public:
  ControlledPlayer(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                   std::unique_ptr<LineSink> sink)
      : job_(job),
        truth_(truth),
        policy_(policy),
        clock_(job.unix_time),
        gpu_(job.sheet, clock_, {.seed = job.seed, .effects = job.effects}),
        log_(std::move(sink), clock_),
        port_({&gpu_}) {}

  Result<ControlSummary> run(const std::stop_token& stop) {
    RETURN_IF_ERROR(log_start(log_, job_, policy_, gpu_.identity(), clock_));
    const auto shows = job_.progress == ProgressKind::kTicks ? RingTraining::Shows::kTicks
                                                             : RingTraining::Shows::kLaunches;
    ASSIGN_OR_RETURN(const auto training,
                     RingTraining::make(gpu_, job_.workload.load, shows, job_.seed));
    Controller controller(controller_parts(), controller_options());
    Session session(session_parts(*training, controller), session_options());
    gpu_.start(job_.workload, job_.iterations);
    const Instant begin = clock_.now();
    const std::optional<Joules> before = energy();
    while (gpu_.running() && !stop.stop_requested()) {
      training->play(clock_.now());
      clock_.sleep_until(session.step());
    }
    PlayedTotals totals;
    totals.elapsed = clock_.now() - begin;
    totals.iterations = gpu_.iterations();
    if (const auto after = energy(); after && before) totals.energy = *after - *before;
    totals.interrupted = stop.stop_requested();
    session.finish();
    const ControlSummary summary = controller.summary();
    totals.kept = kept_of(summary);
    RETURN_IF_ERROR(log_end(log_, job_, truth_, gpu_.identity().uuid, totals));
    return summary;
  }

 private:
  std::optional<Joules> energy() {
    const auto sample = gpu_.read(Sensor::kEnergy);
    return sample ? sample->energy : std::nullopt;
  }

  // Of the phase that most was measured of, which is training.
  static Setting kept_of(const ControlSummary& summary) {
    const auto most = std::ranges::max_element(summary.phases, {}, &PhaseControl::iterations);
    return most != summary.phases.end() ? most->kept : Setting();
  }

  ControllerParts controller_parts() {
    return {.port = port_, .make_policy = [this](const PhaseFacts&, PolicyContext context) {
              const std::size_t best = best_point(truth_, job_.objective);
              Random random(derive_seed(job_.seed, "predictor"));
              const std::size_t guess =
                  predicted_point(truth_, best, Conditions().predictor_error, random);
              context.oracle = nearest(context.settings, truth_.points[best].setting);
              context.predicted = nearest(context.settings, truth_.points[guess].setting);
              return make_policy(policy_, context);
            }};
  }
  ControllerOptions controller_options() const {
    ControllerOptions options;
    options.policy = policy_;
    // Others are played as their authors have them.
    options.guard = options.policy == "hypermile";
    options.objective = job_.objective;
    options.knobs = job_.knobs;
    options.job_iterations = static_cast<double>(job_.iterations);
    options.seed = job_.seed;
    return options;
  }
  SessionParts session_parts(RingTraining& training, Controller& controller) {
    return {.clock = clock_,
            .folder = training.folder(),
            .open_gpu =
                [this](const DeviceName&) {
                  std::promise<Result<std::shared_ptr<Gpu>>> opened;
                  opened.set_value(std::shared_ptr<Gpu>(std::shared_ptr<void>(), &gpu_));
                  return opened.get_future();
                },
            .visible_devices = {},
            .log = &log_,
            .warn = {},
            .controller = &controller};
  }
  static SessionOptions session_options() { return {}; }

  const SimulatedJob& job_;
  const Curve& truth_;
  std::string policy_;
  VirtualClock clock_;
  SimGpu gpu_;
  EventLog log_;
  DirectPort port_;
};

}  // namespace

Result<ControlSummary> play_controlled(const SimulatedJob& job, const Curve& truth,
                                       std::string_view policy, std::unique_ptr<LineSink> sink,
                                       const std::stop_token& stop,
                                       const WindowListener& listener) {
  if (listener) sink = tap_windows(std::move(sink), job, policy, listener);
  return ControlledPlayer(job, truth, policy, std::move(sink)).run(stop);
}

}  // namespace hypermile
