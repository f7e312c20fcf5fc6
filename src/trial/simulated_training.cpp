// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_training.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kEventEvery = 0.05;  // s, the spacing that readers ask the injected library for
constexpr double kLongestDark = static_cast<double>(kLongestDarkNs) * 1e-9;  // s

}  // namespace

TrueTotals operator-(const TrueTotals& to, const TrueTotals& from) {
  return {to.iterations - from.iterations, to.seconds - from.seconds, to.joules - from.joules};
}

SimulatedTraining::SimulatedTraining(VirtualClock& clock, const SimulatedJob& job, Terms terms)
    : clock_(clock),
      job_(job),
      terms_(std::move(terms)),
      emitter_(job.workload.load, derive_seed(terms_.seed, "launches")) {
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
  if (!ticks) made->card().observe(made.get());
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
  const double now_s = (now - card().instant(0)).value();
  // The library looks several times a second whether the reader wants to see again before the time.
  if (dark_until_s_ && ring_->writer().control().dark_until_ns != heeded_) watch_again(played_s_);
  (void)card().state();  // brings the job up to date, and its launches with it
  if (dark_until_s_ && *dark_until_s_ <= now_s) watch_again(*dark_until_s_);
  played_s_ = now_s;
  write_gpu_times(now_s);
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

void SimulatedTraining::write_gpu_times(double now_s) {
  for (const PendingTime& each : pending_) {
    if (each.gpu_s > now_s) continue;
    ring_->writer().put(each.launch, pack_b(RecordKind::kGpuTime, 1, 0),
                        std::bit_cast<std::uint64_t>(each.gpu_s));
  }
  std::erase_if(pending_, [&](const PendingTime& each) { return each.gpu_s <= now_s; });
}

// A kernel's name contains the name of its part, so that an optimizer's kernels are recognised.
std::uint32_t SimulatedTraining::name_of(std::uint32_t kernel) {
  if (kernel >= names_.size()) names_.resize(kernel + 1);
  std::uint32_t& id = names_[kernel];
  if (id > 0) return id - 1;
  std::string name = "k";
  const Load& load = job_.workload.load;
  for (std::uint32_t p = 0; p < load.phase_count; ++p) {
    const PhaseWork& phase = load.phases[p];
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      const PartWork& part = phase.parts[i];
      const bool in = kernel >= part.first_kernel && kernel < part.first_kernel + part.kernel_kinds;
      if (in) name = part.name.data();
    }
  }
  id = ring_->writer().intern((name + " " + std::to_string(kernel)).c_str()) + 1;
  return id - 1;
}

// As DarkStretches in the injected library does, except that it acts at once.
void SimulatedTraining::heed_wish(double time_s) {
  heeded_ = ring_->writer().control().dark_until_ns;
  const Instant until = Instant::from_nanoseconds(static_cast<std::int64_t>(heeded_));
  const double until_s = (until - card().instant(0)).value();
  if (until_s <= time_s) return;
  dark_until_s_ = std::min(until_s, time_s + kLongestDark);
  ring_->writer().put(ns(time_s), pack_b(RecordKind::kWatch, 0, 0), 0);
}

void SimulatedTraining::watch_again(double time_s) {
  ring_->writer().put(ns(time_s), pack_b(RecordKind::kWatch, 0, 1), 0);
  dark_until_s_.reset();
}

// Launches that nobody records need not be made.
void SimulatedTraining::finished(const FinishedUnit& unit) {
  if (dark_until_s_ && unit.start_s + unit.duration_s <= *dark_until_s_) {
    emitter_.skip(unit);
  } else {
    emitter_.emit(unit, *this);
  }
}

void SimulatedTraining::launch(double time_s, double gpu_s, std::uint32_t kernel) {
  if (dark_until_s_) {
    if (time_s < *dark_until_s_) return;
    watch_again(*dark_until_s_);
  }
  const std::uint32_t name = name_of(kernel);
  const std::uint64_t record =
      ring_->writer().put(ns(time_s), pack_b(RecordKind::kLaunch, 0, name), 8);
  const RingControl& control = ring_->writer().control();
  if (control.dark_until_ns != heeded_) heed_wish(time_s);
  const bool anchor = control.events_wanted != 0 && control.kernel == name &&
                      (control.previous == kNoName || control.previous == previous_);
  if (terms_.gpu_times && anchor && time_s - last_event_s_ >= kEventEvery) {
    pending_.push_back({record, gpu_s});
    last_event_s_ = time_s;
  }
  previous_ = name;
}

}  // namespace hypermile
