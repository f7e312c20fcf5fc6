// SPDX-License-Identifier: Apache-2.0
//
// hypermile's own policy: the account steers. Before every window it asks the ledger how much time
// the rest of the job may still lose, and shares that rest between the two Settings whose mix loses
// just that and costs least (mix.h). It looks at another Setting when what that may add to the mix,
// over the iterations that are left, is worth more than the look costs. It measures the default
// again when a surer pace is worth more than the saving forgone meanwhile. Regret shrinks with the
// length of the job by itself: there are no budgets and no counts of tries.
//
// What is known of the job lies in the ledger, so a policy that is made anew loses nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "policy/look_cut.h"
#include "policy/makers.h"
#include "policy/mix.h"
#include "policy/response.h"

namespace hypermile {
namespace {

// Without a bound, no Setting slower than this many times the default is kept.
constexpr double kSlowestUnbounded = 4;
// A window whose time has a larger relative error than this shows nothing of its Setting.
constexpr double kUnsure = 0.05;

class HypermilePolicy : public Policy {
 public:
  explicit HypermilePolicy(const PolicyContext& context);

  void account(const JobLedger& ledger) override { ledger_ = &ledger; }
  Step next() override;
  void observe(const Window& window) override;
  std::vector<ExpectedOutcome> expected() const override;

 private:
  // The iterations that are left, how many windows at the default are planned among them, and the
  // mean slowdown that the others may have.
  struct Rest {
    double iterations = 0;
    double defaults = 0;
    double allowed = 0;
    double error = 0;  // relative, of the default's pace, now
  };
  struct Prospect {
    double gain = 0;  // expected fall of the mix's price
    double cost = 0;  // of the look, in iterations at the default's price
  };
  double allowed_after(double defaults) const;
  Rest plan(std::span<const Candidate> known) const;
  double energy(double time, double power) const;
  double price(double time, double power) const;
  Candidate candidate_of(std::size_t setting) const;
  std::vector<Candidate> known() const;
  Mix choose(std::span<const Candidate> known, double allowed) const;
  Prospect prospect(std::span<const Candidate> known, const Mix& mix, std::size_t setting,
                    double allowed) const;
  double deepest_memory() const;
  bool may_look(std::size_t setting, const Rest& rest) const;
  std::optional<std::size_t> best_look(const Rest& rest, std::span<const Candidate> known,
                                       const Mix& mix) const;
  bool default_is_due(const Rest& rest, const Mix& mix) const;
  double look_length(double time) const;
  double look_iterations() const { return context_.window_iterations + context_.settle_iterations; }
  // Iterations at one Setting of the mix at a time.
  double dwell() const {
    return std::max(search_.dwell_windows * context_.window_iterations,
                    search_.dwell_settles * context_.settle_iterations);
  }
  Step step(std::size_t setting, double iterations, bool exploring, std::string why) const;
  Step look(std::size_t setting) const;
  Step keep(std::size_t setting, double iterations, std::string why);
  Step run(const Mix& mix, const Rest& rest);

  PolicyContext context_;
  const SearchConstants& search_ = context_.search;
  Response response_;
  const JobLedger* ledger_ = nullptr;
  double slowest_ = kSlowestUnbounded;
  double credit_ = 0.5;                     // of the slower Setting of the mix, in dwells
  double mean_time_ = 1, mean_energy_ = 1;  // of the mix chosen last
  double confidence_ = 1;                   // that the whole job keeps its bound
  std::size_t asked_ = 0;
  std::size_t steady_ = 0;    // the one Setting kept, where the user wants one
  std::vector<double> kept_;  // iterations at each Setting since the first was held
  std::vector<int> bad_;      // windows in a row that could not be used, by Setting
  bool predicted_ = false;
};

HypermilePolicy::HypermilePolicy(const PolicyContext& context)
    : context_(context),
      response_(context, context.prior ? *context.prior : usual_prior()),
      kept_(context.settings.size()),
      bad_(context.settings.size()) {
  if (!(context_.window_iterations >= 1)) context_.window_iterations = 30;
  if (!(context_.settle_iterations >= 0)) context_.settle_iterations = 0;
  if (const auto bound = effective_bound(context_.objective)) {
    slowest_ = 1 + search_.crawl * *bound;
  }
  if (context_.remembered) response_.recall(*context_.remembered);
}

void HypermilePolicy::observe(const Window& window) {
  const bool good = (window.usable() || window.held_back()) && !(window.time_error > kUnsure);
  bad_[asked_] = good ? 0 : bad_[asked_] + 1;
  if (!good || asked_ != 0 || predicted_ || !context_.predict) return;
  predicted_ = true;
  response_.expect(context_.predict(window));
}

// The mean slowdown that the rest of the job may have if so many more windows at the default make
// its pace surer.
double HypermilePolicy::allowed_after(double defaults) const {
  const auto bound = effective_bound(context_.objective);
  if (!bound) return kSlowestUnbounded - 1;
  const double window = context_.window_iterations;
  const double sure = ledger_->sure_job();
  const double left = std::max(sure - ledger_->done(), window);
  const double doubt = search_.surely * ledger_->pace_error(defaults);
  return std::min(*bound, ((*bound - doubt) * sure - ledger_->lost()) / left);
}

// As many windows at the default as pay: each makes the pace surer, so that the others may lose
// more, and saves nothing itself.
HypermilePolicy::Rest HypermilePolicy::plan(std::span<const Candidate> known) const {
  Rest rest;
  rest.error = ledger_->pace_error();
  rest.iterations = std::max(ledger_->job() - ledger_->done(), context_.window_iterations);
  rest.allowed = allowed_after(0);
  const double sure = ledger_->sure_job() - ledger_->done();
  const double windows = sure / context_.window_iterations;
  double most = -1;
  for (double more = 0; more < windows; more = std::ceil(more * search_.plan_steps + 1)) {
    const double allowed = allowed_after(more);
    const double saved = (windows - more) * (1 - choose(known, allowed).price);
    if (saved <= most) continue;
    most = saved;
    rest.defaults = more;
    rest.allowed = allowed;
  }
  // Whatever is planned, what is surely left must suffice for the next dwell.
  if (const auto bound = effective_bound(context_.objective)) {
    const double lost = ledger_->lost() + search_.surely * ledger_->lost_error();
    rest.allowed = std::min(rest.allowed, (*bound * ledger_->sure_job() - lost) / dwell());
  }
  return rest;
}

double HypermilePolicy::energy(double time, double power) const {
  Objective plain = context_.objective;
  plain.goal = Goal::kEnergy;
  return score(plain, time, power, ledger_->default_power());
}

// What the objective charges for an iteration, 1 at the default. Products of energy and time are
// taken along their slope at the mix chosen last, so that prices of Settings can be averaged.
double HypermilePolicy::price(double time, double power) const {
  const Goal goal = context_.objective.goal;
  if (goal != Goal::kEdp && goal != Goal::kEd2p) {
    return score(context_.objective, time, power, ledger_->default_power());
  }
  const double exponent = goal == Goal::kEdp ? 1 : 2;
  return (mean_time_ * energy(time, power) + exponent * mean_energy_ * time) /
         (mean_time_ + exponent * mean_energy_);
}

Candidate HypermilePolicy::candidate_of(std::size_t setting) const {
  const Belief& belief = response_.at(setting);
  const double time = std::exp(belief.log_time);
  return {setting, time, price(time, std::exp(belief.log_power))};
}

// The default and every Setting that was measured and may be kept.
std::vector<Candidate> HypermilePolicy::known() const {
  std::vector<Candidate> candidates = {{0, 1, price(1, 1)}};
  const auto budget = context_.objective.power_budget;
  const Watts usual = ledger_->default_power();
  for (const SeenSetting& one : ledger_->seen()) {
    const Candidate candidate = candidate_of(one.setting);
    if (candidate.time > slowest_ || bad_[one.setting] >= search_.bad_windows) continue;
    if (budget && usual * std::exp(response_.at(one.setting).log_power) > *budget) continue;
    candidates.push_back(candidate);
  }
  // A default beyond the budget is left as soon as there is something else.
  if (budget && usual > *budget && candidates.size() > 1) candidates.erase(candidates.begin());
  return candidates;
}

Mix HypermilePolicy::choose(std::span<const Candidate> known, double allowed) const {
  // A mix of a setting that saves enough and one that does not may save too little.
  const bool mixed = !context_.steady && context_.objective.goal != Goal::kPerformance;
  if (mixed) return best_mix(known, 1 + allowed);
  const Mix best = best_single(known, 1 + allowed);
  for (const Candidate& one : known) {
    const bool stays = one.setting == steady_ && one.time <= 1 + allowed;
    if (stays && one.price < best.price + search_.steady_gain) {
      return {steady_, steady_, 1, one.time, one.price, 0};
    }
  }
  return best;
}

// What one window at a Setting is expected to add to the mix and to cost, over what it may show of
// time and power.
HypermilePolicy::Prospect HypermilePolicy::prospect(std::span<const Candidate> known,
                                                    const Mix& mix, std::size_t setting,
                                                    double allowed) const {
  // Means of a standard normal's equally likely parts: enough of them that a small chance of a fast
  // Setting weighs as little as it should.
  constexpr double kTimes[] = {-1.97, -1.32, -1.01, -0.77, -0.58, -0.40, -0.24, -0.08,
                               0.08,  0.24,  0.40,  0.58,  0.77,  1.01,  1.32,  1.97};
  constexpr double kPowers[] = {-1.22, 0, 1.22};
  // What is not known of the default's own level, no look elsewhere can show.
  const auto shown = [](double sd, double level, double noise) {
    const double variance = std::max(0.0, sd * sd - level * level);
    return variance / std::sqrt(variance + noise * noise);
  };
  const Belief& belief = response_.at(setting);
  const double time_sd = shown(belief.time_sd, ledger_->pace_error(), ledger_->time_noise());
  const double level = ledger_->power_noise() / std::sqrt(ledger_->default_windows());
  const double power_sd = shown(belief.power_sd, level, ledger_->power_noise());
  Prospect prospect;
  for (const double of_time : kTimes) {
    const double time = std::exp(std::max(belief.least_time, belief.log_time + of_time * time_sd));
    const bool cut = time > slowest_;
    const double iterations = look_length(time);
    for (const double of_power : kPowers) {
      const double here = price(time, std::exp(belief.log_power + of_power * power_sd));
      constexpr double kWeight = 1.0 / (std::size(kTimes) * std::size(kPowers));
      prospect.cost +=
          kWeight * iterations * (here + mix.worth_of_time * (time - mix.time) - mix.price);
      if (!cut) prospect.gain += kWeight * gain_of(known, mix, {setting, time, here}, 1 + allowed);
    }
  }
  prospect.cost = std::max(prospect.cost, 0.0);
  return prospect;
}

// Iterations that a look takes where the Setting is so many times slower: it is cut as soon as that
// is plain.
double HypermilePolicy::look_length(double time) const {
  const double beyond = time - slowest_;
  if (beyond <= 0) return look_iterations();
  const double plain = cut_spread(search_, *ledger_) / beyond;
  return context_.settle_iterations +
         std::min(context_.window_iterations,
                  search_.cut_iterations * std::max(1.0, plain * plain));
}

// Whether the job can bear what the look may lose at worst.
bool HypermilePolicy::may_look(std::size_t setting, const Rest& rest) const {
  const Belief& belief = response_.at(setting);
  const auto loss = [&](double deviations) {
    const double time = std::exp(belief.log_time + deviations * belief.time_sd);
    return (time - 1) * look_length(time);
  };
  const double sure = std::max(ledger_->sure_job() - ledger_->done(), context_.window_iterations);
  const double spare = rest.allowed * sure;
  if (loss(2) <= search_.look_risk * spare) return true;
  return response_.place(setting).memory > 0 && loss(1) <= search_.memory_risk * spare;
}

// Memory clocks are few and far apart: each is tried only after the next higher one.
double HypermilePolicy::deepest_memory() const {
  double seen = 0;
  for (const SeenSetting& one : ledger_->seen()) {
    seen = std::max(seen, response_.place(one.setting).memory);
  }
  double next = std::numeric_limits<double>::infinity();
  for (std::size_t setting = 1; setting < response_.size(); ++setting) {
    const double memory = response_.place(setting).memory;
    if (memory > seen) next = std::min(next, memory);
  }
  return next;
}

std::optional<std::size_t> HypermilePolicy::best_look(const Rest& rest,
                                                      std::span<const Candidate> known,
                                                      const Mix& mix) const {
  if (rest.allowed <= 0 || rest.iterations <= 2 * look_iterations()) return std::nullopt;
  // Where an earlier run of the job ended is looked at first.
  if (context_.remembered) {
    const std::size_t there = context_.remembered->setting;
    const bool new_here = there < response_.size() && !ledger_->log_time_of(there);
    if (new_here && bad_[there] == 0 && may_look(there, rest)) return there;
  }
  const double deepest = deepest_memory();
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t setting = 1; setting < response_.size(); ++setting) {
    if (setting == mix.fast || setting == mix.slow || response_.is_default(setting)) continue;
    if (bad_[setting] >= search_.bad_windows) continue;
    if (response_.place(setting).memory > deepest) continue;
    const Prospect look = prospect(known, mix, setting, rest.allowed);
    if (look.gain < search_.least_look || 1 - mix.price + look.gain < search_.least_gain) continue;
    const double profit =
        look.gain * (rest.iterations - look_iterations()) - search_.look_pays * look.cost;
    if (profit <= most || !may_look(setting, rest)) continue;
    most = profit;
    best = setting;
  }
  return best;
}

// The windows at the default that are planned are spread over the job, so that slow minutes and
// heat cancel: more in its early part, while what they show can still be acted on. After a quarter
// of the job half of them are taken.
bool HypermilePolicy::default_is_due(const Rest& rest, const Mix& mix) const {
  if (mix.slow == 0) return false;
  const auto budget = context_.objective.power_budget;
  if (budget && ledger_->default_power() > *budget) return false;
  const double window = context_.window_iterations;
  const double share = std::sqrt(ledger_->done() / ledger_->sure_job());
  const double seen = ledger_->default_windows();
  if (seen + 0.5 <= (seen + rest.defaults) * share) return true;
  // However little seems to be gained: a job whose pace moves is noticed by nothing else.
  const double seldom =
      std::max(search_.default_windows, search_.default_share * ledger_->done() / window);
  return ledger_->since_default() > seldom;
}

Step HypermilePolicy::step(std::size_t setting, double iterations, bool exploring,
                           std::string why) const {
  Step step;
  step.setting = setting;
  step.iterations = iterations;
  step.exploring = exploring;
  step.confidence = confidence_;
  step.reason = std::move(why);
  return step;
}

Step HypermilePolicy::look(std::size_t setting) const {
  const Candidate candidate = candidate_of(setting);
  Step look = step(setting, context_.window_iterations, true,
                   fmt::format("{} may save more: {:.1f} % slower and {:.1f} % cheaper is expected",
                               to_string(context_.settings[setting]), 100 * (candidate.time - 1),
                               100 * (1 - candidate.price)));
  const Belief& belief = response_.at(setting);
  look.expected = {belief.log_time, belief.time_sd};
  cut_when_slow(look, search_, *ledger_, slowest_);
  return look;
}

Step HypermilePolicy::keep(std::size_t setting, double iterations, std::string why) {
  Step step = this->step(setting, iterations, false, std::move(why));
  kept_[setting] += iterations;
  double all = 0;
  for (const double one : kept_) all += one;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] > 0) step.shares.push_back({i, kept_[i] / all});
  }
  return step;
}

Step HypermilePolicy::run(const Mix& mix, const Rest& rest) {
  credit_ += mix.share;
  const bool slow = credit_ >= 1;
  if (slow) credit_ -= 1;
  std::string why;
  if (mix.slow == 0) {
    why = "nothing saves energy within the bound";
    if (rest.allowed <= 0) why = "the job has no time left to lose";
  } else if (mix.fast == mix.slow || mix.share >= 1) {
    why = fmt::format("{:.1f} % slower, {:.1f} % cheaper is expected", 100 * (mix.time - 1),
                      100 * (1 - mix.price));
  } else {
    why = fmt::format(
        "{:.0f} % of the time at {} and {:.0f} % at {}: {:.1f} % slower, {:.1f} % "
        "cheaper is expected",
        100 * (1 - mix.share), to_string(context_.settings[mix.fast]), 100 * mix.share,
        to_string(context_.settings[mix.slow]), 100 * (mix.time - 1), 100 * (1 - mix.price));
  }
  return keep(slow ? mix.slow : mix.fast, dwell(), std::move(why));
}

Step HypermilePolicy::next() {
  asked_ = 0;
  const double window = context_.window_iterations;
  if (context_.settings.size() < 2) return keep(0, window, "there is no choice");
  if (bad_[0] >= search_.bad_windows) return keep(0, window, "nothing can be measured");
  if (ledger_ == nullptr || ledger_->default_windows() < search_.start_windows - 0.5) {
    return step(0, window, true, "what the default costs");
  }
  response_.fit(*ledger_);
  const std::vector<Candidate> known = this->known();
  const Rest rest = plan(known);
  const Mix best = choose(known, rest.allowed);
  Mix mix = 1 - best.price < search_.least_gain && known.front().setting == 0 ? Mix() : best;
  const auto bound = effective_bound(context_.objective);
  if (bound && rest.error > 0) {
    const double planned = (ledger_->lost() + (mix.time - 1) * rest.iterations) / ledger_->job();
    const double margin = (*bound - planned) / rest.error;
    confidence_ = std::isfinite(margin) ? normal_cdf(std::clamp(margin, -9.0, 9.0)) : 0;
  }
  if (const auto setting = best_look(rest, known, best)) {
    asked_ = *setting;
    return look(*setting);
  }
  if (default_is_due(rest, mix)) {
    Step step = keep(0, window, "how fast the default is now");
    step.exploring = true;  // so that it is watched closely
    return step;
  }
  mean_time_ = mix.time;
  mean_energy_ = 0;
  for (const auto& [setting, share] :
       {std::pair(mix.fast, 1 - mix.share), std::pair(mix.slow, mix.share)}) {
    const Belief& belief = response_.at(setting);
    mean_energy_ += share * energy(std::exp(belief.log_time), std::exp(belief.log_power));
  }
  steady_ = mix.slow;
  Step step = run(mix, rest);
  asked_ = step.setting;
  return step;
}

std::vector<ExpectedOutcome> HypermilePolicy::expected() const {
  std::vector<ExpectedOutcome> outcomes;
  if (ledger_ == nullptr || !ledger_->knows_default()) return outcomes;
  const auto bound = effective_bound(context_.objective);
  for (std::size_t i = 1; i < response_.size(); ++i) {
    const Belief& belief = response_.at(i);
    const double time = std::exp(belief.log_time);
    ExpectedOutcome one;
    one.setting = i;
    one.slowdown = time - 1;
    one.slowdown_sd = time * belief.time_sd;
    one.score =
        score(context_.objective, time, std::exp(belief.log_power), ledger_->default_power());
    one.score_sd = one.score * std::hypot(belief.time_sd, belief.power_sd);
    if (bound && belief.time_sd > 0) {
      const double margin = (std::log1p(*bound) - belief.log_time) / belief.time_sd;
      one.safe = std::isfinite(margin) ? normal_cdf(std::clamp(margin, -9.0, 9.0)) : 0;
    }
    outcomes.push_back(one);
  }
  return outcomes;
}

}  // namespace

std::unique_ptr<Policy> make_hypermile_policy(const PolicyContext& context) {
  return std::make_unique<HypermilePolicy>(context);
}

}  // namespace hypermile
