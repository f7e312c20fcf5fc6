// SPDX-License-Identifier: Apache-2.0
#include "policy/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/nearest.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

struct Row {
  PolicyEntry entry;
  PolicyMaker make;  // nullptr: made by name below, because it can be refused
};

constexpr std::string_view kFixed = "fixed:";

const Row kTable[] = {
    {{"hypermile", "the job's time shared between two Settings, steered by an account of its loss"},
     &make_hypermile_policy},
    {{"default", "leave the GPU to its driver"}, &make_default_policy},
    {{"fixed:SETTING", "one Setting throughout, e.g. fixed:sm=1200 or fixed:95%"}, nullptr},
    {{"oracle", "the best Setting at once; for `evaluate` only"}, nullptr},
    {{"zeus", "Zeus: sweep every value of the knob once, keep the best"}, &make_zeus_policy},
    {{"gpoeo", "GPOEO, corrected: local golden section around a predicted Setting"},
     &make_gpoeo_policy},
    {{"gpoeo-published", "GPOEO as its repository has it: NVML traces, detector, model, search"},
     nullptr},
    {{"mf-gpoeo", "MF-GPOEO: PID controller on the slowdown"}, &make_mf_gpoeo_policy},
    {{"odpp", "ODPP: piecewise-linear model of seven samples"}, &make_odpp_policy},
    {{"depo", "DEPO: golden section over the whole knob"}, &make_depo_policy},
    {{"bisection", "bisection on the slowdown, one Window a probe"}, &make_bisection_policy},
    {{"bisection-margin", "the same with a margin and repeated Windows"},
     &make_bisection_margin_policy},
    {{"sweep9", "sweep of nine levels, keep the best"}, &make_sweep9_policy},
};

}  // namespace

const std::vector<PolicyEntry>& policy_table() {
  static const std::vector<PolicyEntry> kEntries = [] {
    std::vector<PolicyEntry> entries;
    for (const Row& row : kTable) entries.push_back(row.entry);
    return entries;
  }();
  return kEntries;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyContext& context) {
  if (context.settings.empty() || !context.settings.front().empty()) {
    return Error{ErrorCode::kInternal, "a policy's first Setting must be the driver's default"};
  }
  if (name.starts_with(kFixed)) return make_fixed_policy(name.substr(kFixed.size()), context);
  if (name == "oracle") return make_oracle_policy(context);
  if (name == "gpoeo-published") return make_gpoeo_published_policy(context);
  const auto row = std::ranges::find_if(
      kTable, [&](const Row& r) { return r.make != nullptr && r.entry.name == name; });
  if (row != std::end(kTable)) return row->make(context);
  std::vector<std::string> known;
  for (const Row& r : kTable) known.emplace_back(r.entry.name);
  return Error{ErrorCode::kUsage, fmt::format("unknown policy '{}'", name),
               suggestion(name, known)};
}

}  // namespace hypermile
