// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "policy/policies.h"
#include "trial/judge/replay.h"
#include "trial/run_log.h"
#include "trial/simulated_counters.h"
#include "trial/simulated_training.h"
#include "trial/virtual_rig.h"

namespace hypermile {
namespace {

// The entry of `settings` next to `wanted`: the same memory clock and limit, the nearest SM clock.
std::size_t nearest(const std::vector<Setting>& settings, const Setting& wanted) {
  constexpr Mhz kAboveAll = Mhz(1e6);  // stands for a clock that is left open
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& each = settings[i];
    if (each.memory_clock != wanted.memory_clock || each.power_limit != wanted.power_limit) {
      continue;
    }
    const double off = std::abs(each.sm_clock.value_or(kAboveAll).value() -
                                wanted.sm_clock.value_or(kAboveAll).value());
    if (off < least) {
      least = off;
      best = i;
    }
  }
  return best;
}

// What the judge alone knows: the best setting.
PolicyContext judges_context(const SimulatedJob& job, const Curve& truth) {
  Conditions conditions;
  conditions.objective = job.objective;
  conditions.iterations = static_cast<double>(job.iterations);
  PolicyContext context = context_for(truth, conditions, job.seed);
  context.traces = true;
  return context;
}

class SimulatedRun {
 public:
  SimulatedRun(const SimulatedJob& job, const Curve& truth, std::string_view policy,
               RunHearers hearers)
      : job_(job),
        truth_(truth),
        policy_(policy),
        judge_(judges_context(job, truth)),
        hearers_(std::move(hearers)),
        clock_(job.unix_time) {
    // What these two do does not depend on how progress is seen, and launches cost much to make.
    if (policy_ == "default" || policy_ == "oracle") job_.progress = ProgressKind::kTicks;
  }

  Result<PlayedRun> run(const std::stop_token& stop) {
    RETURN_IF_ERROR(make_policy(policy_, judge_));  // refused before the job runs
    ASSIGN_OR_RETURN(const auto training, SimulatedTraining::start(clock_, job_));
    SimGpu& card = training->card();
    SimulatedCounters counters(card, job_.workload.load);
    // GPOEO is made to read counters; they cost a simulated job nothing.
    const bool counted = job_.counters || policy_.starts_with("gpoeo");
    VirtualRig rig(clock_, *training, terms(counted ? &counters : nullptr));
    RETURN_IF_ERROR(log_start(rig.log(), job_, policy_, card.identity(), clock_));
    const std::optional<Joules> before = energy(card);
    while (training->running() && !stop.stop_requested()) rig.step();

    PlayedTotals totals;
    totals.interrupted = training->running();
    totals.elapsed = clock_.now() - Instant();
    totals.iterations = card.iterations();
    if (const auto after = energy(card); after && before) totals.energy = *after - *before;
    rig.finish();
    PlayedRun played{totals.interrupted, rig.controller().summary()};
    if (!played.interrupted && job_.progress == ProgressKind::kTicks &&
        played.control.phases.empty()) {
      return Error{ErrorCode::kUsage, "the job ends before it can be measured",
                   "give it more --iterations"};
    }
    totals.kept = kept(played.control);
    RETURN_IF_ERROR(log_end(rig.log(), job_, truth_, card.identity().uuid, totals));
    return played;
  }

 private:
  static std::optional<Joules> energy(SimGpu& card) {
    const auto sample = card.read(Sensor::kEnergy);
    return sample ? sample->energy : std::nullopt;
  }

  RigTerms terms(PerformanceCounters* counters) {
    ControllerOptions control;
    control.policy = policy_;
    // Policies of others are played as their authors have them, unless somebody wants them guarded.
    control.guard = job_.guard || policy_ == "hypermile";
    control.objective = job_.objective;
    control.steady = job_.steady;
    control.knobs = job_.knobs;
    control.job_iterations = static_cast<double>(job_.iterations);
    control.seed = job_.seed;
    return {.control = std::move(control),
            .make_policy =
                [this](const PhaseFacts&, PolicyContext context) {
                  context.oracle = nearest(context.settings, judge_.settings[*judge_.oracle]);
                  return make_policy(policy_, context);
                },
            .predict = job_.predict,
            .counters = counters,
            .sink = std::move(hearers_.sink),
            .listener = [this](const Event& event) { hear(event); }};
  }

  void hear(const Event& event) {
    if (hearers_.event) hearers_.event(event);
    if (const auto* decision = std::get_if<Decision>(&event.body)) {
      const auto found = decision->numbers.find("exploring");
      exploring_ = found != decision->numbers.end() && found->second != 0;
      tried_ = decision->setting;
    }
    const auto* measured = std::get_if<WindowEvent>(&event.body);
    if (measured == nullptr || !hearers_.window) return;
    const Window& window = measured->window;
    const double done = window.first_iteration + window.iterations;
    hearers_.window(
        {policy_, window, std::min(1.0, done / static_cast<double>(job_.iterations)), exploring_});
  }

  // In the phase of most iterations, which is training: the setting held last, or where none ever
  // was, the one tried last.
  std::vector<SettingShare> kept(const ControlSummary& summary) const {
    const auto most = std::ranges::max_element(summary.phases, {}, &PhaseControl::iterations);
    if (most == summary.phases.end()) return {{Setting(), 1}};
    if (!most->held) return {{tried_, 1}};
    return most->shares.empty() ? std::vector<SettingShare>{{most->kept, 1}} : most->shares;
  }

  SimulatedJob job_;
  const Curve& truth_;
  std::string policy_;
  PolicyContext judge_;
  RunHearers hearers_;
  VirtualClock clock_;
  bool exploring_ = false;  // by the last decision
  Setting tried_;           // by the last decision
};

}  // namespace

Result<PlayedRun> play(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                       RunHearers hearers, const std::stop_token& stop) {
  return SimulatedRun(job, truth, policy, std::move(hearers)).run(stop);
}

}  // namespace hypermile
