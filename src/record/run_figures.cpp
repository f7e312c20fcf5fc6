// SPDX-License-Identifier: Apache-2.0
#include "record/run_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

// Samples in a row without the energy counter, about one a second, after which it was given up.
constexpr int kGivenUp = 30;

bool exploring(const Decision& decision) {
  const auto found = decision.numbers.find("exploring");
  return found == decision.numbers.end() || found->second != 0;
}

// Whether `setting` is `held`, or lower on a GPU that waits for the others (slack).
bool carries_out(const Setting& setting, const Setting& held) {
  if (setting == held) return true;
  return setting.memory_clock == held.memory_clock && setting.power_limit == held.power_limit &&
         setting.sm_clock && (!held.sm_clock || *setting.sm_clock < *held.sm_clock);
}

void add_to(std::optional<Estimate>& sum, const std::optional<Estimate>& part) {
  if (part) sum = sum ? sum_of(*sum, *part) : *part;
}

// One iteration with each GPU at its own setting; nullopt where a GPU was not measured there.
template <class CostOf>
std::optional<SettingCost> joint_cost(const std::vector<const PhaseFigures*>& gpus,
                                      const CostOf& cost_of) {
  std::optional<SettingCost> joint;
  for (const PhaseFigures* gpu : gpus) {
    const std::optional<SettingCost> cost = cost_of(*gpu);
    if (!cost) return std::nullopt;
    if (joint) {
      add_gpu(*joint, *cost);
    } else {
      joint = cost;
    }
  }
  return joint;
}

// Of the time, from shares of the iterations; a setting that was not measured has none.
std::vector<SettingShare> shares_of_time(std::vector<SettingShare> shares, const JobPhase& phase) {
  double all = 0;
  for (SettingShare& one : shares) {
    const SettingCost* cost = phase.at(one.setting);
    one.share *= cost != nullptr && cost->time_s ? cost->time_s->value : 0;
    all += one.share;
  }
  if (all <= 0) return {};
  for (SettingShare& one : shares) one.share /= all;
  return shares;
}

JobPhase join(const std::vector<const PhaseFigures*>& gpus) {
  const PhaseFigures& lead = *gpus.front();
  JobPhase phase;
  phase.process = lead.process();
  phase.phase = lead.pattern().phase;
  for (const SettingCost& each : lead.costs()) {
    const auto joint =
        joint_cost(gpus, [&](const PhaseFigures& gpu) { return gpu.cost_at(each.setting); });
    if (joint) phase.settings.push_back(*joint);
  }
  phase.kept = joint_cost(gpus, [](const PhaseFigures& gpu) { return gpu.kept_cost(); });
  if (lead.shares().size() > 1) phase.shares = shares_of_time(lead.shares(), phase);
  if (std::ranges::any_of(gpus,
                          [&](const PhaseFigures* gpu) { return gpu->kept() != lead.kept(); })) {
    for (const PhaseFigures* gpu : gpus) phase.kept_each.push_back(gpu->kept().value_or(Setting{}));
  }
  const SettingCost* usual = phase.at({});
  if (usual == nullptr) return phase;
  const SettingCost at_default = *usual;
  for (SettingCost& each : phase.settings) compare(each, at_default);
  if (phase.kept && !phase.shares.empty()) {
    compare_mix(*phase.kept, at_default);
  } else if (phase.kept && phase.kept_each.empty()) {
    phase.kept = *phase.at(phase.kept->setting);
  } else if (phase.kept) {
    compare(*phase.kept, at_default);
  }
  return phase;
}

// now / at_default - 1, where `at_default` was found by adding `difference`, which has all the
// error.
Estimate change_against(double now, double at_default, const Estimate& difference) {
  Estimate change{now / at_default - 1};
  if (difference.half_width95) {
    change.half_width95 = *difference.half_width95 * now / (at_default * at_default);
  }
  return change;
}

}  // namespace

const SettingCost* JobPhase::at(const Setting& setting) const {
  const auto found = std::ranges::find(settings, setting, &SettingCost::setting);
  return found != settings.end() ? &*found : nullptr;
}

void RunFigures::add(const Event& event) {
  if (!first_) first_ = event.time;
  last_ = std::max(last_.value_or(event.time), event.time);
  std::visit([this](const auto& body) { take(body); }, event.body);
}

void RunFigures::take(const SampleEvent& event) {
  Card& card = cards_[event.gpu];
  ++card.without_energy;
  if (!event.sample.energy) return;
  card.without_energy = 0;
  if (!card.first_energy) card.first_energy = event.sample.energy;
  card.last_energy = event.sample.energy;
}

void RunFigures::take(const ProgressEvent& event) {
  if (!event.phase) return;
  const double micro_batches = std::max(1.0, event.micro_batches.value_or(1));
  // A phase without micro-batches needs no entry: a job may start any number of processes.
  if (micro_batches > 1) {
    micro_batches_[{event.process, *event.phase}] = micro_batches;
  } else {
    micro_batches_.erase({event.process, *event.phase});
  }
  for (PhaseFigures& phase : phases_) {
    if (phase.process() == event.process && phase.pattern().phase == *event.phase) {
      phase.set_micro_batches(micro_batches);
    }
  }
}

// Tests for slack go on while a setting is held; "truth" is what only a simulator knows.
void RunFigures::take(const Decision& event) {
  if (event.policy == "truth" || event.policy == "slack") return;
  Card& card = cards_[event.gpu];
  card.held.reset();
  if (!exploring(event)) card.held = event;
}

void RunFigures::take(const WindowEvent& event) {
  const Window& window = event.window;
  PhaseFigures* phase = phase_of(event);
  if (phase == nullptr) return;
  phase->add(window, event.counted);
  if (!window.usable()) return;
  last_iteration_s_ = window.time_per_iteration->value() * phase->micro_batches();
  const std::optional<Decision>& held = cards_[event.gpu].held;
  if (held && carries_out(window.setting, held->setting)) {
    phase->keep(window.setting, window.iterations, held->numbers.contains("share"));
  }
}

PhaseFigures* RunFigures::phase_of(const WindowEvent& event) {
  const std::int64_t process = event.process.value_or(0);
  for (PhaseFigures& each : phases_) {
    if (each.gpu() == event.gpu && each.process() == process &&
        each.pattern() == event.window.pattern) {
      return &each;
    }
  }
  if (std::cmp_greater_equal(std::ranges::count(phases_, event.gpu, &PhaseFigures::gpu),
                             kMostPhases)) {
    return nullptr;
  }
  phases_.emplace_back(event.gpu, process, event.window.pattern);
  phases_.back().set_micro_batches(micro_batches(process, event.window.pattern.phase));
  return &phases_.back();
}

const PhaseFigures* RunFigures::find(const GpuUuid& gpu, std::int64_t process,
                                     PatternId pattern) const {
  const auto found = std::ranges::find_if(phases_, [&](const PhaseFigures& each) {
    return each.gpu() == gpu && each.process() == process && each.pattern() == pattern;
  });
  return found != phases_.end() ? &*found : nullptr;
}

const PhaseFigures* RunFigures::main_phase(const GpuUuid& gpu) const {
  const PhaseFigures* main = nullptr;
  for (const PhaseFigures& each : phases_) {
    if (each.gpu() == gpu && (main == nullptr || each.seconds() > main->seconds())) main = &each;
  }
  return main;
}

std::optional<Joules> RunFigures::energy(const GpuUuid& gpu) const {
  const auto card = cards_.find(gpu);
  if (card == cards_.end() || !card->second.first_energy) return std::nullopt;
  // A counter that was given up tells of a part of the run only.
  if (card->second.without_energy > kGivenUp) return std::nullopt;
  return *card->second.last_energy - *card->second.first_energy;
}

double RunFigures::micro_batches(std::int64_t process, std::uint32_t phase) const {
  const auto found = micro_batches_.find({process, phase});
  return found != micro_batches_.end() ? found->second : 1;
}

std::vector<std::vector<const PhaseFigures*>> RunFigures::by_gpu() const {
  std::map<std::pair<GpuUuid, std::int64_t>, double> seconds;
  for (const PhaseFigures& each : phases_) seconds[{each.gpu(), each.process()}] += each.seconds();
  std::vector<std::vector<const PhaseFigures*>> gpus;
  const auto most = [&](const PhaseFigures& a, const PhaseFigures& b) {
    return seconds.at({a.gpu(), a.process()}) < seconds.at({b.gpu(), b.process()});
  };
  const bool any_gpu =
      std::ranges::any_of(phases_, [](const PhaseFigures& each) { return !each.gpu().empty(); });
  for (const PhaseFigures& each : phases_) {
    if (any_gpu && each.gpu().empty()) continue;  // measured before the GPU could be read
    auto gpu = std::ranges::find_if(
        gpus, [&](const auto& known) { return known.front()->gpu() == each.gpu(); });
    if (gpu == gpus.end()) {
      gpus.push_back({&each});
    } else if (gpu->front()->process() == each.process()) {
      gpu->push_back(&each);
    } else if (most(*gpu->front(), each)) {
      *gpu = {&each};
    }
  }
  std::ranges::stable_sort(
      gpus, [&](const auto& a, const auto& b) { return most(*b.front(), *a.front()); });
  return gpus;
}

std::vector<JobPhase> RunFigures::job_phases() const {
  const auto gpus = by_gpu();
  if (gpus.empty()) return {};
  std::vector<const PhaseFigures*> lead = gpus.front();
  std::ranges::stable_sort(lead, [](const PhaseFigures* a, const PhaseFigures* b) {
    return a->seconds() > b->seconds();
  });
  std::vector<JobPhase> joined;
  for (const PhaseFigures* phase : lead) {
    std::vector<const PhaseFigures*> parts = {phase};
    for (std::size_t i = 1; i < gpus.size(); ++i) {
      for (const PhaseFigures* other : gpus[i]) {
        if (other->pattern() == phase->pattern()) parts.push_back(other);
      }
    }
    joined.push_back(join(parts));
  }
  return joined;
}

std::optional<double> RunFigures::total(const char* name) const {
  if (!end_) return std::nullopt;
  const auto found = end_->find(name);
  return found != end_->end() ? std::optional(found->second) : std::nullopt;
}

std::optional<double> RunFigures::joules() const {
  if (const auto at_end = total("joules")) return at_end;
  std::optional<double> sum;
  for (const auto& [gpu, card] : cards_) {
    const auto used = energy(gpu);
    // A counter that was read once tells nothing yet.
    if (used && used->value() > 0) sum = sum.value_or(0) + used->value();
  }
  return sum;
}

// A run that was interrupted has fewer iterations.
bool RunFigures::same_job(const DefaultRun& run) const {
  constexpr double kRounding = 1e-3;  // a job may end in the middle of an iteration
  const std::optional<double> iterations = total("iterations");
  return end_ && (run.iterations <= 0 || !iterations ||
                  std::abs(*iterations / run.iterations - 1) < kRounding);
}

JobTotals RunFigures::job() const {
  JobTotals job;
  job.seconds = total("seconds").value_or(first_ ? (*last_ - *first_).value() : 0);
  job.joules = joules();
  const auto gpus = by_gpu();
  std::optional<double> measured_j;
  for (const auto& gpu : gpus) {
    for (const PhaseFigures* phase : gpu) {
      add_to(job.saved_j, phase->saved_j());
      if (const auto spent = phase->spent_j()) measured_j = measured_j.value_or(0) + *spent;
    }
  }
  if (!gpus.empty()) {
    for (const PhaseFigures* phase : gpus.front()) {
      add_to(job.lost_s, phase->lost_s());
      job.iterations += phase->iterations();
    }
  }
  if (const auto counted = total("iterations")) job.iterations = *counted;
  // Without an energy counter, what the windows show of the iterations.
  if (!job.joules) job.joules = measured_j;
  if (default_run_ && same_job(*default_run_) && job.joules) {
    job.against_default_run = true;
    job.saved_j = Estimate{default_run_->joules - *job.joules};
    job.lost_s = Estimate{job.seconds - default_run_->seconds};
  }
  if (job.saved_j && job.joules && *job.joules + job.saved_j->value > 0) {
    job.default_joules = *job.joules + job.saved_j->value;
    job.energy_change = change_against(*job.joules, *job.default_joules, *job.saved_j);
  }
  if (job.lost_s && job.seconds > job.lost_s->value) {
    job.default_seconds = job.seconds - job.lost_s->value;
    job.time_change = change_against(job.seconds, *job.default_seconds, *job.lost_s);
  }
  return job;
}

std::optional<JobBill> RunFigures::bill() const {
  const JobTotals totals = job();
  if (!totals.joules) return std::nullopt;
  JobBill bill;
  bill.host_joules = total("host_joules");
  bill.kwh = (*totals.joules + bill.host_joules.value_or(0)) / kJoulesPerKwh;
  if (totals.saved_j) bill.saved_kwh = totals.saved_j->value / kJoulesPerKwh;
  bill.tariff = tariff_;
  return bill;
}

std::optional<double> JobBill::cost(const std::optional<double>& energy_kwh) const {
  if (!tariff.price || !energy_kwh) return std::nullopt;
  return *energy_kwh * tariff.price->per_kwh;
}

std::optional<double> JobBill::co2e_g(const std::optional<double>& energy_kwh) const {
  if (!tariff.carbon || !energy_kwh) return std::nullopt;
  return *energy_kwh * tariff.carbon->g_per_kwh;
}

}  // namespace hypermile
