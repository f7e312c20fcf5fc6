// SPDX-License-Identifier: Apache-2.0
#include "trial/joint_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "control/job_memory.h"
#include "record/machine_facts.h"
#include "trial/virtual_rig.h"

namespace hypermile {
namespace {

constexpr double kLate = 2.0 / 3;  // of the job's iterations

class JointRun {
 public:
  JointRun(const JointJob& joint, std::string_view policy)
      : joint_(joint), job_(joint.job), clock_(joint.job.unix_time) {
    outcome_.policy = policy;
    if (joint.cache == nullptr) return;
    memory_.emplace(*joint.cache, JobMemory::Terms{outcome_.policy, job_.knobs, job_.objective});
  }

  Result<JointOutcome> run(std::unique_ptr<LineSink> sink, const std::stop_token& stop) {
    ASSIGN_OR_RETURN(const auto training, SimulatedTraining::start(clock_, job_, training_terms()));
    VirtualRig rig(clock_, *training, rig_terms(std::move(sink)));
    RETURN_IF_ERROR(rig.log().append(start_event(*training)));
    play(rig, *training, stop);
    rig.finish();
    outcome_.control = rig.controller().summary();
    if (memory_) {
      outcome_.recalled = memory_->recalled() > 0;
      RETURN_IF_ERROR(memory_->keep(outcome_.control, clock_.unix_time()));
    }
    RETURN_IF_ERROR(rig.log().append(end_event()));
    return std::move(outcome_);
  }

 private:
  SimulatedTraining::Terms training_terms() const {
    SimulatedTraining::Terms terms;
    terms.cards.clear();
    for (std::size_t i = 0; i < joint_.gpus; ++i) {
      // Jobs of neighbouring seeds must not share cards.
      const std::uint64_t seed = job_.seed * 1000 + i;
      terms.cards.push_back({.seed = seed,
                             .effects = job_.effects,
                             .blocking_requests = false,
                             .run_seed = derive_seed(seed + (joint_.run << 32), "run")});
    }
    terms.work = work_of(joint_);
    terms.progress = job_.progress;
    terms.seed = job_.seed;
    return terms;
  }

  RigTerms rig_terms(std::unique_ptr<LineSink> sink) {
    ControllerOptions control;
    control.policy = outcome_.policy;
    control.guard = job_.guard || outcome_.policy == "hypermile";
    control.objective = job_.objective;
    control.steady = job_.steady;
    control.knobs = job_.knobs;
    control.job_iterations = static_cast<double>(job_.iterations);
    control.seed = job_.seed;
    control.slack = joint_.slack;
    return {.control = std::move(control),
            .make_policy = memory_ ? memory_->maker() : nullptr,
            .sink = std::move(sink)};
  }

  void play(VirtualRig& rig, SimulatedTraining& training, const std::stop_token& stop) {
    const TrueTotals start = training.totals();
    TrueTotals late = start;
    const double late_from = kLate * static_cast<double>(job_.iterations);
    while (training.running() && !stop.stop_requested()) {
      rig.step();
      if (late.iterations <= 0 && training.card().iterations() >= late_from) {
        late = training.totals();
      }
    }
    outcome_.interrupted = training.running();
    const TrueTotals last = training.totals();
    outcome_.job = last - start;
    outcome_.late = last - late;
  }

  RunStart start_event(SimulatedTraining& training) const {
    std::vector<GpuIdentity> gpus;
    for (const Gpu* card : training.cards()) gpus.push_back(card->identity());
    RunStart start = describe_run(clock_, {"hypermile", "simulate"}, gpus);
    start.run = RunId(fmt::format("{}x{}-{}-{}-{}", job_.sheet.key, gpus.size(), job_.workload.key,
                                  outcome_.policy, job_.seed));
    start.environment = {{"simulated", "true"},
                         {"gpu", job_.sheet.key},
                         {"gpus", fmt::format("{}", gpus.size())},
                         {"workload", job_.workload.key},
                         {"policy", outcome_.policy},
                         {"seed", fmt::format("{}", job_.seed)},
                         {"objective", to_string(job_.objective)}};
    return start;
  }
  RunEnd end_event() const {
    return {0,
            outcome_.interrupted ? "interrupted" : "the job is done",
            {{"seconds", outcome_.job.seconds},
             {"joules", outcome_.job.joules},
             {"iterations", outcome_.job.iterations}}};
  }

  const JointJob& joint_;
  const SimulatedJob& job_;
  VirtualClock clock_;
  std::optional<JobMemory> memory_;
  JointOutcome outcome_;
};

}  // namespace

const PhaseControl* JointOutcome::training() const {
  const auto most = std::ranges::max_element(control.phases, {}, &PhaseControl::iterations);
  return most != control.phases.end() ? &*most : nullptr;
}

JointChange change(const TrueTotals& run, const TrueTotals& base) {
  return {(run.seconds / run.iterations) / (base.seconds / base.iterations) - 1,
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
                                std::unique_ptr<LineSink> sink, const std::stop_token& stop) {
  return JointRun(job, policy).run(std::move(sink), stop);
}

}  // namespace hypermile
