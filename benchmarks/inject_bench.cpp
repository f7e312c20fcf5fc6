// SPDX-License-Identifier: Apache-2.0
//
// The cost of a launch for the job (CUPTI's callback, with and without a requested boundary), of a
// tick, and of reading a record for the controller.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>

#include "inject/launch_watch.h"
#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {
namespace {

constexpr unsigned kKernels = 64;  // distinct names, as in one iteration of a small network

// All benchmarks share one folder, ring and watch, as a process does.
struct Bench {
  Bench() : folder(std::move(RingFolder::make().value())) {
    ::setenv(kRingDirVariable, folder.path().c_str(), 1);
    if (!ring.open(RingSource::kLaunches)) std::abort();
    reader = folder.discover().front();
    dark.start([](bool) { return false; }, ring);
    watch.start(driver, dark);
  }
  RingFolder folder;
  RingWriter ring;
  RingReader* reader = nullptr;
  Driver driver;  // no function of it is called
  LaunchWatch watch;
  DarkStretches dark;
};

Bench& bench() {
  static const auto made = std::make_unique<Bench>();
  return *made;
}

void launch(Bench& b, std::uintptr_t kernel, int stream) {
  static int success = 0;
  cuda::LaunchParams params{};
  params.function = reinterpret_cast<void*>(0x5500'0000'1000 + 0x40 * kernel);
  params.grid = {128, 1, 1, 256, 1, 1, 0};
  params.stream = reinterpret_cast<void*>(std::uintptr_t{0x5500'0100'0000} +
                                          0x100 * static_cast<unsigned>(stream));
  cupti::CallbackData data{};
  data.params = &params;
  data.return_value = &success;
  data.symbol_name = "_ZN2at6native29vectorized_elementwise_kernel";
  data.context_uid = 1;
  data.site = cupti::kEnter;
  b.watch.on_call(b.ring, cupti::kLaunchKernel, data);
  data.site = cupti::kExit;
  b.watch.on_call(b.ring, cupti::kLaunchKernel, data);
}

// Both callbacks of a launch, including reading the clock.
void callback_per_launch(benchmark::State& state) {
  Bench& b = bench();
  std::uintptr_t kernel = 0;
  for (auto _ : state) launch(b, kernel++ % kKernels, state.thread_index());
}
BENCHMARK(callback_per_launch)->Threads(1)->Threads(2)->UseRealTime();

// The same while the controller requests events at a kernel that never comes.
void callback_with_a_boundary_wanted(benchmark::State& state) {
  Bench& b = bench();
  (void)b.reader->want_events(WantedEvents{kLargeRing.names - 2});
  std::uintptr_t kernel = 0;
  for (auto _ : state) launch(b, kernel++ % kKernels, 0);
  (void)b.reader->want_events(std::nullopt);
}
BENCHMARK(callback_with_a_boundary_wanted);

void clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(monotonic_ns());
}
BENCHMARK(clock_read);

void reader_per_record(benchmark::State& state) {
  Bench& b = bench();
  RingBatch batch;
  const Instant later =
      Instant::from_nanoseconds(static_cast<std::int64_t>(monotonic_ns())) + Seconds(3600);
  for (auto _ : state) {
    state.PauseTiming();
    (void)b.reader->drain(later, batch);
    batch.clear();
    for (std::uint32_t i = 0; i < 10'000; ++i)
      b.ring.put(monotonic_ns(), pack_b(RecordKind::kLaunch, 0, i % kKernels), 1);
    state.ResumeTiming();
    (void)b.reader->drain(later, batch);
    if (batch.launches.size() != 10'000) state.SkipWithError("records are missing");
  }
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(reader_per_record)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hypermile
