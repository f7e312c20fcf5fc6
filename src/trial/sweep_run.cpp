// SPDX-License-Identifier: Apache-2.0
#include "trial/sweep_run.h"

#include <fmt/format.h>

#include <cmath>
#include <future>
#include <memory>

#include "base/random.h"
#include "control/controller.h"
#include "control/direct_port.h"
#include "control/session.h"
#include "sim/sim_gpu.h"
#include "trial/ring_ticks.h"
#include "trial/ring_training.h"

namespace hypermile {
namespace {

// A step takes a minute or so; a job that shows nothing for so long will not.
constexpr Seconds kLongestStep = Seconds(1800);
constexpr Seconds kReplayedIteration = Seconds(0.1);

// The job of one step: a card, and whoever plays its training into a ring.
struct StepJob {
  Gpu& gpu;
  RingFolder& folder;
  std::function<void(Instant now)> play;
};

std::future<Result<std::shared_ptr<Gpu>>> opened(Gpu& gpu) {
  std::promise<Result<std::shared_ptr<Gpu>>> promise;
  promise.set_value(std::shared_ptr<Gpu>(std::shared_ptr<void>(), &gpu));
  return promise.get_future();
}

// Runs the job until the course has its Window, or has none to wait for.
Result<void> run_step(SweepCourse& course, std::vector<Setting> offered, const StepJob& job,
                      VirtualClock& clock, const std::stop_token& stop) {
  DirectPort port({&job.gpu});
  ControllerOptions options = course.controller_options();
  if (options.settings.empty()) options.settings = std::move(offered);
  Controller controller({.port = port, .make_policy = course.maker()}, options);
  Session session({.clock = clock,
                   .folder = job.folder,
                   .open_gpu = [&](const DeviceName&) { return opened(job.gpu); },
                   .visible_devices = {},
                   .log = nullptr,
                   .warn = {},
                   .controller = &controller});
  const Instant begin = clock.now();
  while (!course.over() && !stop.stop_requested() && clock.now() - begin < kLongestStep) {
    job.play(clock.now());
    clock.sleep_until(session.step());
  }
  const std::string reason = controller.reason();
  session.finish();
  if (course.problem()) return *course.problem();
  if (course.over() || stop.stop_requested()) return {};
  if (course.progress(clock.now()).planned == 0) {
    return Error{ErrorCode::kNotReady, "the job cannot be measured: " + reason};
  }
  course.give_up("nothing could be measured: " + reason);
  return course.problem() ? Result<void>(*course.problem()) : Result<void>();
}

// Step after step, each with a course of its own; `run` plays one with the seed it is given.
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
  const auto shows = job.progress == ProgressKind::kTicks ? RingTraining::Shows::kTicks
                                                          : RingTraining::Shows::kLaunches;
  const auto run = [&](SweepCourse& course, std::uint64_t seed) -> Result<void> {
    VirtualClock clock(job.unix_time);
    SimGpu gpu(job.sheet, clock, {.seed = terms.seed, .effects = job.effects, .run_seed = seed});
    ASSIGN_OR_RETURN(const auto training, RingTraining::make(gpu, job.workload.load, shows, seed));
    gpu.start(job.workload, 0);
    return run_step(course, {},
                    {gpu, training->folder(), [&](Instant now) { training->play(now); }}, clock,
                    stop);
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
    ReplayGpu gpu(curve, clock, options);
    ASSIGN_OR_RETURN(const auto ticks, RingTicks::make(clock.now()));
    double done = 0;
    Instant from = clock.now();
    const auto play = [&](Instant now) {
      const double before = std::exchange(done, gpu.iterations());
      const double first = std::floor(before) + 1;
      const auto whole = static_cast<int>(std::floor(done) - std::floor(before));
      for (int i = 0; i < whole; ++i) {
        ticks->tick(from + (now - from) * ((first + i - before) / (done - before)));
      }
      from = now;
    };
    return run_step(course, offered, {gpu, ticks->folder(), play}, clock, stop);
  };
  return run_steps(terms, journal, hearers, stop, run);
}

}  // namespace hypermile
