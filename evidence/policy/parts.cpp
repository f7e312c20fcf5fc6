// SPDX-License-Identifier: Apache-2.0
#include "evidence/policy/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "evidence/policy/careful_rival.h"
#include "policy/policies.h"
#include "policy/response.h"

namespace hypermile {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

ResponsePrior with_every_knob(void (*change)(KnobPrior& knob)) {
  ResponsePrior prior = usual_prior();
  for (KnobPrior* knob : {&prior.sm_time, &prior.sm_power, &prior.limit_time, &prior.limit_power,
                          &prior.memory_time, &prior.memory_power}) {
    change(*knob);
  }
  return prior;
}

// Nothing is known of slopes: either sign is as likely, and no knob tells of another.
const ResponsePrior& flat_prior() {
  static const ResponsePrior kPrior = [] {
    ResponsePrior prior = with_every_knob([](KnobPrior& knob) {
      knob.slope = 0;
      knob.slope_sd = 1;
    });
    prior.either_or = 0;
    return prior;
  }();
  return kPrior;
}

// Curves of time and power are straight lines.
const ResponsePrior& straight_prior() {
  static const ResponsePrior kPrior = with_every_knob([](KnobPrior& knob) { knob.bend = 0; });
  return kPrior;
}

}  // namespace

const std::vector<AblationRow>& ablation_rows() {
  static const std::vector<AblationRow> kRows = {
      {.name = "whole"},
      {.name = "with the guard", .guard = true},
      {.name = "one setting is kept, no mix", .alter = [](auto& c) { c.steady = true; }},
      {.name = "nothing slower than the bound in a mix",
       .alter = [](auto& c) { c.search.crawl = 1; }},
      {.name = "pace and offsets are taken as constant", .follow_pace = false},
      {.name = "no further default windows are planned",
       .alter = [](auto& c) { c.search.plan_steps = kNever; }},
      {.name = "no default windows but planned ones",
       .alter = [](auto& c) { c.search.default_windows = kNever; }},
      {.name = "no margin for the error of the pace",
       .alter = [](auto& c) { c.search.surely = 0; }},
      {.name = "looks are not cut", .alter = [](auto& c) { c.search.cut_iterations = kNever; }},
      {.name = "looks need not pay for themselves",
       .alter = [](auto& c) { c.search.look_pays = 0; }},
      {.name = "a look may lose anything",
       .alter = [](auto& c) { c.search.look_risk = c.search.memory_risk = kNever; }},
      {.name = "slopes are not known beforehand",
       .alter = [](auto& c) { c.prior = &flat_prior(); }},
      {.name = "curves are straight", .alter = [](auto& c) { c.prior = &straight_prior(); }},
      {.name = "bisection", .policy = "bisection-margin"},
      {.name = "bisection with the guard", .policy = "bisection-margin", .guard = true},
      {.name = "bisection with the guard, cuts and a followed default",
       .policy = "bisection-margin",
       .guard = true,
       .careful = true},
  };
  return kRows;
}

Result<RunResult> play_row(const Curve& curve, std::string_view name, std::size_t repeat,
                           const Conditions& conditions) {
  const auto row = std::ranges::find(ablation_rows(), name, &AblationRow::name);
  if (row == ablation_rows().end()) {
    return Error{ErrorCode::kUsage, fmt::format("the ablation has no row '{}'", name), ""};
  }
  Conditions own = conditions;
  own.guard = row->guard;
  own.follow_pace = row->follow_pace;
  const std::uint64_t seed = replay_seed(curve, "ablation", repeat, own);
  PolicyContext context = context_for(curve, own, seed);
  if (row->alter != nullptr) row->alter(context);
  ASSIGN_OR_RETURN(auto policy, make_policy(row->policy, context));
  if (row->careful) policy = make_careful(std::move(policy), context);
  ASSIGN_OR_RETURN(RunResult result, replay(curve, *policy, own, seed));
  result.policy = name;
  result.repeat = repeat;
  return result;
}

}  // namespace hypermile
