// SPDX-License-Identifier: Apache-2.0
//
// libhypermile_python.so: what the Python package calls through ctypes, so that one build serves
// every Python. python/hypermile/_core.py is its only user and comes in the same wheel, so this
// interface may change with any version. Ticks are those of include/hypermile.h.
//
// A call that fails returns a null pointer or 0, and hypermile_python_problem() says why. Texts
// belong to the library and last until the calling thread's next call. No exception leaves it.
#pragma once

#include <cstdint>
#include <memory>

namespace hypermile {
struct PythonGpu;
class PythonLease;
class PythonExecution;
}  // namespace hypermile

#define HYPERMILE_PYTHON_CALL extern "C" __attribute__((visibility("default")))

// One line about the calling thread's last failed call.
HYPERMILE_PYTHON_CALL const char* hypermile_python_problem();

// ---- Ticks. They hold the interpreter's lock, because they never wait.
HYPERMILE_PYTHON_CALL void hypermile_python_listen_again();
HYPERMILE_PYTHON_CALL void hypermile_python_tell_device(std::uint32_t device);

// ---- One GPU. `name` is as for --gpu; a null pointer means the first that CUDA shows here.
using PythonGpuHandle = std::shared_ptr<hypermile::PythonGpu>;
HYPERMILE_PYTHON_CALL PythonGpuHandle* hypermile_python_gpu_open(const char* name);
// JSON: uuid, name, sm_clocks, memory_clocks (MHz).
HYPERMILE_PYTHON_CALL const char* hypermile_python_gpu_facts(PythonGpuHandle* gpu);
// JSON: time_s, energy_j, power_w, sm_mhz, mem_mhz; null where unknown.
HYPERMILE_PYTHON_CALL const char* hypermile_python_gpu_read(PythonGpuHandle* gpu);
HYPERMILE_PYTHON_CALL void hypermile_python_gpu_close(PythonGpuHandle* gpu);

// ---- The right to change a GPU. `guardian` is the path of hypermiled, or "" for the daemon alone.
HYPERMILE_PYTHON_CALL hypermile::PythonLease* hypermile_python_lease_open(PythonGpuHandle* gpu,
                                                                          const char* program,
                                                                          const char* guardian);
// The setting that was applied, perhaps clamped to what is allowed.
HYPERMILE_PYTHON_CALL const char* hypermile_python_lease_set(hypermile::PythonLease* lease,
                                                             const char* setting);
HYPERMILE_PYTHON_CALL int hypermile_python_lease_release(hypermile::PythonLease* lease);
HYPERMILE_PYTHON_CALL void hypermile_python_lease_close(hypermile::PythonLease* lease);
// The setting in hypermile's notation.
HYPERMILE_PYTHON_CALL const char* hypermile_python_check_setting(const char* text);

// ---- A plan that is carried out. `options` is JSON: segments ([setting, seconds] each), uniform,
// latency_s, most_per_second, trial (an object or null) and guardian (null changes no GPU).
HYPERMILE_PYTHON_CALL hypermile::PythonExecution* hypermile_python_execution_start(
    PythonGpuHandle* gpu, const char* options);
// Segment `number` begins. Never waits; one thread at a time, so Python keeps its lock.
HYPERMILE_PYTHON_CALL void hypermile_python_execution_post(hypermile::PythonExecution* execution,
                                                           std::uint32_t number);
// JSON: the members of PlanReport.
HYPERMILE_PYTHON_CALL const char* hypermile_python_execution_report(
    hypermile::PythonExecution* execution);
// Returns after the GPU is restored. The execution can still be posted to, which does nothing.
HYPERMILE_PYTHON_CALL void hypermile_python_execution_stop(hypermile::PythonExecution* execution);
HYPERMILE_PYTHON_CALL void hypermile_python_execution_close(hypermile::PythonExecution* execution);
