// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/summary.h"

#include <algorithm>
#include <map>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kLoss = 0.003;
constexpr int kResamples = 400;

double share(double saved, double possible) {
  return possible > 0 ? saved / possible : 0;
}

struct Sums {
  double oracle = 0;
  double saved = 0;
};

Interval bootstrap_share(std::span<const RunResult* const> runs) {
  std::map<JobKey, Sums> by_curve;
  for (const RunResult* run : runs) {
    Sums& sums = by_curve[run->key];
    sums.oracle += run->oracle_saved;
    sums.saved += run->saved;
  }
  std::vector<Sums> curves;
  for (const auto& [key, sums] : by_curve) curves.push_back(sums);
  Random random(1);
  std::vector<double> shares;
  for (int i = 0; i < kResamples; ++i) {
    Sums total;
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const Sums& drawn = curves[random.bits() % curves.size()];
      total.oracle += drawn.oracle;
      total.saved += drawn.saved;
    }
    shares.push_back(share(total.saved, total.oracle));
  }
  std::ranges::sort(shares);
  return Interval{shares[kResamples * 25 / 1000], shares[kResamples * 975 / 1000 - 1]};
}

double median_held_after(std::span<const RunResult* const> runs) {
  std::vector<double> held;
  for (const RunResult* run : runs) {
    if (run->held_after) held.push_back(*run->held_after);
  }
  std::ranges::sort(held);
  return held.empty() ? 0 : held[held.size() / 2];
}

PolicySummary summarise_one(const std::string& policy, std::span<const RunResult* const> runs) {
  PolicySummary summary;
  summary.policy = policy;
  summary.runs = runs.size();
  double final_saved = 0;
  summary.max_slowdown = runs.front()->slowdown;
  for (const RunResult* run : runs) {
    summary.mean_oracle_saved += run->oracle_saved;
    summary.mean_saved += run->saved;
    final_saved += run->final_saved;
    summary.mean_slowdown += run->slowdown;
    summary.max_slowdown = std::max(summary.max_slowdown, run->slowdown);
    summary.violations_job += run->violated_job;
    summary.violations_final += run->violated_final;
    summary.violations_final_half_point += run->violated_final_half_point;
    summary.losses += run->saved < -kLoss;
    summary.ends_at_default += run->kept.size() == 1 && run->kept.front().setting.empty();
    summary.mean_probes += static_cast<double>(run->probes);
    summary.mean_settings_visited += static_cast<double>(run->settings_visited);
  }
  const auto n = static_cast<double>(runs.size());
  summary.share_of_oracle = share(summary.mean_saved, summary.mean_oracle_saved);
  summary.final_share_of_oracle = share(final_saved, summary.mean_oracle_saved);
  for (double* mean : {&summary.mean_oracle_saved, &summary.mean_saved, &summary.mean_slowdown,
                       &summary.mean_probes, &summary.mean_settings_visited}) {
    *mean /= n;
  }
  summary.median_held_after = median_held_after(runs);
  summary.share_interval = bootstrap_share(runs);
  return summary;
}

}  // namespace

std::vector<PolicySummary> summarise(std::span<const RunResult> runs) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const RunResult*>> groups;
  for (const RunResult& run : runs) {
    auto [group, is_new] = groups.try_emplace(run.policy);
    if (is_new) order.push_back(run.policy);
    group->second.push_back(&run);
  }
  std::vector<PolicySummary> summaries;
  for (const std::string& policy : order) {
    summaries.push_back(summarise_one(policy, groups.at(policy)));
  }
  return summaries;
}

}  // namespace hypermile
