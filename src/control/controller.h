// SPDX-License-Identifier: Apache-2.0
//
// The loop on a living job: watches it at the default, lets a policy search the Setting of least
// energy within the user's bound, holds it, keeps measuring, and gives everything back. It follows
// a Session (job_follower.h), owns no thread, knows no GPU but through sensors and a SettingPort,
// and runs a day of simulated training in virtual time by the same code as a real job.
//
//   Controller controller({.port = port}, options);
//   Session session({…, .follower = &controller}, …);
//   session.run(ended);  // at the end every GPU is back at what it had
//
// All GPUs of a job are told the same and judged together: the slowest sets the pace, their power
// adds up (joint_window.h). Every phase of the job (training, evaluation) has a policy and
// knowledge of its own. Whatever goes wrong leads to the driver's default; the job itself cannot be
// reached from here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/control_summary.h"
#include "control/job_follower.h"
#include "control/setting_port.h"
#include "measure/performance_counters.h"
#include "policy/policy.h"

namespace hypermile {

struct ControllerOptions {
  std::string policy = "hypermile";
  Objective objective = {};
  std::vector<Knob> knobs = {Knob::kSmClock, Knob::kMemoryClock};
  // Length of the job as the user counts it (optimizer steps); absent: guessed as it runs.
  std::optional<double> job_iterations = {};
  // To choose from, the default (empty) first; empty: what the cards list (gpu/setting_grid.h).
  std::vector<Setting> settings = {};
  std::uint64_t seed = 1;
  // Goes back to the default where the job as a whole comes near the bound, whatever the policy
  // believes (slowdown_account.h).
  bool guard = true;
  // GPUs that wait for the others are told less once a Setting is held (slack_keeper.h).
  bool slack = true;
};

// A phase of the job for which a policy is wanted.
struct PhaseFacts {
  const ProcessProgress* process = nullptr;  // whose iterations are counted
  std::uint32_t phase = 0;
  std::vector<const GpuWatch*> gpus;  // of the job, in order of the claim
  Seconds typical;                    // time of an iteration at the default
};

struct ControllerParts {
  SettingPort& port;
  // Makes the policy of a phase; empty: make_policy(options.policy, context). For whoever knows
  // more than the Controller (a judge the truth, a cache what an earlier run found).
  std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts& facts, PolicyContext context)>
      make_policy = {};
  // Who predicts other Settings for the policy of a phase; empty: nobody.
  std::function<PredictRatios(const PhaseFacts& facts, const PolicyContext& context)> predict = {};
  // Reads performance counters while features are collected; null: nobody.
  PerformanceCounters* counters = nullptr;
};

class Controller final : public JobFollower {
 public:
  // What `parts` refers to must outlive it. The policy's name must be a known one.
  Controller(ControllerParts parts, ControllerOptions options);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void start(FollowerDesk& desk) override;
  void gpu_opened(GpuWatch& gpu) override;
  void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh,
                std::span<GpuWatch* const> gpus) override;
  void progress_changed(const ProcessProgress& process, const ProgressChange& change) override;
  void reading(GpuWatch& gpu, const SamplerReading& reading) override;
  void seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen,
               std::span<const std::int64_t> ours) override;
  Instant step(Instant now) override;
  void finish(Instant now) override;

  ControlState state() const;
  const std::string& reason() const;  // of the state, in words
  ControlSummary summary() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace hypermile
