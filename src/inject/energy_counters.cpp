// SPDX-License-Identifier: Apache-2.0
#include "inject/energy_counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hypermile {
namespace {

// The part of NVML's interface that is used here. A return value of 0 means success.
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(Process) == 24);

constexpr unsigned kMostProcesses = 256;
constexpr std::size_t kLongestName = 96;

struct Nvml {
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, Process*) = nullptr;
  const char* problem = nullptr;  // null until NVML was loaded; then "" or what is wrong
};

constinit Nvml nvml;

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

void load() {
  const char* path = ::getenv("HYPERMILE_NVML");
  void* library = ::dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    nvml.problem = "NVIDIA's management library was not found: install the NVIDIA driver";
    return;
  }
  find(library, "nvmlInit_v2", nvml.init);
  find(library, "nvmlDeviceGetCount_v2", nvml.count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.by_index);
  find(library, "nvmlDeviceGetHandleByUUID", nvml.by_uuid);
  find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes);
  if (!nvml.init || !nvml.count || !nvml.by_index || !nvml.by_uuid || !nvml.energy) {
    nvml.problem = "the NVIDIA driver is too old to report energy: its NVML lacks functions";
  } else if (nvml.init() != 0) {
    nvml.problem = "the NVIDIA driver does not answer: check whether nvidia-smi works";
  } else {
    nvml.problem = "";
  }
}

bool runs_here(void* device) {
  if (!nvml.processes) return false;
  Process seen[kMostProcesses];
  unsigned count = kMostProcesses;
  if (nvml.processes(device, &count, seen) != 0) return false;
  for (unsigned i = 0; i < count && i < kMostProcesses; ++i) {
    if (seen[i].pid == static_cast<unsigned>(::getpid())) return true;
  }
  return false;
}

void* device_of(const char* name) {
  void* device = nullptr;
  if (::strncmp(name, "GPU-", 4) == 0) {
    return nvml.by_uuid(name, &device) == 0 ? device : nullptr;
  }
  char* end = nullptr;
  const unsigned long index = ::strtoul(name, &end, 10);
  if (*name < '0' || *name > '9' || *end != '\0' || index > 0xFFFF) return nullptr;
  return nvml.by_index(static_cast<unsigned>(index), &device) == 0 ? device : nullptr;
}

void add_named(const char* names, EnergyCounters& counters) {
  while (*names != '\0') {
    const std::size_t length = ::strcspn(names, ",");
    char name[kLongestName] = "";
    if (length < sizeof name) ::memcpy(name, names, length);
    void* device = length < sizeof name ? device_of(name) : nullptr;
    if (!device || counters.count == kMostCounters) {
      counters.count = 0;
      ::snprintf(counters.reason, sizeof counters.reason,
                 "'%.*s' names no GPU of this machine, or too many are named",
                 static_cast<int>(length < 64 ? length : 64), names);
      return;
    }
    counters.devices[counters.count++] = device;
    names += length;
    if (*names == ',') ++names;
  }
}

// If nobody names GPUs: those that this process runs on, or else the first.
void add_own(EnergyCounters& counters) {
  unsigned here = 0;
  void* device = nullptr;
  if (nvml.count(&here) != 0) here = 0;
  for (unsigned i = 0; i < here && counters.count < kMostCounters; ++i) {
    if (nvml.by_index(i, &device) == 0 && runs_here(device)) {
      counters.devices[counters.count++] = device;
    }
  }
  if (counters.count == 0 && here > 0 && nvml.by_index(0, &device) == 0) {
    counters.devices[counters.count++] = device;
  }
}

}  // namespace

void EnergyCounters::open(const char* gpus) {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, load);
  if (*nvml.problem != '\0') {
    ::snprintf(reason, sizeof reason, "%s", nvml.problem);
    return;
  }
  const char* names = gpus ? gpus : ::getenv("CUDA_VISIBLE_DEVICES");
  if (names) {
    add_named(names, *this);
  } else {
    add_own(*this);
  }
  if (count == 0 && *reason == '\0') {
    ::snprintf(reason, sizeof reason, "there is no GPU to measure");
  }
}

bool EnergyCounters::read(double (&joules)[kMostCounters]) {
  for (unsigned i = 0; i < count; ++i) {
    unsigned long long millijoules = 0;
    if (const int status = nvml.energy(devices[i], &millijoules); status != 0) {
      ::snprintf(reason, sizeof reason,
                 "a GPU reports no energy (NVML error %d): it has no energy counter, or is lost",
                 status);
      return false;
    }
    joules[i] = static_cast<double>(millijoules) / 1e3;
  }
  return true;
}

}  // namespace hypermile
