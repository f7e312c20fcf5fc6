// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_job.h"

#include "sim/sim_gpu.h"
#include "sim/steady_state.h"

namespace hypermile {

Curve truth_of(const SimulatedJob& job) {
  return true_curve(job.sheet, job.workload, job.knobs, card_of(job.sheet, job.seed), job.effects);
}

}  // namespace hypermile
