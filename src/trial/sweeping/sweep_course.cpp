// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr Seconds kShortest = Seconds(1);  // shortest window
constexpr int kAttempts = 3;  // for each window, in addition to the Controller's repeats

std::string options_text(const SweepOptions& options) {
  return fmt::format("gpu {} grid {} warm-up {:g}s settle {:g}s window {} seed {}",
                     options.gpu.empty() ? "of the job" : options.gpu, options.grid.text(),
                     options.warm_up.value(), options.settle.value(),
                     options.window ? fmt::format("{:g}s", options.window->value()) : "planned",
                     options.seed);
}

std::optional<std::size_t> find(const std::vector<Setting>& settings, const Setting& wanted) {
  const auto found = std::ranges::find(settings, wanted);
  if (found == settings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - settings.begin());
}

}  // namespace

// The policy that the Controller calls. Phases that are not swept stay at the default.
class SweepPolicy final : public Policy {
 public:
  SweepPolicy(SweepCourse& course, PolicyContext context, bool swept)
      : course_(course), context_(std::move(context)), swept_(swept) {}

  Step next() override {
    if (swept_ && !course_.over()) return course_.next(context_);
    Step step;
    step.iterations = context_.window_iterations;
    step.reason = swept_ ? "the sweep is over" : "another phase is swept";
    return step;
  }
  void observe(const Window& window) override {
    if (swept_ && !course_.over()) course_.observe(window);
  }

 private:
  SweepCourse& course_;
  PolicyContext context_;
  bool swept_;
};

SweepCourse::SweepCourse(SweepOptions options, SweepJournal& journal,
                         std::function<void(const std::string&)> say)
    : options_(std::move(options)), journal_(journal), say_(std::move(say)) {
  for (const SweepEntry& entry : journal.entries()) run_ = std::max(run_, entry.run + 1);
  entries_before_ = journal.entries().size();
  if (journal.header()) order_ = sweep_order(journal.header()->settings);
  referenced_ = run_ == 0;
}

Result<void> SweepCourse::check() const {
  if (!journal_.header()) return {};
  SweepHeader header = *journal_.header();
  header.workload = options_.workload;
  header.options = options_text(options_);
  return journal_.check(header);
}

ControllerOptions SweepCourse::controller_options() const {
  ControllerOptions options;
  options.policy = "sweep";
  options.knobs = options_.grid.knobs();
  options.slack = false;
  options.seed = options_.seed;
  // A resumed sweep measures the settings it began with, even if the default clock has changed.
  if (journal_.header()) {
    options.settings = {Setting()};
    const auto& settings = journal_.header()->settings;
    options.settings.insert(options.settings.end(), settings.begin(), settings.end());
  }
  return options;
}

std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts&, PolicyContext)>
SweepCourse::maker() {
  return [this](const PhaseFacts& facts, PolicyContext context) -> Result<std::unique_ptr<Policy>> {
    const std::pair of(facts.process, facts.phase);
    // A job that was restarted during the sweep has new processes.
    if (phase_ && phase_->first != facts.process && phase_->first->over()) phase_.reset();
    if (!phase_) {
      if (const Result<void> started = start(facts, context); !started) {
        problem_ = started.error();
        return started.error();
      }
      phase_ = of;
    }
    typical_ = facts.typical;
    settled_.reset();
    return std::unique_ptr<Policy>(
        std::make_unique<SweepPolicy>(*this, std::move(context), *phase_ == of));
  };
}

Result<void> SweepCourse::start(const PhaseFacts& facts, const PolicyContext& context) {
  const GpuIdentity& card = facts.gpus.front()->identity();
  SweepHeader header{card.name, card.uuid.text(), options_.workload, options_text(options_), {}};
  if (journal_.header()) {
    header.settings = journal_.header()->settings;
  } else {
    ASSIGN_OR_RETURN(header.settings, options_.grid.choose(context.settings));
  }
  RETURN_IF_ERROR(journal_.begin(header));
  order_ = sweep_order(header.settings);
  return {};
}

std::optional<std::size_t> SweepCourse::next_step() const {
  for (std::size_t step = 0; step < order_.size(); ++step) {
    if (std::ranges::none_of(journal_.entries(),
                             [&](const SweepEntry& entry) { return entry.step == step; })) {
      return step;
    }
  }
  return std::nullopt;
}

bool SweepCourse::complete() const {
  return !order_.empty() && !next_step();
}

bool SweepCourse::over() const {
  return problem_ || complete() || (one_step_ && journal_.entries().size() > entries_before_);
}

Step SweepCourse::next(const PolicyContext& context) {
  const auto iterations_of = [&](Seconds time) {
    return std::max(1.0, std::ceil(time / typical_));
  };
  Step step;
  step.exploring = true;
  step.iterations = options_.window ? iterations_of(*options_.window) : context.window_iterations;
  if (warmed_ < options_.warm_up) {
    purpose_ = Purpose::kWarmUp;
    step.iterations = iterations_of(std::max(options_.warm_up - warmed_, kShortest));
    step.reason = "warming up";
    return step;
  }
  if (!referenced_ && !one_step_) {
    purpose_ = Purpose::kReference;
    step.reason = "the default, for this run of the job";
    return step;
  }
  for (auto number = next_step(); number && !problem_; number = next_step()) {
    const Setting& setting = order_[*number];
    const auto index = find(context.settings, setting);
    if (!index) {
      give_up(fmt::format("{} may not be set on this GPU", to_string(setting)));
      continue;
    }
    step.setting = *index;
    step.reason = fmt::format("{} ({} of {})", to_string(setting), *number + 1, order_.size());
    purpose_ = Purpose::kMeasure;
    if (settled_ != setting && options_.settle > Seconds(0)) {
      purpose_ = Purpose::kSettling;
      step.iterations = iterations_of(std::max(options_.settle, kShortest));
    }
    return step;
  }
  purpose_ = Purpose::kNothing;
  step.exploring = false;
  return step;
}

void SweepCourse::observe(const Window& window) {
  if (!timed_) first_begin_ = window.begin;
  timed_ = true;
  last_end_ = window.begin + window.duration;
  if (window.features) features_ = window.features;
  switch (purpose_) {
    case Purpose::kWarmUp:
      warmed_ += std::max(window.duration, kShortest);
      return;
    case Purpose::kSettling:
      settled_ = window.setting;
      return;
    case Purpose::kNothing:
      return;
    case Purpose::kReference:
    case Purpose::kMeasure:
      break;
  }
  if (!window.usable()) {
    if (++attempts_ >= kAttempts) {
      give_up(window.unusable.empty() ? "time or power is not known" : window.unusable);
    }
    return;
  }
  Window kept = window;
  if (window.setting.empty()) kept.features = std::exchange(features_, nullptr);
  SweepEntry entry = entry_of(kept);
  const auto step = next_step();
  if (!step) return;
  // The reference gets the place of the step before; the next step is still to be measured.
  if (purpose_ == Purpose::kReference) {
    referenced_ = true;
    if (order_[*step].empty()) {
      entry.step = *step;
    } else {
      entry.step = *step > 0 ? *step - 1 : 0;
    }
  } else {
    entry.step = *step;
    entry.setting = order_[*step];
  }
  record(std::move(entry));
}

void SweepCourse::give_up(const std::string& why) {
  const auto step = next_step();
  if (!step) return;
  if (purpose_ == Purpose::kReference) {
    referenced_ = true;
    attempts_ = 0;
    return;
  }
  SweepEntry entry;
  entry.step = *step;
  entry.setting = order_[*step];
  entry.refused = why;
  if (say_) say_(fmt::format("{} is left out: {}", to_string(entry.setting), why));
  record(std::move(entry));
}

void SweepCourse::record(SweepEntry entry) {
  attempts_ = 0;
  entry.run = run_;
  if (const Result<void> kept = journal_.add(entry); !kept) problem_ = kept.error();
}

SweepProgress SweepCourse::progress(Instant now) const {
  SweepProgress progress;
  progress.planned = order_.size();
  for (std::size_t step = 0; step < order_.size(); ++step) {
    const auto entry = std::ranges::find(journal_.entries(), step, &SweepEntry::step);
    if (entry == journal_.entries().end()) continue;
    ++progress.done;
    progress.refused += entry->measured() ? 0 : 1;
  }
  const std::size_t here = journal_.entries().size() - entries_before_;
  if (timed_ && here > 0) {
    const Seconds each = (last_end_ - first_begin_) / static_cast<double>(here);
    const Seconds left = each * static_cast<double>(progress.planned - progress.done);
    progress.left = std::max(left - (now - last_end_), Seconds(0));
  }
  if (const auto step = next_step()) progress.doing = to_string(order_[*step]);
  return progress;
}

}  // namespace hypermile
