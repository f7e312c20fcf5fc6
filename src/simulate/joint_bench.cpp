// SPDX-License-Identifier: Apache-2.0
#include "simulate/joint_bench.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kWatch = Seconds(3);
constexpr std::size_t kWatchTicks = 9;
constexpr double kPause = 4;      // iterations that a pause lasts at least
constexpr double kEnough = 0.25;  // of the iterations asked for, before a pause
constexpr int kRestarts = 3;      // behind pauses; more of them are how the job runs
constexpr int kPatience = 15;     // polls for a step of the energy counter

}  // namespace

// One GPU with what is measured on it.
struct JointBench::Card {
  Card(const SimulatedJob& job, std::uint64_t seed, VirtualClock& clock)
      : gpu(job.sheet, clock, {seed, job.effects, false}), ticks(gpu), sampler(gpu, clock) {}

  SimGpu gpu;
  TickReader ticks;
  Sampler sampler;
  std::optional<WindowBuilder> builder;
  std::optional<Tick> first, last;
  Setting told;
  double energy_before_j = 0;
  double clock_sum = 0, clocks = 0;
  std::vector<double> intervals_s;

  bool cut = false;  // by a pause, with enough
  int restarts = 0;

  double iterations() const {
    return first ? static_cast<double>(last->iteration - first->iteration) : 0;
  }
  Seconds span() const { return first ? last->time - first->time : Seconds(0); }

  void open(const Tick& tick) {
    builder.emplace(WindowTerms{.setting = told,
                                .first_iteration = static_cast<double>(tick.iteration),
                                .pauses_belong = true});
    first = last = tick;
    add(tick, 1);
  }
  void add(const Tick& tick, double ended) {
    Boundary boundary;
    boundary.time = tick.time;
    boundary.iterations = ended;
    boundary.confidence = 1;
    builder->add(boundary);
    last = tick;
  }
  // Goes on with a Window of `wanted` iterations.
  void take(const Tick& tick, double wanted, Seconds typical) {
    if (cut || iterations() >= wanted) return;
    if (last && tick.time - last->time > kPause * typical && restarts < kRestarts) {
      cut = iterations() >= kEnough * wanted;
      if (cut) return;
      ++restarts;
      first.reset();
    }
    if (!first) return open(tick);
    add(tick, static_cast<double>(tick.iteration - last->iteration));
  }
  void close() {
    builder.reset();
    first.reset();
    last.reset();
    cut = false;
    restarts = 0;
  }
};

JointBench::JointBench(const SimulatedJob& job, std::vector<double> work)
    : job_(job), clock_(job.unix_time) {
  std::vector<SimGpu*> gpus;
  for (std::size_t i = 0; i < work.size(); ++i) {
    // Neighbouring jobs must not share cards.
    cards_.push_back(std::make_unique<Card>(job, job.seed * 1000 + i, clock_));
    gpus.push_back(&cards_.back()->gpu);
    uuids_.push_back(cards_.back()->gpu.identity().uuid);
  }
  ranks_ = std::make_unique<SimRanks>(std::move(gpus));
  begin_ = clock_.now();
  ranks_->start(job.workload, job.iterations, work);
  for (const auto& card : cards_) {
    card->energy_before_j = card->gpu.true_view().totals.energy_j;
  }
}

JointBench::~JointBench() = default;

bool JointBench::running() {
  return std::ranges::all_of(cards_, [](const auto& card) { return card->gpu.running(); });
}

double JointBench::iterations() {
  return cards_.front()->gpu.iterations();
}

Joules JointBench::energy() {
  double sum = 0;
  for (const auto& card : cards_) {
    sum += card->gpu.true_view().totals.energy_j - card->energy_before_j;
  }
  return Joules(sum);
}

Result<void> JointBench::poll() {
  Instant due = cards_.front()->sampler.due();
  for (const auto& card : cards_) due = std::min(due, card->sampler.due());
  clock_.sleep_until(due);
  for (const auto& card : cards_) {
    if (card->sampler.due() > clock_.now()) continue;
    ASSIGN_OR_RETURN(const SamplerReading reading, card->sampler.poll());
    if (reading.sample.sm_clock) {
      card->clock_sum += reading.sample.sm_clock->value();
      card->clocks += 1;
    }
    if (!card->builder) continue;
    card->builder->add(reading);
    if (card->builder->wants_counter()) card->sampler.want_counter();
  }
  return {};
}

Result<StepPlan> JointBench::watch() {
  Card& leader = *cards_.front();
  std::optional<Tick> last;
  while (running() && (elapsed() < kWatch || leader.intervals_s.size() < kWatchTicks)) {
    RETURN_IF_ERROR(poll());
    for (const Tick& tick : leader.ticks.take()) {
      if (last) leader.intervals_s.push_back((tick.time - last->time).value());
      last = tick;
    }
  }
  if (leader.intervals_s.empty()) {
    return Error{ErrorCode::kUsage, "the job ends before it can be measured",
                 "give it more --iterations"};
  }
  double clock = 0;
  for (const auto& card : cards_) clock += card->clock_sum / std::max(1.0, card->clocks);
  default_values_.sm_clock = Mhz(clock / static_cast<double>(cards_.size()));
  default_values_.memory_clock = job_.sheet.physics.clocks.memory_default;
  default_values_.power_limit = leader.gpu.capabilities().default_power_limit;
  plan_ = plan_steps(leader.intervals_s);
  return plan_;
}

Result<void> JointBench::change_to(std::span<const Setting> settings) {
  bool changed = false;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    Card& card = *cards_[i];
    if (card.told == settings[i]) continue;
    changed = true;
    card.told = settings[i];
    for (const Knob knob : kAllKnobs) {
      if (!card.told.has(knob)) RETURN_IF_ERROR(card.gpu.reset(knob));
    }
    RETURN_IF_ERROR(all_applied(card.gpu.apply(card.told)));
  }
  const Instant settled = clock_.now() + kSettle;
  while (changed && running() && clock_.now() < settled) RETURN_IF_ERROR(poll());
  return {};
}

std::optional<JointWindow> JointBench::close(const Setting& joint, bool aborted) {
  JointWindow result;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    result.ranks.push_back({uuids_[i], cards_[i]->builder->close()});
    result.ranks.back().window.aborted = aborted;
    cards_[i]->close();
  }
  result.joint = join_windows(joint, result.ranks);
  return result;
}

Result<std::optional<JointWindow>> JointBench::measure(const Setting& joint, const Step& step) {
  const double wanted = std::isfinite(step.iterations) ? std::max(1.0, step.iterations) : 1;
  const Instant begin = clock_.now();
  for (const auto& card : cards_) {
    card->close();
    card->ticks.take();
    card->sampler.want_counter();
  }
  while (running()) {
    RETURN_IF_ERROR(poll());
    bool whole = true;
    bool too_slow = true;
    for (const auto& card : cards_) {
      for (const Tick& tick : card->ticks.take()) {
        if (tick.time >= begin) card->take(tick, wanted, plan_.typical);
      }
      const double n = card->iterations();
      whole = whole && (card->cut || n >= wanted);
      too_slow = too_slow && step.abort_above && n >= step.abort_after &&
                 card->span() / n > *step.abort_above;
    }
    if (!whole && !too_slow) continue;
    const auto wants = [](const auto& card) { return card->builder->wants_counter(); };
    for (int i = 0; i < kPatience && running() && std::ranges::any_of(cards_, wants); ++i) {
      for (const auto& card : cards_) card->sampler.want_counter();
      RETURN_IF_ERROR(poll());
    }
    return close(joint, !whole);
  }
  return std::optional<JointWindow>();
}

}  // namespace hypermile
