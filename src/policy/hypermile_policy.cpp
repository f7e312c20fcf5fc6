// SPDX-License-Identifier: Apache-2.0
//
// hypermile's own policy. It measures the default, chooses a memory clock where there is a choice
// (memory_stage.h), searches the SM clock or power limit there (slice_search.h), and keeps
// measuring while it holds what it found. Windows that cannot be used lead back to the default; a
// job that changes for good is searched afresh.
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "policy/makers.h"
#include "policy/memory_stage.h"
#include "policy/slice_search.h"

namespace hypermile {
namespace {

constexpr std::size_t kParticles = 1024;
constexpr double kMostAtFirst = 4;  // default windows before anything else
constexpr int kBadWindowsInARow = 3;
// A search that found nothing is taken up again after so many windows at the default, which
// meanwhile have told more of it: drift and a few unlucky windows pass. The rest doubles each time.
constexpr double kRestWindows = 16;
constexpr int kMostLooksAgain = 2;
// A change of time or power beyond this, and beyond the noise, three windows in a row, is another
// phase of the job.
constexpr double kPhaseTime = 0.06;
constexpr double kPhasePower = 0.12;
constexpr int kPhaseWindows = 3;
// No job slows down by more than its clock does. What shows otherwise, beyond the noise and this
// much, was not the Setting's doing (the job had a slow minute, another clock had not yet settled)
// and is measured again, so many times.
constexpr double kBeyondItsClock = 0.05;
constexpr int kMeasureAgain = 2;

class HypermilePolicy : public Policy {
 public:
  explicit HypermilePolicy(const PolicyContext& context)
      : context_(context), prior_(prior_grid(kParticles, context.prior_without)) {
    if (!(context_.window_iterations >= 1)) context_.window_iterations = 30;
    if (!(context_.settle_iterations >= 0)) context_.settle_iterations = 0;
  }

  Step next() override {
    asked_ = decide();
    return asked_;
  }

  void observe(const Window& window) override;
  void account(const JobLoss& loss) override { loss_ = loss; }
  bool take_default(const Window& window) override;
  std::vector<ExpectedOutcome> expected() const override {
    return search_ ? search_->expected() : std::vector<ExpectedOutcome>();
  }

 private:
  Step decide();
  Step measure_default(const char* why, bool exploring) const;
  std::optional<Step> memory_probe();
  std::optional<Step> recall();
  bool open_next_slice();
  void open_slice(std::optional<Mhz> memory, bool recall);
  bool look_again();
  bool believable(const Window& window) const;
  void take(const Window& window);
  bool is_another_phase(double log_time, double log_power);
  bool is_impossible(double log_time, double windows);
  void start_over();
  JobState job() const;
  DefaultState found() const;

  PolicyContext context_;
  std::shared_ptr<const ParticleGrid> prior_;
  Observations seen_;
  Step asked_;
  std::optional<JobLoss> loss_;
  double done_ = 0;
  std::size_t explored_ = 0;
  int bad_in_a_row_ = 0;
  int odd_in_a_row_ = 0;
  int impossible_in_a_row_ = 0;
  bool default_seen_cool_ = false;
  double clock_sum_ = 0;  // of default windows
  double clock_count_ = 0;

  std::optional<MemoryStage> memory_;
  bool memory_probe_asked_ = false;
  std::optional<std::vector<std::optional<Mhz>>> slices_left_;  // next one last
  std::optional<SliceSearch> search_;
  std::optional<double> rest_until_;  // windows at the default
  int looks_again_ = 0;
  std::vector<PredictedRatio> predicted_;  // empty: nobody said anything
  bool recalled_ = false;                  // what was remembered is no longer believed
};

Step HypermilePolicy::measure_default(const char* why, bool exploring) const {
  Step step;
  step.iterations = context_.window_iterations;
  step.exploring = exploring;
  step.reason = why;
  return step;
}

JobState HypermilePolicy::job() const {
  JobState job;
  const double told = context_.job_iterations.value_or(0);
  job.done = loss_ ? std::max(done_, loss_->done) : done_;
  job.length = told > 0 && std::isfinite(told)
                   ? told
                   : std::max(2 * job.done, context_.least_job_iterations);
  job.explored = explored_;
  job.loss = loss_;
  double power = 0;
  double time = 0;
  double windows = 0;
  for (const Block& block : seen_.blocks()) {
    if (block.setting != 0) continue;
    power += block.windows * block.log_power;
    time += block.windows * block.log_time;
    windows += block.windows;
  }
  if (windows > 0) {
    job.default_power = Watts(std::exp(power / windows));
    job.default_time = Seconds(std::exp(time / windows));
  }
  return job;
}

DefaultState HypermilePolicy::found() const {
  DefaultState found;
  found.sm_clock = context_.default_values.sm_clock;
  if (!found.sm_clock && clock_count_ > 0) found.sm_clock = Mhz(clock_sum_ / clock_count_);
  found.power_limit = context_.default_values.power_limit;
  found.power = job().default_power;
  return found;
}

Step HypermilePolicy::decide() {
  if (bad_in_a_row_ >= kBadWindowsInARow) return measure_default("nothing can be measured", false);
  if (context_.settings.size() < 2) return measure_default("there is no choice", false);
  if (!slices_left_) {
    const double start = std::clamp(
        std::round(wanted_baselines(context_, seen_.noise(), job().length)), 2.0, kMostAtFirst);
    if (seen_.windows_at(0) < start) return measure_default("what the default costs", true);
    if (auto step = recall()) return *step;
    if (!memory_) memory_.emplace(context_.settings, context_.default_values, found());
    if (auto step = memory_probe()) return *step;
    slices_left_ = memory_->ranking();
    std::ranges::reverse(*slices_left_);
  }
  while (search_ || open_next_slice()) {
    if (auto step = search_->next(seen_, job())) return *step;
    search_.reset();
  }
  if (look_again()) {
    if (auto step = search_->next(seen_, job())) return *step;
    search_.reset();
  }
  Step rest = measure_default("nothing better than the default", false);
  rest.iterations *= 4;
  return rest;
}

// What an earlier run of this job ended at; nullopt where nothing is remembered, or no longer
// holds, so that the search begins as if nothing were.
std::optional<Step> HypermilePolicy::recall() {
  if (recalled_ || !context_.remembered) return std::nullopt;
  if (context_.remembered->setting == 0 ||
      context_.remembered->setting >= context_.settings.size()) {
    return std::nullopt;
  }
  if (!search_) open_slice(context_.settings[context_.remembered->setting].memory_clock, true);
  if (auto step = search_->next(seen_, job())) return step;
  search_.reset();
  recalled_ = true;
  return std::nullopt;
}

std::optional<Step> HypermilePolicy::memory_probe() {
  const JobState now = job();
  const double bound = std::min(effective_bound(context_.objective).value_or(1), 1.0);
  constexpr double kWatchDeep = 2;
  const auto probe = memory_->next(bound * now.length, context_.settle_iterations + kWatchDeep);
  if (!probe) return std::nullopt;
  memory_probe_asked_ = true;
  Step step = measure_default("a lower memory clock", true);
  step.setting = probe->setting;
  if (probe->deep) step.abort_after = kWatchDeep;
  cut_when_too_slow(step, context_, seen_.noise(), now.default_time);
  step.confidence = 0.5;
  return step;
}

bool HypermilePolicy::open_next_slice() {
  if (slices_left_->empty()) return false;
  const std::optional<Mhz> memory = slices_left_->back();
  slices_left_->pop_back();
  open_slice(memory, false);
  return true;
}

void HypermilePolicy::open_slice(std::optional<Mhz> memory, bool recall) {
  Slice slice = make_slice(context_.settings, memory, found());
  ParticleTable table = tabulate(*prior_, slice, derive_seed(1, "limit response"));
  Posterior posterior(std::move(slice), std::move(table));
  if (!predicted_.empty()) posterior.expect(predicted_);
  search_.emplace(context_, std::move(posterior), job(), seen_, recall);
}

bool HypermilePolicy::look_again() {
  if (looks_again_ >= kMostLooksAgain) return false;
  const double windows = seen_.windows_at(0);
  if (!rest_until_) rest_until_ = windows + kRestWindows * std::pow(2, looks_again_);
  if (windows < *rest_until_) return false;
  ++looks_again_;
  rest_until_.reset();
  slices_left_ = memory_->ranking();
  std::ranges::reverse(*slices_left_);
  return open_next_slice();
}

// A card that heat holds back is slower than its Setting, so what it shows off the default errs
// towards fast and can be believed. A default that is never seen cool is what the job has.
bool HypermilePolicy::believable(const Window& window) const {
  const auto good = [](double value) { return std::isfinite(value) && value > 0; };
  const bool asked_for = asked_.setting < context_.settings.size() &&
                         window.setting == context_.settings[asked_.setting];
  if (!asked_for || !good(window.iterations) || !window.time_per_iteration || !window.power ||
      !good(window.time_per_iteration->value()) || !good(window.power->value())) {
    return false;
  }
  if (!window.held_back()) return window.usable();
  return asked_.setting != 0 || seen_.windows_at(0) > 0 || bad_in_a_row_ + 1 >= kBadWindowsInARow;
}

void HypermilePolicy::observe(const Window& window) {
  if (std::isfinite(window.iterations) && window.iterations > 0) done_ += window.iterations;
  if (asked_.exploring) ++explored_;
  if (!believable(window)) {
    ++bad_in_a_row_;
    if (memory_probe_asked_) memory_->skip();
    memory_probe_asked_ = false;
    return;
  }
  bad_in_a_row_ = 0;
  take(window);
}

bool HypermilePolicy::take_default(const Window& window) {
  asked_ = measure_default("", false);
  memory_probe_asked_ = false;
  observe(window);
  return true;
}

void HypermilePolicy::take(const Window& window) {
  const double log_time = std::log(window.time_per_iteration->value());
  const double log_power = std::log(window.power->value());
  const bool placed = std::isfinite(window.first_iteration) && window.first_iteration >= 0;
  const double windows = std::max(window.iterations / context_.window_iterations, 0.01);
  const double at = (placed ? window.first_iteration : done_) + window.iterations / 2;
  if (asked_.setting == 0 && window.held_back() && default_seen_cool_) {
    // It is faster than this when cool. To take it for as fast as it was then keeps the promise.
    seen_.confirm(0, at, windows);
    return;
  }
  if (is_another_phase(log_time, log_power) || is_impossible(log_time, windows)) return;
  default_seen_cool_ = default_seen_cool_ || (asked_.setting == 0 && !window.held_back());
  if (memory_probe_asked_) {
    const JobState now = job();
    const double error =
        seen_.noise().time * std::sqrt(1 / windows + 1 / std::max(seen_.windows_at(0), 0.01));
    memory_->observe(log_time - std::log(now.default_time.value()),
                     log_power - std::log(now.default_power.value()), error, context_.objective,
                     now.default_power);
    memory_probe_asked_ = false;
  }
  if (asked_.setting == 0 && window.sm_clock && window.sm_clock->value() > 0 &&
      std::isfinite(window.sm_clock->value())) {
    clock_sum_ += window.sm_clock->value();
    clock_count_ += 1;
  }
  if (asked_.setting == 0 && context_.predict && predicted_.empty()) {
    predicted_ = context_.predict(window);
  }
  seen_.add(asked_.setting, at, windows, log_time, log_power);
}

// A window far from what its Setting has shown so far is set aside; several in a row mean that the
// job itself has changed, and then everything is measured afresh.
bool HypermilePolicy::is_another_phase(double log_time, double log_power) {
  double time = 0;
  double power = 0;
  double windows = 0;
  for (const Block& block : seen_.blocks()) {
    if (block.setting != asked_.setting) continue;
    time += block.windows * block.log_time;
    power += block.windows * block.log_power;
    windows += block.windows;
  }
  const Noise noise = seen_.noise();
  const bool odd = windows >= 4 &&
                   (std::abs(log_time - time / windows) > std::max(kPhaseTime, 5 * noise.time) ||
                    std::abs(log_power - power / windows) > std::max(kPhasePower, 5 * noise.power));
  odd_in_a_row_ = odd ? odd_in_a_row_ + 1 : 0;
  if (odd_in_a_row_ >= kPhaseWindows) start_over();
  return odd;
}

bool HypermilePolicy::is_impossible(double log_time, double windows) {
  const Setting& setting = context_.settings[asked_.setting];
  const std::optional<Mhz> fastest = found().sm_clock;
  const bool sm_alone = setting.sm_clock && !setting.memory_clock && !setting.power_limit;
  if (!sm_alone || !fastest || seen_.windows_at(0) == 0) return false;
  const double clocks = std::max(0.0, std::log(*fastest / *setting.sm_clock));
  const double most = clocks + kBeyondItsClock + 4 * seen_.noise().time / std::sqrt(windows);
  const bool beyond = log_time - std::log(job().default_time.value()) > most;
  impossible_in_a_row_ = beyond ? impossible_in_a_row_ + 1 : 0;
  return beyond && impossible_in_a_row_ <= kMeasureAgain;
}

void HypermilePolicy::start_over() {
  seen_ = Observations();
  predicted_.clear();
  odd_in_a_row_ = 0;
  default_seen_cool_ = false;
  clock_sum_ = 0;
  clock_count_ = 0;
  memory_.reset();
  memory_probe_asked_ = false;
  slices_left_.reset();
  search_.reset();
  rest_until_.reset();
  looks_again_ = 0;
  recalled_ = true;
}

}  // namespace

std::unique_ptr<Policy> make_hypermile_policy(const PolicyContext& context) {
  return std::make_unique<HypermilePolicy>(context);
}

}  // namespace hypermile
