// SPDX-License-Identifier: Apache-2.0
//
// The cost of writing the event log: one sample appended to a file. At 50 samples per second, the
// budget of 0.1 % of one core is 20 µs of CPU time per sample; the counter `core_share_at_50Hz` is
// the share of one core in use.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "record/event_log.h"
#include "testing/example_events.h"

namespace hypermile {
namespace {

void append_to_file(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "hypermile_event_log_bench.jsonl").string();
  const auto clock = make_real_clock();
  auto sink = open_log_file(path);
  if (!sink) {
    state.SkipWithError(sink.error().line().c_str());
    return;
  }
  EventLog log(std::move(sink).value(), *clock);
  const EventBody sample = example_events().at(2).body;
  for (auto _ : state) {
    if (!log.append(sample)) {
      state.SkipWithError("the log stopped");
      break;
    }
  }
  // The inverted rate is the CPU time of one iteration over 1/50 s: the share of a core at 50 Hz.
  state.counters["core_share_at_50Hz"] = benchmark::Counter(
      1.0 / 50, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  std::filesystem::remove(path);
}
BENCHMARK(append_to_file);

}  // namespace
}  // namespace hypermile
