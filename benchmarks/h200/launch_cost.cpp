// SPDX-License-Identifier: Apache-2.0
//
// The cost of watching one launch, in nanoseconds. Launches an empty kernel through the driver API
// in blocks of 500, too few to fill the launch queue, and times only the host. Blocks alternate
// between no subscription (the reference), watching, and subscribed with launch callbacks off. No
// framework or interpreter takes part: only the driver, CUPTI and the injected library.
//
//   g++ -O2 -o launch_cost launch_cost.cpp -ldl
//   HYPERMILE_RING_DIR=DIR CUDA_INJECTION64_PATH=LIB HYPERMILE_CUPTI=CUPTI ./launch_cost SECONDS
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kLaunches = 500;
constexpr const char* kNames[] = {"no subscription", "watching", "dark"};
constexpr int kHow[] = {1, 0, 2};  // arguments of hypermile_inject_pause
constexpr int kWays = 3;
const char* const kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
)";

double now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <class Function>
Function find(void* library, const char* name) {
  auto* found = reinterpret_cast<Function>(::dlsym(library, name));
  if (found) return found;
  std::fprintf(stderr, "launch_cost: %s is missing\n", name);
  std::exit(1);
}

void must(int outcome, const char* what) {
  if (outcome == 0) return;
  std::fprintf(stderr, "launch_cost: %s answers %d\n", what, outcome);
  std::exit(1);
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  void* cuda = ::dlopen("libcuda.so.1", RTLD_NOW);
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (!cuda || !path) return 1;
  must(find<int (*)(unsigned)>(cuda, "cuInit")(0), "cuInit");
  void* context = nullptr;
  void* module = nullptr;
  void* kernel = nullptr;
  must(find<int (*)(void**, int)>(cuda, "cuDevicePrimaryCtxRetain")(&context, 0), "a context");
  must(find<int (*)(void*)>(cuda, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
  must(find<int (*)(void**, const void*)>(cuda, "cuModuleLoadData")(&module, kPtx), "a module");
  must(find<int (*)(void**, void*, const char*)>(cuda, "cuModuleGetFunction")(&kernel, module,
                                                                              "nothing"),
       "a kernel");
  const auto launch =
      find<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**)>(cuda, "cuLaunchKernel");
  const auto wait = find<int (*)()>(cuda, "cuCtxSynchronize");
  void* injected = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (!injected) return 1;
  const auto pause = find<void (*)(int)>(injected, "hypermile_inject_pause");

  std::vector<double> ns[kWays];
  const double until = now() + seconds;
  for (int round = 0; now() < until; ++round) {
    for (int turn = 0; turn < kWays; ++turn) {
      const int way = (turn + round) % kWays;
      pause(kHow[way]);
      for (int i = 0; i < 50; ++i) launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
      wait();
      const double begin = now();
      for (int i = 0; i < kLaunches; ++i)
        launch(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
      const double end = now();
      wait();
      if (round >= 10) ns[way].push_back((end - begin) * 1e9 / kLaunches);
    }
  }
  pause(0);
  for (int way = 0; way < kWays; ++way) {
    std::vector<double> more;
    for (std::size_t i = 0; i < std::min(ns[way].size(), ns[0].size()); ++i)
      more.push_back(ns[way][i] - ns[0][i]);
    // The 95 % interval of a median, in ranks around the middle (normal approximation).
    const double ranks = 0.98 / std::sqrt(static_cast<double>(more.size()));
    std::printf(
        "%s: %.1f ns a launch (median of %zu blocks); more than without: %.1f ns, 95 %% of "
        "the median %.1f to %.1f\n",
        kNames[way], quantile(ns[way], 0.5), ns[way].size(), quantile(more, 0.5),
        quantile(more, std::max(0.0, 0.5 - ranks)), quantile(more, std::min(1.0, 0.5 + ranks)));
  }
  return 0;
}
