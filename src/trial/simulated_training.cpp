// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_training.h"

#include <utility>

#include "base/random.h"

namespace hypermile {
TrueTotals operator-(const TrueTotals& to, const TrueTotals& from) {
  return {to.iterations - from.iterations, to.seconds - from.seconds, to.joules - from.joules};
}

SimulatedTraining::SimulatedTraining(VirtualClock& clock, const SimulatedJob& job, Terms terms)
    : clock_(clock), job_(job), terms_(std::move(terms)) {
  for (const SimGpuOptions& options : terms_.cards) {
    cards_.push_back(std::make_unique<SimGpu>(job.sheet, clock, options));
  }
}

SimulatedTraining::~SimulatedTraining() {
  card().observe(nullptr);
}

Result<std::unique_ptr<SimulatedTraining>> SimulatedTraining::start(VirtualClock& clock,
                                                                    const SimulatedJob& job,
                                                                    Terms terms) {
  std::unique_ptr<SimulatedTraining> made(new SimulatedTraining(clock, job, std::move(terms)));
  const bool ticks = made->terms_.progress == ProgressKind::kTicks;
  ASSIGN_OR_RETURN(made->ring_,
                   JobRing::make(ticks ? RingSource::kTicks : RingSource::kLaunches, clock.now(),
                                 static_cast<std::uint32_t>(made->cards_.size())));
  // All cards launch the same; the first one's launches stand for all.
  if (!ticks) made->watch_launches();
  made->start_job();
  return made;
}

Result<std::unique_ptr<SimulatedTraining>> SimulatedTraining::start(VirtualClock& clock,
                                                                    const SimulatedJob& job) {
  return start(clock, job,
               {.cards = {{.seed = job.seed, .effects = job.effects}},
                .progress = job.progress,
                .seed = job.seed});
}

void SimulatedTraining::watch_launches() {
  launches_.emplace(ring_->writer(), job_.workload.load, CardTime{.origin = card().instant(0)},
                    LaunchPlayer::Terms{.seed = derive_seed(terms_.seed, "launches"),
                                        .gpu_times = terms_.gpu_times});
  card().observe(&*launches_);
}

void SimulatedTraining::start_job() {
  if (cards_.size() == 1) {
    card().start(job_.workload, job_.iterations);
    return;
  }
  std::vector<SimGpu*> cards;
  for (const auto& each : cards_) cards.push_back(each.get());
  ranks_.emplace(std::move(cards));
  ranks_->start(job_.workload, job_.iterations, terms_.work);
}

std::vector<Gpu*> SimulatedTraining::cards() {
  std::vector<Gpu*> cards;
  for (const auto& each : cards_) cards.push_back(each.get());
  return cards;
}

TrueTotals SimulatedTraining::totals() {
  TrueTotals totals;
  totals.iterations = card().iterations();
  totals.seconds = clock_.now().since_origin().value();
  for (const auto& each : cards_) totals.joules += each->true_view().totals.energy_j;
  return totals;
}

void SimulatedTraining::play(Instant now) {
  if (terms_.progress == ProgressKind::kTicks) {
    write_ticks();
    return;
  }
  launches_->look();
  (void)card().state();  // brings the job up to date, and its launches with it
  launches_->caught_up((now - card().instant(0)).value());
}

// The card keeps the newest kTickRing starts. While a request blocks the clock more iterations than
// that may begin; those between are taken to have gone evenly.
void SimulatedTraining::write_ticks() {
  const TickState& starts = card().state().ticks;
  const auto start_of = [&](std::uint64_t i) { return starts.start_s[i % kTickRing]; };
  const std::uint64_t oldest = starts.count > kTickRing ? starts.count - kTickRing : 0;
  if (ticks_ < oldest) {
    const double each =
        (start_of(oldest) - last_tick_s_) / static_cast<double>(oldest - ticks_ + 1);
    for (; ticks_ < oldest; ++ticks_) ring_->tick(card().instant(last_tick_s_ += each));
  }
  for (; ticks_ < starts.count; ++ticks_) {
    last_tick_s_ = start_of(ticks_);
    ring_->tick(card().instant(last_tick_s_));
  }
}

}  // namespace hypermile
