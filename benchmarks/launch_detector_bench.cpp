// SPDX-License-Identifier: Apache-2.0
//
// The cost of a launch for the controller: while a lock is followed (target 25 ns), and amortised
// with the analyses while no pattern is found (target 1 µs). Always on generated streams, and on
// recordings where they exist.
#include <benchmark/benchmark.h>

#include "evidence/progress/labelled_stream.h"
#include "evidence/progress/made_streams.h"
#include "progress/launch_detector.h"

namespace hypermile {
namespace {

struct Counting final : DetectorSink {
  void locked(const Pattern&, const Lock&) override { ++locks; }
  void boundary(const Boundary& boundary) override { iterations += boundary.iterations; }
  void levels_changed(const Pattern&, Instant) override {}
  void broken(const Pattern&, Instant, Instant) override { ++breaks; }
  void idle(Instant) override {}
  double iterations = 0;
  int locks = 0;
  int breaks = 0;
};

// Repeats a stream; one iteration of the benchmark adds the whole stream once.
class Endless {
 public:
  explicit Endless(LabelledStream stream) : stream_(std::move(stream)) {
    if (stream_.starts.size() < 2) return;
    const auto from = static_cast<std::ptrdiff_t>(stream_.starts.front());
    const auto to = static_cast<std::ptrdiff_t>(stream_.starts.back());
    stream_.launches = {stream_.launches.begin() + from, stream_.launches.begin() + to};
  }
  std::size_t size() const { return stream_.launches.size(); }
  std::vector<Launch>& again() {
    const Seconds length = stream_.launches.back().time - stream_.launches.front().time;
    for (Launch& launch : stream_.launches) launch.time = launch.time + length;
    return stream_.launches;
  }

 private:
  LabelledStream stream_;
};

void locked(benchmark::State& state, LabelledStream stream) {
  Counting sink;
  LaunchDetector detector(sink);
  Endless endless(std::move(stream));
  for (int i = 0; i < 8 || detector.state() != DetectorState::kLocked; ++i) {
    if (i == 64) return state.SkipWithError("no lock");
    detector.add_all(endless.again());
  }
  sink.breaks = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<Launch>& launches = endless.again();
    state.ResumeTiming();
    detector.add_all(launches);
  }
  state.counters["per_launch"] = benchmark::Counter(
      static_cast<double>(endless.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["breaks"] = sink.breaks;
}

void searching(benchmark::State& state, const AperiodicKind& kind) {
  Random random(1);
  const LabelledStream stream = kind.make(Seconds(6), random);
  for (auto _ : state) {
    Counting sink;
    LaunchDetector detector(sink);
    detector.add_all(stream.launches);
    if (sink.locks > 0) return state.SkipWithError("locked");
  }
  state.counters["per_launch"] = benchmark::Counter(
      static_cast<double>(stream.launches.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void until_lock(benchmark::State& state, const LabelledStream& stream) {
  std::size_t launches = 0;
  for (auto _ : state) {
    Counting sink;
    LaunchDetector detector(sink);
    launches = 0;
    while (sink.locks == 0 && launches < stream.launches.size()) {
      detector.add(stream.launches[launches++]);
      detector.analyse_if_due();
    }
  }
  state.counters["per_launch"] = benchmark::Counter(
      static_cast<double>(launches),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void memory(benchmark::State& state) {
  Counting sink;
  for (auto _ : state) {
    LaunchDetector detector(sink);
    state.counters["MB"] = static_cast<double>(detector.memory_bytes()) * 1e-6;
  }
}
BENCHMARK(memory)->Iterations(1);

void add_stream(const LabelledStream& stream) {
  benchmark::RegisterBenchmark(("locked/" + stream.name).c_str(), locked, stream);
  benchmark::RegisterBenchmark(("until_lock/" + stream.name).c_str(), until_lock, stream);
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  using namespace hypermile;
  for (const std::string& name : recording_names()) {
    const Result<LabelledStream> stream = load_recording(recordings_folder(), name);
    if (stream) add_stream(*stream);
  }
  Random random(1);
  add_stream(make_transformer(
      {.layers = 12, .forward = milliseconds(20), .backward = milliseconds(40), .iterations = 60},
      random));
  add_stream(make_graph_loop(5, milliseconds(10), 400, random));
  for (const AperiodicKind& kind : aperiodic_kinds()) {
    benchmark::RegisterBenchmark(("searching/" + kind.name).c_str(), searching, kind);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
