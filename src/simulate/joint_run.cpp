// SPDX-License-Identifier: Apache-2.0
#include "simulate/joint_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "control/slack_keeper.h"
#include "policy/policies.h"
#include "sim/oracle.h"
#include "simulate/joint_bench.h"

namespace hypermile {
namespace {

constexpr double kLate = 2.0 / 3;  // of the job

PolicyContext context_for(const SimulatedJob& job, const StepPlan& plan,
                          const Setting& default_values) {
  PolicyContext context;
  for (const CurvePoint& point : truth_of(job).points) context.settings.push_back(point.setting);
  context.objective = job.objective;
  context.job_iterations = static_cast<double>(job.iterations);
  context.window_iterations = plan.window_iterations;
  context.settle_iterations = plan.settle_iterations;
  context.default_values = default_values;
  context.seed = job.seed;
  return context;
}

class JointPlayer {
 public:
  JointPlayer(const JointJob& job, std::string_view policy)
      : job_(job), name_(policy), bench_(job.job, work_of(job)) {
    outcome_.policy = name_;
  }

  Result<JointOutcome> run(const std::stop_token& stop) {
    ASSIGN_OR_RETURN(const StepPlan plan, bench_.watch());
    const PolicyContext context = context_for(job_.job, plan, bench_.default_values());
    ASSIGN_OR_RETURN(const auto policy, make_policy(name_, context));
    SlackKeeper keeper(context, job_.slack ? bench_.gpus() : std::vector{bench_.gpus().front()});
    while (bench_.running() && !stop.stop_requested()) {
      const Step step = policy->next();
      for (;;) {
        ASSIGN_OR_RETURN(const bool taken, take(step, context, keeper, *policy));
        if (taken || !bench_.running() || stop.stop_requested()) break;
      }
    }
    finish(keeper);
    return outcome_;
  }

 private:
  // One Window of the Step; true when the policy has had it.
  Result<bool> take(const Step& step, const PolicyContext& context, SlackKeeper& keeper,
                    Policy& policy) {
    SlackKeeper::Plan plan = keeper.plan(step);
    plan.settings.resize(job_.gpus, context.settings[step.setting]);
    if (!step.exploring) {
      outcome_.kept = context.settings[step.setting];
      if (!outcome_.settled_after) outcome_.settled_after = bench_.iterations();
    }
    RETURN_IF_ERROR(bench_.change_to(plan.settings));
    Step asked = step;
    asked.iterations = plan.iterations;
    ASSIGN_OR_RETURN(const auto window, bench_.measure(context.settings[step.setting], asked));
    mark_late();
    if (!window) return true;
    ++outcome_.windows;
    if (!window->joint.usable()) ++outcome_.unusable;
    if (step.exploring) ++outcome_.probes;
    if (!plan.reason.empty()) ++outcome_.slack_windows;
    const auto for_policy = keeper.observe(step, window->joint, window->ranks);
    if (for_policy) policy.observe(*for_policy);
    return for_policy.has_value();
  }

  JointTotals now() {
    return {bench_.iterations(), bench_.elapsed().value(), bench_.energy().value()};
  }

  void mark_late() {
    if (late_ || bench_.iterations() < kLate * static_cast<double>(job_.job.iterations)) return;
    late_ = now();
  }

  void finish(const SlackKeeper& keeper) {
    outcome_.job = now();
    const JointTotals from = late_.value_or(JointTotals());
    outcome_.late = {outcome_.job.iterations - from.iterations, outcome_.job.seconds - from.seconds,
                     outcome_.job.joules - from.joules};
    outcome_.kept_each = keeper.kept();
  }

  const JointJob& job_;
  std::string name_;
  JointBench bench_;
  JointOutcome outcome_;
  std::optional<JointTotals> late_;
};

}  // namespace

JointChange change(const JointTotals& run, const JointTotals& base) {
  const double time = run.seconds / run.iterations;
  const double base_time = base.seconds / base.iterations;
  return {time / base_time - 1,
          1 - (run.joules / run.iterations) / (base.joules / base.iterations)};
}

std::vector<double> work_of(const JointJob& job) {
  std::vector<double> work(job.gpus, 1);
  if (job.gpus < 2 || job.imbalance == 0) return work;
  for (std::size_t i = 0; i < job.gpus; ++i) {
    work[i] = 1 - job.imbalance * static_cast<double>(i) / static_cast<double>(job.gpus - 1);
  }
  Random random(derive_seed(job.job.seed, "work"));
  for (std::size_t i = work.size() - 1; i > 0; --i) {
    const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1));
    std::swap(work[i], work[other]);
  }
  return work;
}

Result<JointOutcome> play_joint(const JointJob& job, std::string_view policy,
                                std::stop_token stop) {
  return JointPlayer(job, policy).run(stop);
}

}  // namespace hypermile
