// SPDX-License-Identifier: Apache-2.0
#include "control/job_memory.h"

#include <algorithm>

#include "policy/policies.h"

namespace hypermile {
namespace {

// Fewer Windows than this at a Setting are not worth remembering.
constexpr int kLeastWindows = 2;

}  // namespace

JobMemory::Maker JobMemory::maker(Maker then) {
  return [this, then = std::move(then)](const PhaseFacts& facts,
                                        PolicyContext context) -> Result<std::unique_ptr<Policy>> {
    recall(facts, context);
    return then ? then(facts, std::move(context)) : make_policy(terms_.policy, context);
  };
}

void JobMemory::recall(const PhaseFacts& facts, PolicyContext& context) {
  const Key key{facts.process->pid(), facts.phase};
  // A phase that is searched again has changed: nothing that is remembered of it helps.
  if (met_.contains(key)) return;
  std::vector<NamedCount> kernels;
  for (const auto& kernel : facts.process->kernel_mix(facts.phase)) {
    kernels.push_back({kernel.name, kernel.count});
  }
  Met met{{}, fingerprint_of(kernels), facts.typical, false};
  if (met.fingerprint.kernels.empty()) return;  // ticks alone do not tell one job from another
  for (const GpuWatch* gpu : facts.gpus) {
    met.terms.gpus.push_back(gpu->identity().name);
    met.terms.driver = gpu->identity().driver_version;
  }
  met.terms.knobs = terms_.knobs;
  met.terms.objective = terms_.objective;
  const CachedJob* known = cache_.find(met.terms, met.fingerprint, met.typical);
  if (known != nullptr) {
    const auto setting = std::ranges::find(context.settings, known->kept);
    met.recalled = setting != context.settings.end();
    if (met.recalled) {
      context.remembered = {static_cast<std::size_t>(setting - context.settings.begin()),
                            known->time_ratio, known->power_ratio};
      ++recalled_;
    }
  }
  met_.emplace(key, std::move(met));
}

Result<void> JobMemory::keep(const ControlSummary& summary, double unix_time) {
  Result<void> result;
  for (const PhaseControl& phase : summary.phases) {
    const auto met = met_.find({phase.process, phase.phase});
    if (met == met_.end()) continue;
    Result<void> kept = keep(met->second, phase, unix_time);
    if (result && !kept) result = std::move(kept);
  }
  return result;
}

Result<void> JobMemory::keep(const Met& met, const PhaseControl& phase, double unix_time) {
  const MeasuredSetting* normal = phase.at({});
  const MeasuredSetting* kept = phase.at(phase.kept);
  const bool known = phase.held && !phase.kept.empty() && normal != nullptr && kept != nullptr &&
                     normal->time.windows() >= kLeastWindows &&
                     kept->time.windows() >= kLeastWindows;
  if (!known) {
    if (!met.recalled) return {};
    return cache_.forget(met.terms, met.fingerprint, met.typical);
  }
  CachedJob job;
  job.terms = met.terms;
  job.fingerprint = met.fingerprint;
  job.default_time = met.typical;
  job.default_power = Watts(*normal->power.mean());
  job.kept = phase.kept;
  job.time_ratio = *kept->time.mean() / *normal->time.mean();
  job.power_ratio = *kept->power.mean() / *normal->power.mean();
  job.probes = phase.probes;
  job.used = unix_time;
  return cache_.store(std::move(job));
}

}  // namespace hypermile
