// SPDX-License-Identifier: Apache-2.0
#include "evidence/trial/watched_job.h"

#include <algorithm>
#include <future>

#include "measure/job_sampling.h"

namespace hypermile {
namespace {

constexpr Seconds kRound = milliseconds(20);  // as a Session's

}  // namespace

Result<std::unique_ptr<WatchedJob>> WatchedJob::start(const SimulatedJob& job, Sink& sink) {
  std::unique_ptr<WatchedJob> made(new WatchedJob(job, sink));
  ASSIGN_OR_RETURN(made->training_, SimulatedTraining::start(made->clock_, made->job_));
  const auto open = [&](const DeviceName&) {
    std::promise<Result<std::shared_ptr<Gpu>>> opened;
    opened.set_value(std::shared_ptr<Gpu>(std::shared_ptr<void>(), &made->card()));
    return opened.get_future();
  };
  made->watch_ = std::make_unique<GpuWatch>(DeviceName(), open, made->clock_, beside_a_job());
  made->progress_ = std::make_unique<JobProgress>(made->training_->folder(), *made);
  // Every launch is to be seen.
  made->progress_->attend({.closely = true});
  return made;
}

void WatchedJob::step() {
  const Instant now = clock_.now();
  training_->play(now);
  progress_->poll(now);
  if (const auto reading = watch_->poll(now)) sink_.reading(*reading);
  clock_.sleep_until(std::min(now + kRound, std::max(watch_->due(), now)));
}

void WatchedJob::step_until(Instant until) {
  while (clock_.now() < until) step();
}

void WatchedJob::finish() {
  progress_->finish(clock_.now());
}

}  // namespace hypermile
