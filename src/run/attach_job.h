// SPDX-License-Identifier: Apache-2.0
//
// What run_job.h does, for a job that somebody else started; for attach and for sweep --pid. Clocks
// are moved only where the job carries our library or ticks, because nothing else tells how fast it
// goes; otherwise its GPU is watched, and one line says why. Ends with the job or with world.stop,
// and gives the GPUs back. The job itself is never touched.
#pragma once

#include <string>

#include "run/job_outcome.h"
#include "run/run_request.h"
#include "run/running_job.h"

namespace hypermile {

// The job on the GPU of this name (as typed): the first of its processes that carries our library
// or ticks, else the first that can be looked at. kNotFound where no process uses the GPU.
Result<RunningJob> find_job_on(const std::string& gpu, Clock& clock);

// Returns when the job's report is written. kNotFound where the job has ended already; kNotReady
// where a sweep is wanted and the job cannot be timed.
Result<JobOutcome> attach_job(const RunningJob& job, const RunRequest& request,
                              const RunWorld& world);

}  // namespace hypermile
