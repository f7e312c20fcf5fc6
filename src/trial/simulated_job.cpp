// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_job.h"

#include "sim/advance.h"
#include "sim/steady_state.h"

namespace hypermile {

Curve truth_of(const SimulatedJob& job) {
  const SimGpuState card = make_sim_gpu(job.sheet.constants, job.seed, job.effects);
  return true_curve(job.sheet, job.workload, job.knobs, card.card, job.effects);
}

}  // namespace hypermile
