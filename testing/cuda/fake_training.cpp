// SPDX-License-Identifier: Apache-2.0
//
// A training program over the fake driver, for tests: does what its arguments say, one after
// another, and prints what happened. `fake_training help` lists the words.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hypermile.h"
#include "inject/nvtx_abi.h"
#include "testing/cuda/fake_cuda.h"

extern "C" int cuptiSubscribe(hypermile::cupti::Subscriber*, hypermile::cupti::Callback, void*);

namespace {

namespace cupti = hypermile::cupti;
namespace nvtx = hypermile::nvtx;
using Arguments = std::vector<std::string>;
using Subscribe = int (*)(cupti::Subscriber*, cupti::Callback, void*);

void* function_named(const std::string& name) {
  thread_local std::map<std::string, void*> known;
  void*& function = known[name];
  if (!function) function = fake_function(name.c_str());
  return function;
}

void launch(const std::string& name, void* stream = nullptr) {
  cuLaunchKernel(function_named(name), 4, 2, 1, 128, 1, 1, 0, stream, nullptr, nullptr);
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// ITERATIONS x KERNELS launches of kernel_0, kernel_1…, with MICROSECONDS between iterations.
void loop(const Arguments& a) {
  for (int i = 0; i < std::stoi(a[0]); ++i) {
    for (int k = 0; k < std::stoi(a[1]); ++k) launch("kernel_" + std::to_string(k));
    if (const double us = std::stod(a[2]); us > 0) sleep_for(us * 1e-6);
  }
}

// THREADS threads at once, each with LAUNCHES launches on its own stream.
void threads(const Arguments& a) {
  std::vector<std::thread> all;
  for (int t = 0; t < std::stoi(a[0]); ++t)
    all.emplace_back([t, count = std::stoi(a[1])] {
      auto* stream = reinterpret_cast<void*>(std::uintptr_t{0x100} + static_cast<unsigned>(t));
      for (int i = 0; i < count; ++i) launch("thread_" + std::to_string(t), stream);
    });
  for (std::thread& each : all) each.join();
}

// Launches once in every way, with a grid of 3 x 5 x 7 (or width x height).
void entries(const Arguments&) {
  void* stream = reinterpret_cast<void*>(0x700);
  const hypermile::cuda::LaunchConfig config{{3, 5, 7, 1, 1, 1, 0}, stream, nullptr, 0};
  hypermile::cuda::LaunchParams two[2] = {
      {function_named("multi"), {3, 5, 7, 1, 1, 1, 0}, stream, nullptr},
      {function_named("multi"), {3, 5, 7, 1, 1, 1, 0}, stream, nullptr}};
  cuLaunchKernel(function_named("plain"), 3, 5, 7, 1, 1, 1, 0, stream, nullptr, nullptr);
  cuLaunchKernel_ptsz(function_named("plain_ptsz"), 3, 5, 7, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  cuLaunchKernelEx(&config, function_named("ex"), nullptr, nullptr);
  cuLaunchKernelEx_ptsz(&config, function_named("ex_ptsz"), nullptr, nullptr);
  cuLaunchCooperativeKernel(function_named("cooperative"), 3, 5, 7, 1, 1, 1, 0, stream, nullptr);
  cuLaunchCooperativeKernelMultiDevice(two, 2, 0);
  cuLaunchGridAsync(function_named("grid_async"), 3, 5, stream);
}

// Captures LAUNCHES launches into a graph while another thread launches, then runs it TIMES times.
void capture(const Arguments& a) {
  void* stream = reinterpret_cast<void*>(0x900);
  cuStreamBeginCapture_v2(stream, 0);
  for (int i = 0; i < std::stoi(a[0]); ++i) {
    launch("captured", stream);
    std::thread([] { launch("beside"); }).join();
  }
  void* graph = nullptr;
  cuStreamEndCapture(stream, &graph);
  for (int i = 0; i < std::stoi(a[1]); ++i) cuGraphLaunch(graph, stream);
}

void names(const Arguments& a) {
  for (int i = 0; i < std::stoi(a[0]); ++i) launch("name_" + std::to_string(i));
}

// Reuses a kernel's handle for another kernel after its module was unloaded.
void reload(const Arguments&) {
  void* function = fake_function("before");
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  cuModuleUnload(nullptr);
  fake_rename(function, "after");
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
}

// Launches once in another context, UID, on DEVICE.
void context(const Arguments& a) {
  fake_use_context(static_cast<unsigned>(std::stoi(a[0])), std::stoi(a[1]));
  launch("elsewhere");
  fake_use_context(1, 0);
}

// A child that initialises CUDA, launches, ticks and ends, although its parent had initialised
// CUDA.
void fork_child(const Arguments&) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    cuInit(0);
    launch("in_child");
    hypermile_tick();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  std::printf("child %d\n", static_cast<int>(child));
}

void count_callback(void* user, cupti::Domain, std::uint32_t, const cupti::CallbackData* data) {
  if (data->site == cupti::kEnter) ++*static_cast<int*>(user);
}

// A profiler subscribes in the given way, watches two launches and prints what it saw.
void profile(Subscribe subscribe) {
  static int seen = 0;
  cupti::Subscriber subscriber{};
  const int outcome = subscribe(&subscriber, count_callback, &seen);
  void* library = ::dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
  auto* enable =
      reinterpret_cast<int (*)(std::uint32_t, cupti::Subscriber, cupti::Domain, std::uint32_t)>(
          ::dlsym(library, "cuptiEnableCallback"));
  if (outcome == 0) enable(1, subscriber, cupti::kDriverApi, cupti::kLaunchKernel);
  launch("profiled");
  launch("profiled");
  std::printf("profiler %d saw %d\n", outcome, seen);
}

void profiler_linked(const Arguments&) {
  profile(cuptiSubscribe);
}

void profiler_loaded(const Arguments&) {
  void* library = ::dlopen("libcupti.so.12", RTLD_NOW);
  profile(reinterpret_cast<Subscribe>(::dlsym(library, "cuptiSubscribe")));
}

// Pauses or resumes the injected library, as a benchmark does.
void pause_watching(const Arguments& a) {
  void* library = ::dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
  reinterpret_cast<void (*)(int)>(::dlsym(library, "hypermile_inject_pause"))(std::stoi(a[0]));
}

void ticks(const Arguments& a) {
  for (int i = 0; i < std::stoi(a[0]); ++i)
    hypermile_tick_phase(a[1] == "-" ? nullptr : a[1].c_str());
}

// NVTX as linked into a program: a table of functions that a tool may replace.
std::string range_name;
nvtx::FunctionPointer core[16];
nvtx::FunctionPointer core2[16];

int get_module(nvtx::Module module, nvtx::FunctionPointer*** table, unsigned* size) {
  static nvtx::FunctionPointer* pointers[2][17];
  const int which = module == nvtx::kCore ? 0 : 1;
  for (unsigned i = 0; i < 16; ++i) pointers[which][i] = which == 0 ? &core[i] : &core2[i];
  *table = pointers[which];
  *size = 16;
  return module == nvtx::kCore || module == nvtx::kCore2 ? 1 : 0;
}

const void* get_export_table(std::uint32_t id) {
  static const nvtx::CallbacksTable table{sizeof(nvtx::CallbacksTable), get_module};
  return id == nvtx::kCallbacksTable ? &table : nullptr;
}

// Starts the range NAME in every way that NVTX has.
void ranges(const Arguments& a) {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path ? ::dlopen(path, RTLD_NOW) : nullptr;
  auto* start = reinterpret_cast<int (*)(nvtx::GetExportTable)>(
      library ? ::dlsym(library, "InitializeInjectionNvtx2") : nullptr);
  const int took = start ? start(get_export_table) : 0;
  std::printf("nvtx %d\n", took);
  if (took == 0) return;
  range_name = a[0];
  const char* name = range_name.c_str();
  nvtx::EventAttributes attributes{};
  attributes.version = 3;
  attributes.size = sizeof attributes;
  attributes.message_type = nvtx::kAscii;
  attributes.message = name;
  using Ex = int (*)(const nvtx::EventAttributes*);
  using DomainEx = int (*)(void*, const nvtx::EventAttributes*);
  reinterpret_cast<int (*)(const char*)>(core[nvtx::kRangePushA])(name);
  reinterpret_cast<int (*)(const char*)>(core[nvtx::kRangePushA])("another");
  reinterpret_cast<int (*)(const char*)>(core[nvtx::kRangeStartA])(name);
  reinterpret_cast<Ex>(core[nvtx::kRangePushEx])(&attributes);
  reinterpret_cast<Ex>(core[nvtx::kRangeStartEx])(&attributes);
  reinterpret_cast<DomainEx>(core2[nvtx::kDomainRangePushEx])(nullptr, &attributes);
  reinterpret_cast<DomainEx>(core2[nvtx::kDomainRangeStartEx])(nullptr, &attributes);
  attributes.message_type = nvtx::kRegistered;
  attributes.message = reinterpret_cast<const void* (*)(void*, const char*)>(
      core2[nvtx::kDomainRegisterStringA])(nullptr, name);
  reinterpret_cast<DomainEx>(core2[nvtx::kDomainRangePushEx])(nullptr, &attributes);
}

// Like loop, with a tick before each iteration.
void ticked(const Arguments& a) {
  for (int i = 0; i < std::stoi(a[0]); ++i) {
    hypermile_tick();
    loop({"1", a[1], a[2]});
  }
}

// Like loop, with an NVTX range before each iteration, named by the last word `nvtx`.
void steps(const Arguments& a) {
  for (int i = 0; i < std::stoi(a[0]); ++i) {
    reinterpret_cast<int (*)(const char*)>(core[nvtx::kRangePushA])(range_name.c_str());
    loop({"1", a[1], a[2]});
  }
}

// Launches the rows (t_s,kernel) of FILE at their times divided by SPEED; 0 means as fast as
// possible.
void replay(const Arguments& a) {
  std::ifstream file(a[0]);
  const double speed = std::stod(a[1]);
  std::string row;
  std::getline(file, row);
  const auto start = std::chrono::steady_clock::now();
  double first = -1;
  while (std::getline(file, row)) {
    const double t = std::stod(row);
    if (first < 0) first = t;
    if (speed > 0)
      std::this_thread::sleep_until(start + std::chrono::duration<double>((t - first) / speed));
    launch("kernel_" + row.substr(row.find(',') + 1));
  }
}

struct Word {
  const char* name;
  std::size_t arguments;
  std::function<void(const Arguments&)> act;
  const char* help;
};

const std::vector<Word>& words() {
  static const std::vector<Word> all = {
      {"init", 0, [](const Arguments&) { cuInit(0); }, "cuInit: loads the injected library"},
      {"loop", 3, loop, "ITERATIONS KERNELS PAUSE_US"},
      {"threads", 2, threads, "THREADS LAUNCHES"},
      {"entries", 0, entries, "every way to launch, once"},
      {"capture", 2, capture, "LAUNCHES TIMES: a graph captured, then launched"},
      {"names", 1, names, "COUNT kernels of different names"},
      {"reload", 0, reload, "a handle used again after its module was unloaded"},
      {"context", 2, context, "UID DEVICE: one launch there"},
      {"fork", 0, fork_child, "a child that initialises CUDA, launches, ticks and ends"},
      {"profiler-linked", 0, profiler_linked, "a profiler linked to CUPTI subscribes"},
      {"profiler-loaded", 0, profiler_loaded, "a profiler that looks CUPTI up subscribes"},
      {"pause", 1, pause_watching, "1 or 0: stops watching, goes on"},
      {"tick", 2, ticks, "COUNT PHASE (- for none)"},
      {"nvtx", 1, ranges, "NAME: that range in each of seven ways, and another"},
      {"ticked", 3, ticked, "ITERATIONS KERNELS PAUSE_US: a tick before each"},
      {"steps", 3, steps, "ITERATIONS KERNELS PAUSE_US: an NVTX range before each, after nvtx"},
      {"replay", 2, replay, "FILE SPEED: launches as recorded"},
      {"kernel-time", 1, [](const Arguments& a) { fake_kernel_time(std::stod(a[0])); }, "SECONDS"},
      {"sleep", 1, [](const Arguments& a) { sleep_for(std::stod(a[0])); }, "SECONDS"},
      {"await", 0, [](const Arguments&) { (void)std::getchar(); }, "one byte on stdin"},
      {"say", 1, [](const Arguments& a) { std::printf("%s\n", a[0].c_str()); }, "TEXT"},
      {"violations", 0, [](const Arguments&) { std::printf("violations %u\n", fake_violations()); },
       "how often a capture would have been broken"},
  };
  return all;
}

int usage() {
  std::printf("fake_training WORD ARGUMENTS… [exec PROGRAM ARGUMENTS…]\n");
  for (const Word& word : words()) std::printf("  %-16s %s\n", word.name, word.help);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc;) {
    if (std::strcmp(argv[i], "exec") == 0 && i + 1 < argc) {
      std::fflush(stdout);
      ::execv(argv[i + 1], argv + i + 1);
      return 127;
    }
    const Word* found = nullptr;
    for (const Word& word : words())
      if (std::strcmp(argv[i], word.name) == 0) found = &word;
    if (!found || static_cast<std::size_t>(argc - i - 1) < found->arguments) return usage();
    found->act(Arguments(argv + i + 1, argv + i + 1 + found->arguments));
    std::fflush(stdout);
    i += 1 + static_cast<int>(found->arguments);
  }
  return 0;
}
