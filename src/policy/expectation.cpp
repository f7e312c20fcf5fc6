// SPDX-License-Identifier: Apache-2.0
#include "policy/expectation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "policy/response.h"

namespace hypermile {
namespace {

// Plausible jobs that are drawn: the deciles of as many move by less than a point of saving.
constexpr int kDraws = 200;

// No card that works draws less than this share of what it draws at the default.
constexpr double kLeastPower = 0.4;

struct Best {
  double score = 1;
  double slowdown = 0;
  std::size_t setting = 0;
};

// What a perfect search would keep if this were the job.
Best best_of(const std::vector<Belief>& job, const PolicyContext& context, Watts default_power) {
  const auto bound = effective_bound(context.objective);
  Best best;
  for (std::size_t i = 1; i < job.size(); ++i) {
    const double time = std::exp(job[i].log_time);
    const double power = std::max(kLeastPower, std::exp(job[i].log_power));
    if (bound && time - 1 > *bound) continue;
    const auto budget = context.objective.power_budget;
    if (budget && default_power * power > *budget) continue;
    const double value = score(context.objective, time, power, default_power);
    if (value < best.score) best = {value, time - 1, i};
  }
  return best;
}

// The value below which `share` of them lie.
template <class Member>
auto quantile(std::vector<Best>& all, double share, Member member) {
  const auto at =
      all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
  std::ranges::nth_element(all, at, {}, member);
  return (*at).*member;
}

}  // namespace

std::optional<Expectation> expect_saving(const PolicyContext& context, const Window& at_default) {
  if (!at_default.power || !(at_default.power->value() > 0)) return std::nullopt;
  PolicyContext known = context;
  if (!known.default_values.sm_clock) known.default_values.sm_clock = at_default.sm_clock;
  if (!known.default_values.sm_clock || known.settings.size() < 2) return std::nullopt;
  // The memory clock is left out: whether it can fall shows only when it does.
  std::erase_if(known.settings, [](const Setting& one) { return one.memory_clock.has_value(); });
  if (known.settings.size() < 2) return std::nullopt;
  const Response response(known, usual_prior());
  Random random(derive_seed(context.seed, "expectation"));
  std::vector<Best> all;
  for (int i = 0; i < kDraws; ++i) {
    all.push_back(best_of(response.draw(random), known, *at_default.power));
  }
  Expectation expected;
  expected.low = 1 - quantile(all, 0.9, &Best::score);
  expected.median = 1 - quantile(all, 0.5, &Best::score);
  expected.high = 1 - quantile(all, 0.1, &Best::score);
  expected.slowdown = quantile(all, 0.5, &Best::slowdown);
  expected.setting = known.settings[quantile(all, 0.5, &Best::setting)];
  return expected;
}

}  // namespace hypermile
