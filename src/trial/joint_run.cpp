// SPDX-License-Identifier: Apache-2.0
#include "trial/joint_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/random.h"
#include "control/controller.h"
#include "control/direct_port.h"
#include "control/job_memory.h"
#include "control/session.h"
#include "record/machine_facts.h"
#include "sim/sim_ranks.h"
#include "trial/ring_training.h"

namespace hypermile {
namespace {

constexpr double kLate = 2.0 / 3;  // of the job

class JointPlayer {
 public:
  JointPlayer(const JointJob& job, std::string_view policy, std::unique_ptr<LineSink> sink)
      : joint_(job), job_(job.job), clock_(job.job.unix_time) {
    outcome_.policy = policy;
    for (std::size_t i = 0; i < job.gpus; ++i) {
      // Neighbouring jobs must not share cards.
      const std::uint64_t seed = job_.seed * 1000 + i;
      cards_.push_back(std::make_unique<SimGpu>(
          job_.sheet, clock_,
          SimGpuOptions{seed, job_.effects, false, derive_seed(seed + (job.run << 32), "run")}));
    }
    if (sink) log_.emplace(std::move(sink), clock_);
  }

  Result<JointOutcome> run(const std::stop_token& stop) {
    if (log_) RETURN_IF_ERROR(log_->append(describe()));
    const auto shows = job_.progress == ProgressKind::kTicks ? RingTraining::Shows::kTicks
                                                             : RingTraining::Shows::kLaunches;
    ASSIGN_OR_RETURN(const auto training,
                     RingTraining::make(*cards_.front(), job_.workload.load, shows, job_.seed,
                                        static_cast<std::uint32_t>(cards_.size())));
    DirectPort port(as<Gpu>());
    std::optional<JobMemory> memory;
    if (joint_.cache != nullptr) {
      memory.emplace(*joint_.cache, JobMemory::Terms{outcome_.policy, job_.knobs, job_.objective});
    }
    Controller controller({.port = port, .make_policy = memory ? memory->maker() : nullptr},
                          controller_options());
    Session session(session_parts(*training, controller));
    SimRanks ranks(as<SimGpu>());
    ranks.start(job_.workload, job_.iterations, work_of(joint_));
    play(*training, session, stop);
    session.finish();
    outcome_.control = controller.summary();
    if (memory) {
      outcome_.recalled = memory->recalled() > 0;
      RETURN_IF_ERROR(memory->keep(outcome_.control, clock_.unix_time()));
    }
    if (log_) RETURN_IF_ERROR(log_->append(end(stop.stop_requested())));
    return std::move(outcome_);
  }

 private:
  template <class As>
  std::vector<As*> as() const {
    std::vector<As*> cards;
    for (const auto& card : cards_) cards.push_back(card.get());
    return cards;
  }

  void play(RingTraining& training, Session& session, const std::stop_token& stop) {
    const JointTotals start = now();
    JointTotals late = start;
    const double two_thirds = kLate * static_cast<double>(job_.iterations);
    while (cards_.front()->running() && !stop.stop_requested()) {
      training.play(clock_.now());
      clock_.sleep_until(session.step());
      if (late.iterations <= 0 && cards_.front()->iterations() >= two_thirds) late = now();
    }
    const JointTotals last = now();
    outcome_.job = difference(last, start);
    outcome_.late = difference(last, late);
  }

  JointTotals now() {
    JointTotals totals;
    totals.iterations = cards_.front()->iterations();
    totals.seconds = clock_.now().since_origin().value();
    for (const auto& card : cards_) totals.joules += card->true_view().totals.energy_j;
    return totals;
  }
  static JointTotals difference(const JointTotals& to, const JointTotals& from) {
    return {to.iterations - from.iterations, to.seconds - from.seconds, to.joules - from.joules};
  }

  RunStart describe() {
    std::vector<GpuIdentity> gpus;
    for (const auto& card : cards_) gpus.push_back(card->identity());
    RunStart start = describe_run(clock_, {"hypermile", "simulate"}, gpus);
    start.run = RunId(fmt::format("{}x{}-{}-{}-{}", job_.sheet.key, cards_.size(),
                                  job_.workload.key, outcome_.policy, job_.seed));
    start.environment = {{"simulated", "true"},
                         {"gpu", job_.sheet.key},
                         {"gpus", fmt::format("{}", cards_.size())},
                         {"workload", job_.workload.key},
                         {"policy", outcome_.policy},
                         {"seed", fmt::format("{}", job_.seed)},
                         {"objective", to_string(job_.objective)}};
    return start;
  }
  RunEnd end(bool stopped) const {
    return {0,
            stopped ? "interrupted" : "the job is done",
            {{"seconds", outcome_.job.seconds},
             {"joules", outcome_.job.joules},
             {"iterations", outcome_.job.iterations}}};
  }

  ControllerOptions controller_options() const {
    ControllerOptions options;
    options.policy = outcome_.policy;
    options.objective = job_.objective;
    options.knobs = job_.knobs;
    options.job_iterations = static_cast<double>(job_.iterations);
    options.seed = job_.seed;
    options.slack = joint_.slack;
    return options;
  }

  SessionParts session_parts(RingTraining& training, Controller& controller) {
    return {.clock = clock_,
            .folder = training.folder(),
            .open_gpu =
                [this](const DeviceName& name) {
                  std::promise<Result<std::shared_ptr<Gpu>>> opened;
                  opened.set_value(
                      std::shared_ptr<Gpu>(std::shared_ptr<void>(), cards_[name.device].get()));
                  return opened.get_future();
                },
            .visible_devices = {},
            .log = log_ ? &*log_ : nullptr,
            .warn = {},
            .controller = &controller};
  }

  const JointJob& joint_;
  const SimulatedJob& job_;
  VirtualClock clock_;
  std::vector<std::unique_ptr<SimGpu>> cards_;
  std::optional<EventLog> log_;
  JointOutcome outcome_;
};

}  // namespace

const PhaseControl* JointOutcome::training() const {
  const auto most = std::ranges::max_element(control.phases, {}, &PhaseControl::iterations);
  return most != control.phases.end() ? &*most : nullptr;
}

JointChange change(const JointTotals& run, const JointTotals& base) {
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
                                std::unique_ptr<LineSink> sink, std::stop_token stop) {
  return JointPlayer(job, policy, std::move(sink)).run(stop);
}

}  // namespace hypermile
