// SPDX-License-Identifier: Apache-2.0
#include "trial/sweep_run.h"

#include <fmt/format.h>

#include "base/random.h"
#include "trial/replayed_training.h"
#include "trial/simulated_counters.h"
#include "trial/simulated_training.h"
#include "trial/virtual_rig.h"

namespace hypermile {
namespace {

// A step takes about a minute. A job that shows nothing for so long never will.
constexpr Seconds kLongestStep = Seconds(1800);
constexpr Seconds kReplayedIteration = Seconds(0.1);

// Runs the job until the course has its window, or has none to wait for.
Result<void> run_step(SweepCourse& course, std::vector<Setting> offered, VirtualJob& job,
                      VirtualClock& clock, PerformanceCounters* counters,
                      const std::stop_token& stop) {
  ControllerOptions control = course.controller_options();
  if (control.settings.empty()) control.settings = std::move(offered);
  VirtualRig rig(
      clock, job,
      {.control = std::move(control), .make_policy = course.maker(), .counters = counters});
  const Instant begin = clock.now();
  while (!course.over() && !stop.stop_requested() && clock.now() - begin < kLongestStep) {
    rig.step();
  }
  const std::string reason = rig.controller().reason();
  rig.finish();
  if (course.problem()) return *course.problem();
  if (course.over() || stop.stop_requested()) return {};
  if (course.progress(clock.now()).planned == 0) {
    return Error{ErrorCode::kNotReady, "the job cannot be measured: " + reason};
  }
  course.give_up("nothing could be measured: " + reason);
  return course.problem() ? Result<void>(*course.problem()) : Result<void>();
}

// Step after step, each with a course of its own; `run` plays one with the seed that it is given.
Result<void> run_steps(const SweepOptions& terms, SweepJournal& journal,
                       const SweepHearers& hearers, const std::stop_token& stop,
                       const std::function<Result<void>(SweepCourse&, std::uint64_t)>& run) {
  while (!stop.stop_requested()) {
    SweepCourse course(terms, journal, hearers.say);
    if (course.complete()) break;
    course.one_step_only();
    const std::string stream = fmt::format("sweep step {}", journal.entries().size());
    RETURN_IF_ERROR(run(course, derive_seed(terms.seed, stream.c_str())));
    if (hearers.show) hearers.show(course.progress(Instant()));
  }
  return {};
}

}  // namespace

Result<void> sweep_simulated(const SimulatedJob& job, const SweepOptions& terms,
                             SweepJournal& journal, const SweepHearers& hearers,
                             const std::stop_token& stop) {
  SimulatedJob endless = job;
  endless.iterations = 0;
  const auto run = [&](SweepCourse& course, std::uint64_t seed) -> Result<void> {
    VirtualClock clock(job.unix_time);
    ASSIGN_OR_RETURN(const auto training,
                     SimulatedTraining::start(
                         clock, endless,
                         {.cards = {{.seed = terms.seed, .effects = job.effects, .run_seed = seed}},
                          .progress = job.progress,
                          .seed = seed}));
    SimulatedCounters counters(training->card(), endless.workload.load);
    return run_step(course, {}, *training, clock, job.counters ? &counters : nullptr, stop);
  };
  return run_steps(terms, journal, hearers, stop, run);
}

Result<void> sweep_replayed(const Curve& curve, const SweepOptions& terms, SweepJournal& journal,
                            const SweepHearers& hearers, const std::stop_token& stop) {
  std::vector<Setting> offered;
  for (const CurvePoint& point : curve.points) offered.push_back(point.setting);
  const auto run = [&](SweepCourse& course, std::uint64_t seed) -> Result<void> {
    VirtualClock clock;
    ReplayOptions options;
    options.seed = seed;
    options.iteration = kReplayedIteration;
    ASSIGN_OR_RETURN(const auto training, ReplayedTraining::start(clock, curve, options));
    return run_step(course, offered, *training, clock, nullptr, stop);
  };
  return run_steps(terms, journal, hearers, stop, run);
}

}  // namespace hypermile
